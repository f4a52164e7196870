"""URLs of users are called without access to the server's own network."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address

import pytest
from tests.support.tls import Certificate, self_signed
from tests.support.waiting import SLACK_SECONDS

from strongroom.plugin_api.outbound import (
    MAX_BODY,
    OutboundClient,
    OutboundFailed,
    OutboundPolicy,
    OutboundRefused,
    is_public,
)
from strongroom.testing.outbound import ForbiddenUrl, forbidden_urls, listening
from strongroom.testing.server import free_port

NAME = "hooks.example.org"
LIMIT = 0.4
PATIENT = 60.0
"""The limit of requests that must not exceed it, however busy the machine is."""

Script = Callable[[socket.socket], object]


@contextmanager
def serving(script: Script, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Answer each connection by a script, after the head of the request has arrived."""

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection: socket.socket) -> None:
        try:
            with tls.wrap_socket(connection, server_side=True) if tls else connection as stream:
                script(stream)
        except OSError:
            pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def says(*parts: bytes) -> Script:
    def script(stream: socket.socket) -> None:
        stream.recv(65536)
        for part in parts:
            stream.sendall(part)

    return script


def trickles(head: bytes) -> Script:
    def script(stream: socket.socket) -> None:
        stream.recv(65536)
        stream.sendall(head)
        while True:
            stream.sendall(b"x")
            threading.Event().wait(LIMIT / 10)

    return script


def hangs(stream: socket.socket) -> None:
    """Send nothing, until the client gives up."""
    while stream.recv(65536):
        pass


def plain_client(port: int, seconds: float = PATIENT) -> OutboundClient:
    policy = OutboundPolicy(allow_hosts=(f"{NAME}:{port}",), allow_http=True, timeout_seconds=seconds)
    return OutboundClient(policy, resolver=lambda *_: ["127.0.0.1"])


def refusal(forbidden: ForbiddenUrl) -> str:
    with pytest.raises(OutboundRefused) as caught:
        OutboundClient(resolver=forbidden.resolve).request("GET", forbidden.url)
    return str(caught.value)


def test_a_forbidden_url_is_never_called() -> None:
    with listening() as canary:
        refusals = {str(item): (item, refusal(item)) for item in forbidden_urls()}
    assert canary.seen == []
    assert len(refusals) >= 100
    assert not [item for item, text in refusals.values() if set(item.addresses) & set(text.split())]


def test_a_canary_notices_a_connection_that_it_has_not_accepted_yet() -> None:
    for _ in range(20):
        with listening() as canary:
            socket.create_connection(("127.0.0.1", canary.port)).close()
        assert any(item.startswith("accepted") for item in canary.seen)


def test_a_forbidden_form_is_refused_before_it_is_stored() -> None:
    client = OutboundClient()
    literal = [item for item in forbidden_urls() if item.addresses == ("127.0.0.1",)]
    refused = 0
    for forbidden in literal:
        if forbidden.url == "https://hooks.example.org/":
            continue
        with pytest.raises(OutboundRefused):
            client.check(forbidden.url)
        refused += 1
    assert refused > 80


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org",
        "HTTPS://Example.ORG:443/a/b.c?d=e&f=%2F",
        "https://8.8.8.8/",
        "https://[2606:4700::1111]/hook?",
        "https://xn--fiqs8s.example/",
    ],
)
def test_a_public_url_may_be_stored(url: str) -> None:
    OutboundClient().check(url)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::808:808", True),
        ("2002:808:808::1", True),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::1", False),
        ("::ffff:100.64.0.1", False),
        ("100.64.0.1", False),
        ("224.0.1.1", False),
        ("ff0e::1", False),
        ("fec0::1", False),
        ("::127.0.0.1", False),
        ("64:ff9b:1::808:808", False),
    ],
)
def test_an_address_is_public_with_all_that_it_embeds(address: str, *, expected: bool) -> None:
    assert is_public(ip_address(address)) is expected


def test_a_name_resolves_once_and_its_checked_address_is_used() -> None:
    asked: list[tuple[str, int]] = []

    def resolver(name: str, port: int) -> Sequence[str]:
        asked.append((name, port))
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    heads: list[bytes] = []

    def script(stream: socket.socket) -> None:
        heads.append(stream.recv(65536))
        stream.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    with serving(script) as port:
        policy = OutboundPolicy(allow_hosts=(f"{NAME}:{port}",), allow_http=True)
        response = OutboundClient(policy, resolver=resolver).request(
            "POST", f"http://{NAME}:{port}/a?b=c"
        )
    assert (response.status, asked) == (204, [(NAME, port)])
    assert heads[0].startswith(b"POST /a?b=c HTTP/1.1\r\n")
    assert f"Host: {NAME}:{port}\r\n".encode() in heads[0]


def test_an_unreachable_address_is_followed_by_the_next() -> None:
    with serving(says(b"HTTP/1.1 204 No Content\r\n\r\n")) as port:
        policy = OutboundPolicy(allow_hosts=(f"{NAME}:{port}",), allow_http=True)
        client = OutboundClient(policy, resolver=lambda *_: ["127.0.0.9", "127.0.0.1"])
        assert client.request("GET", f"http://{NAME}:{port}/").status == 204


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return self_signed(tmp_path_factory.mktemp("tls"), NAME)


def test_tls_names_and_verifies_the_host_of_the_url(certificate: Certificate) -> None:
    named: list[str | None] = []
    server = certificate.server()
    server.sni_callback = lambda _stream, name, _context: named.append(name)
    with serving(says(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), server) as port:
        policy = OutboundPolicy(allow_hosts=(f"{NAME}:{port}", f"other.example.org:{port}"))
        client = OutboundClient(policy, resolver=lambda *_: ["127.0.0.1"], tls=certificate.client())
        assert client.request("POST", f"https://{NAME}:{port}/").body == b"ok"
        with pytest.raises(OutboundFailed, match="certificate is invalid"):
            client.request("POST", f"https://other.example.org:{port}/")
        with pytest.raises(OutboundFailed, match="certificate is invalid"):
            OutboundClient(policy, resolver=lambda *_: ["127.0.0.1"]).request(
                "GET", f"https://{NAME}:{port}/"
            )
    assert named == [NAME, "other.example.org", NAME]


def test_redirects_and_proxies_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening() as canary:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{canary.port}")
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{canary.port}")
        location = f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{canary.port}/\r\n\r\n".encode()
        with serving(says(location)) as port:
            assert plain_client(port).request("POST", f"http://{NAME}:{port}/").status == 302
    assert [item for item in canary.seen if str(canary.port) in item or "accepted" in item] == []


@pytest.mark.parametrize(
    "script",
    [
        hangs,
        trickles(b""),
        trickles(b"HTTP/1.1 200 OK\r\n"),
        trickles(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n"),
        trickles(b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["silent", "status", "head", "body", "continue"],
)
def test_a_slow_answer_ends_at_the_limit(script: Script) -> None:
    with serving(script) as port:
        started = time.monotonic()
        with pytest.raises(OutboundFailed, match="in time"):
            plain_client(port, LIMIT).request("GET", f"http://{NAME}:{port}/")
        assert time.monotonic() - started < LIMIT + SLACK_SECONDS


def test_a_slow_handshake_ends_at_the_limit() -> None:
    with (
        serving(hangs) as port,
        pytest.raises(OutboundFailed, match="in time"),
    ):
        plain_client(port, LIMIT).request("GET", f"https://{NAME}:{port}/")


def test_a_slow_resolver_ends_at_the_limit() -> None:
    released = threading.Event()

    def resolver(*_: object) -> Sequence[str]:
        released.wait(60)
        return []

    client = OutboundClient(OutboundPolicy(timeout_seconds=LIMIT), resolver=resolver)
    with pytest.raises(OutboundFailed, match="resolver"):
        client.request("GET", f"https://{NAME}/")
    released.set()


@pytest.mark.parametrize("failure", [OSError("unknown"), UnicodeError("label")])
def test_a_name_that_does_not_resolve_fails(failure: Exception) -> None:
    def resolver(*_: object) -> Sequence[str]:
        raise failure

    with pytest.raises(OutboundFailed, match="does not resolve"):
        OutboundClient(resolver=resolver).request("GET", f"https://{NAME}/")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-Long: %s\r\n\r\n" % (b"x" * 200_000),
    ],
    ids=["nothing", "half-body", "half-head", "ssh", "long-head"],
)
def test_a_broken_answer_fails(answer: bytes) -> None:
    with serving(says(answer)) as port, pytest.raises(OutboundFailed):
        plain_client(port).request("GET", f"http://{NAME}:{port}/")


def test_a_long_body_is_cut() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n"
    with serving(says(head, b"x" * MAX_BODY * 2)) as port:
        assert plain_client(port).request("GET", f"http://{NAME}:{port}/").body == b"x" * MAX_BODY


def test_nothing_listens() -> None:
    port = free_port()
    with pytest.raises(OutboundFailed, match="refused or unreachable"):
        plain_client(port).request("GET", f"http://{NAME}:{port}/")


def test_http_needs_permission() -> None:
    OutboundClient(OutboundPolicy(allow_http=True)).check("http://example.org/")
    with pytest.raises(OutboundRefused, match="https"):
        OutboundClient(OutboundPolicy(allow_hosts=("example.org:80",))).check("http://example.org/")


@pytest.mark.parametrize("entry", ["a.test", "https://a.test:1", "a.test:", "a b:1", ":1"])
def test_an_allowed_host_has_a_name_and_a_port(entry: str) -> None:
    with pytest.raises(ValueError, match="allow_hosts"):
        OutboundPolicy(allow_hosts=(entry,))


def test_an_allowed_host_is_allowed_at_its_port_only() -> None:
    client = OutboundClient(OutboundPolicy(allow_hosts=("127.0.0.1:8443", "[::1]:8443")))
    client.check("https://127.0.0.1:8443/")
    client.check("https://[::1]:8443/")
    for url in ("https://127.0.0.1/", "https://127.0.0.1:8444/", "https://[::2]:8443/"):
        with pytest.raises(OutboundRefused):
            client.check(url)
