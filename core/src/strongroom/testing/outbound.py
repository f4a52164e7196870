"""URLs that no plugin may call, and a canary that notices attempts (SSRF).

A plugin whose users set URLs tries :func:`forbidden_urls` in each of its URL fields::

    def test_a_forbidden_url_is_never_called() -> None:
        with listening() as canary:
            for forbidden in forbidden_urls():
                with pytest.raises(OutboundRefused):
                    OutboundClient(resolver=forbidden.resolve).request("GET", forbidden.url)
        assert canary.seen == []
"""

import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, overload

# Spellings of loopback, link-local and private addresses that are literals in the URL.
_LITERALS: Final = """
    127.0.0.1 127.1 127.0.1 0 0.0.0.0 127.255.255.254 2130706433 0x7f000001 017700000001 0177.0.0.1
    0x7f.0.0.1 127.0.0.0x1 127.0.0.1. 10.0.0.1 172.16.0.1 192.168.0.1 169.254.169.254
    2852039166 0xa9fea9fe 0xA9.0xFE.0xA9.0xFE 100.64.0.1 100.100.100.200 168.63.129.16 192.0.0.1
    192.0.2.1 192.88.99.1 198.18.0.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
    [::1] [::] [0:0:0:0:0:0:0:1] [::127.0.0.1] [::ffff:127.0.0.1] [::ffff:7f00:1]
    [::ffff:169.254.169.254] [64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::7f00:1]
    [2002:7f00:1::1] [2002:a9fe:a9fe::] [2001:0:7f00:1::] [2001:0:808:808:0:0:80ff:fffe]
    [2a00:1450::5efe:7f00:1] [fe80::1] [fe80::1%25lo] [fe80::1%lo] [fec0::1] [fc00::1]
    [fd00:ec2::254] [ff02::1] [2001:db8::1] [3fff::1] [100::1] [5f00::1]
""".split()  # noqa: SIM905  a list of one string per line is hard to read

# Forms that two parsers could read differently, or that are not https on port 443.
_FORMS: Final = (
    "http://example.org/",
    "ftp://example.org/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_INFO",
    "javascript:alert(1)",
    "//example.org/",
    "example.org",
    "",
    "https://",
    "https:///path",
    "https://:443/",
    "https://user@example.org/",
    "https://example.org@127.0.0.1/",
    "https://127.0.0.1#@example.org/",
    "https://example.org#fragment",
    "https://example.org\\@127.0.0.1/",
    "https:\\\\127.0.0.1\\",
    "https://example.org\t/",
    "https://example.org/\r\nHost: 127.0.0.1",
    " https://example.org/",
    "https://example.org /",
    "https://example.org\0.test/",
    "https://example.org./",
    "https://example..org/",
    "https://example.org:22/",
    "https://example.org:443:22/",
    "https://example.org:0443/",
    "https://example.org:65979/",
    "https://example.org:+443/",
    "https://127。0。0。1/",
    "https://①②⑦.⓪.⓪.①/",
    "https://ⓛocalhost/",
    "https://127%2e0%2e0%2e1/",
    "https://%31%32%37.0.0.1/",
    "https://[::1/",
    "https://::1/",
    "https://[127.0.0.1]/",
    "https://[v1.fe80::a]/",
    "https://1.2.3.4.5/",
    "https://0x/",
    "https://localhost/",
    "https://LOCALHOST/",
    "https://a.localhost/",
    "https://intranet/",
    "https://printer.local/",
    "https://db.internal/",
    "https://router.home.arpa/",
    f"https://{'a' * 300}.example.org/",
)

# Answers of the resolver for an innocent name; one address that is not public spoils the others.
_ANSWERS: Final[Sequence[Sequence[str]]] = (
    ("127.0.0.1",),
    ("169.254.169.254",),
    ("100.64.0.1",),
    ("0.0.0.0",),  # noqa: S104  an address to be refused
    ("::1",),
    ("::ffff:10.0.0.1",),
    ("64:ff9b::a9fe:a9fe",),
    ("2002:7f00:1::1",),
    ("fe80::1%lo",),
    ("fec0::1",),
    ("8.8.8.8", "127.0.0.1"),
    ("2606:4700::1111", "fd00::1"),
)


@dataclass(frozen=True, slots=True)
class ForbiddenUrl:
    """A URL that must not be called.

    Args:
        url: the URL.
        addresses: what the resolver answers for its name.
    """

    url: str
    addresses: Sequence[str] = ("127.0.0.1",)

    def resolve(self, _name: str, _port: int) -> Sequence[str]:
        """Return the addresses: the resolver of the test."""
        return self.addresses

    def __str__(self) -> str:
        return self.url[:40] + "".join(f" {address}" for address in self.addresses)


def forbidden_urls() -> Sequence[ForbiddenUrl]:
    """Return more than 100 URLs: literal addresses, ambiguous forms, and names of private addresses."""
    return (
        *(ForbiddenUrl(f"https://{host}/") for host in _LITERALS),
        *(ForbiddenUrl(url) for url in _FORMS),
        *(ForbiddenUrl("https://hooks.example.org/", addresses) for addresses in _ANSWERS),
    )


@dataclass
class Canary:
    """A listener on the loopback addresses, and all attempts to connect or resolve in this process."""

    port: int
    seen: list[str] = field(default_factory=list)
    is_watching: bool = True

    def notice(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note an event of :func:`sys.addaudithook`, whose hooks cannot be removed."""
        if self.is_watching and event in ("socket.connect", "socket.getaddrinfo"):
            self.seen.append(f"{event} {arguments[1:] if event == 'socket.connect' else arguments}")


CanaryT = TypeVar("CanaryT", bound=Canary)


@overload
def listening() -> AbstractContextManager[Canary]: ...
@overload
def listening(kind: type[CanaryT]) -> AbstractContextManager[CanaryT]: ...
@contextmanager
def listening(kind: type[Canary] = Canary) -> Iterator[Any]:
    """Listen on the loopback address and watch this process, until the block ends.

    Args:
        kind: the class of the canary; a subclass may notice fewer events.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as last:
        canary = kind(listener.getsockname()[1])
        # Connections are accepted in their order, so the last one shows that no other is pending.
        last.bind(("127.0.0.1", 0))
        end = last.getsockname()

        def accept() -> None:
            while True:
                connection, peer = listener.accept()
                connection.close()
                if peer == end:
                    return
                canary.seen.append(f"accepted {peer}")

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        sys.addaudithook(canary.notice)
        try:
            yield canary
        finally:
            canary.is_watching = False
            last.connect(listener.getsockname())
            thread.join(10)
