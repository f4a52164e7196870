"""Requests to URLs that users set, without access to the server's own network (SSRF).

Everything that calls such a URL uses :class:`OutboundClient`. A URL from the configuration is the
operator's, and needs no guard::

    client = OutboundClient(OutboundPolicy(allow_hosts=("hooks.internal:8443",)))
    client.check(url)                      # when a user sets the URL: its form, without DNS
    client.request("POST", url, body=b"{}")   # each time: resolves, checks and pins the address
"""

import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any, Final

import httpcore

from strongroom.plugin_api.tracing import SpanKind, span

if TYPE_CHECKING:
    from httpcore import NetworkStream

IPAddress = IPv4Address | IPv6Address

Resolver = Callable[[str, int], Sequence[str]]
"""Returns all addresses of a name for a TCP port; raises ``OSError`` if there are none."""

MAX_BODY: Final = 64 * 1024
"""The bytes of a response body that are read."""

_MAX_URL: Final = 2048
_MAX_HOST: Final = 253
_MAX_PORT: Final = 65535
_PORTS: Final = {"https": 443, "http": 80}
_RESOLVING: Final = 32
"""Names that one client resolves at a time: ``getaddrinfo`` cannot be interrupted."""

# RFC 3986 without user information, fragments and percent-encoded hosts. A strict form has one meaning
# in every parser; backslashes, controls, spaces and non-ASCII characters do not match.
_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST: Final = rf"(?P<name>{_LABEL}(?:\.{_LABEL})*)|\[(?P<ipv6>[0-9a-f:.]+)\]"
_CHARACTER: Final = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})"
_URL: Final = re.compile(
    rf"(?P<scheme>(?i:https?))://(?P<host>(?i:{_HOST}))(?::(?P<port>[1-9][0-9]{{0,4}}))?"
    rf"(?P<path>/{_CHARACTER}*)?(?P<query>\?(?:{_CHARACTER}|\?)*)?",
    re.ASCII,
)
_ALLOWED: Final = re.compile(rf"(?P<host>{_HOST}):(?P<port>[1-9][0-9]{{0,4}})", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")

# Names that never lead to a public address: RFC 6761, 6762, 7686 and 8375, and ICANN 2024 (internal).
_LOCAL_NAMES: Final = frozenset({"localhost", "local", "internal", "home.arpa", "invalid", "onion"})

_UNICAST: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_ISATAP: Final = frozenset({0x00005EFE, 0x02005EFE})

# Networks that Python counts as global in some supported version, and Azure's virtual host address.
_RESERVED: Final[Sequence[IPv4Network | IPv6Network]] = (
    IPv4Network("168.63.129.16/32"),
    IPv4Network("192.0.0.0/24"),
    IPv4Network("192.88.99.0/24"),
    IPv6Network("2001::/23"),
    IPv6Network("2001:db8::/32"),
    IPv6Network("3fff::/20"),
)


class OutboundError(Exception):
    """A request did not succeed. The message has no address, so it may be shown to users."""


class OutboundRefused(OutboundError):
    """The policy forbids the URL or its addresses. Trying again is pointless."""


class OutboundFailed(OutboundError):
    """The server was not reached, or did not answer in time. Trying again may succeed."""


@dataclass(frozen=True, slots=True)
class OutboundPolicy:
    """The URLs that may be called.

    Args:
        allow_hosts: ``name:port`` of hosts that are called even if their addresses are not public.
        allow_http: whether unencrypted ``http`` is allowed.
        timeout_seconds: limit for resolving, connecting and answering together.

    Raises:
        ValueError: an entry of ``allow_hosts`` is no ``name:port``.
    """

    allow_hosts: Sequence[str] = ()
    allow_http: bool = False
    timeout_seconds: float = 10.0

    def __post_init__(self) -> None:
        for entry in self.allow_hosts:
            if not _ALLOWED.fullmatch(entry):
                raise ValueError(f'allow_hosts: "{entry}" must be a name and a port: "example.org:8443"')


@dataclass(frozen=True, slots=True)
class OutboundResponse:
    """A response with any status, redirects included: they are never followed.

    Args:
        status: the HTTP status.
        headers: the headers, with names in lowercase; of repeated ones, the last.
        body: the first :data:`MAX_BODY` bytes.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Target:
    """The parts of a URL. They are parsed once, and the HTTP client receives the same parts."""

    scheme: str
    host: str  # in lowercase, IPv6 without brackets
    port: int
    path: str
    address: IPAddress | None  # of a URL with an address instead of a name

    @property
    def host_and_port(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def host_header(self) -> str:
        text = self.host_and_port
        return text.removesuffix(f":{self.port}") if self.port == _PORTS[self.scheme] else text

    @property
    def url(self) -> httpcore.URL:
        return httpcore.URL(
            scheme=self.scheme.encode(),
            host=self.host.encode(),
            port=self.port,
            target=self.path.encode(),
        )


def is_public(address: IPAddress) -> bool:
    """Return whether an address is global unicast, together with all IPv4 addresses embedded in it.

    ``ipaddress.is_global`` alone is wrong: it is true of multicast, and of transition addresses such as
    ``64:ff9b::7f00:1`` (RFC 6052) and ``2002:7f00:1::`` (RFC 3056), which lead to 127.0.0.1.
    """
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
        if address not in _UNICAST or not all(map(is_public, _embedded(address))):
            return False
    is_reserved = any(address in network for network in _RESERVED)
    return address.is_global and not address.is_multicast and not address.is_reserved and not is_reserved


def _embedded(address: IPv6Address) -> Iterable[IPv4Address]:
    if address.sixtofour:
        yield address.sixtofour
    yield from address.teredo or ()
    if int(address) >> 32 & 0xFFFF_FFFF in _ISATAP:  # RFC 5214, section 6.1
        yield IPv4Address(int(address) & 0xFFFF_FFFF)


def resolve(name: str, port: int) -> Sequence[str]:
    """Return all addresses of a name, by the resolver of the system."""
    answers = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(item[4][0]) for item in answers))


class OutboundClient:
    """Calls URLs that users have set. Thread-safe; each request has a connection of its own.

    No request uses a proxy, follows a redirect, or resolves a name twice: the connection goes to the
    address that was checked, while TLS and ``Host`` use the name.

    Args:
        policy: the URLs that may be called.
        resolver: replaces the system's resolver, for tests.
        tls: replaces the system's certificate authorities.
    """

    def __init__(
        self,
        policy: OutboundPolicy | None = None,
        *,
        resolver: Resolver = resolve,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._policy = policy or OutboundPolicy()
        self._resolver = resolver
        self._given_tls = tls
        self._resolving = threading.BoundedSemaphore(_RESOLVING)

    def check(self, url: str) -> None:
        """Check a URL when a user sets it. Does not resolve the name.

        Raises:
            OutboundRefused: the URL can never be called.
        """
        self._parse(url)

    def request(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> OutboundResponse:
        """Send a request, and return the response with its status.

        In a request that is traced, the call is a span, whose ``traceparent`` is sent.

        Raises:
            OutboundRefused: the policy forbids the URL, or one of the addresses of its host.
            OutboundFailed: the name does not resolve, or there is no complete response in time.
        """
        # Without the URL, which may contain a secret of the receiver.
        with span(f"HTTP {method}", {"http.request.method": method}, kind=SpanKind.CLIENT) as current:
            trace = {"traceparent": current.traceparent} if current else {}
            response = self._send(method, url, {**(headers or {}), **trace}, body)
            if current:
                current.set({"http.response.status_code": response.status})
            return response

    def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> OutboundResponse:
        deadline = _Deadline(self._policy.timeout_seconds)
        target = self._parse(url)
        addresses = self._addresses(target, deadline)
        sent = {"Host": target.host_header, "Connection": "close", **headers}
        backend = _PinnedBackend(addresses, deadline)
        try:
            with httpcore.ConnectionPool(
                network_backend=backend, ssl_context=self._tls, proxy=None
            ) as pool:
                return _exchange(pool, method, target.url, sent, body)
        except httpcore.TimeoutException:
            raise OutboundFailed("no complete response in time") from None
        except httpcore.ConnectError as error:
            raise OutboundFailed(_connect_failure(error)) from None
        except (httpcore.NetworkError, httpcore.ProtocolError):
            raise OutboundFailed("the connection broke, or the response is not HTTP") from None

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return self._given_tls or ssl.create_default_context()

    def _parse(self, url: str) -> _Target:
        match = _URL.fullmatch(url) if len(url) <= _MAX_URL else None
        if match is None:
            raise OutboundRefused('must be a URL such as "https://example.org/hook", in ASCII')
        target = _target(match)
        self._check_target(target)
        return target

    def _check_target(self, target: _Target) -> None:
        if target.scheme != "https" and not self._policy.allow_http:
            raise OutboundRefused("the scheme must be https")
        if target.host_and_port in self._policy.allow_hosts:
            return
        if target.port != _PORTS[target.scheme]:
            raise OutboundRefused(f"the port must be {_PORTS[target.scheme]}")
        if target.address is None and _is_local(target.host):
            raise OutboundRefused("the host must be a public name")
        if target.address is not None and not is_public(target.address):
            raise OutboundRefused("address not public")

    def _addresses(self, target: _Target, deadline: "_Deadline") -> list[str]:
        if target.address is not None:
            return [str(target.address)]
        addresses = self._resolve(target, deadline)
        if not addresses:
            raise OutboundFailed("the name does not resolve")
        is_allowed = target.host_and_port in self._policy.allow_hosts
        # One private address among public ones is an attempt, or a fault, that a retry could reach.
        if not is_allowed and not all(is_public(ip_address(item)) for item in addresses):
            raise OutboundRefused("address not public")
        return list(addresses)

    def _resolve(self, target: _Target, deadline: "_Deadline") -> Sequence[str]:
        """Resolve in a thread of its own, because ``getaddrinfo`` has no time limit."""
        if not self._resolving.acquire(timeout=deadline.remaining()):
            raise OutboundFailed("the resolver does not answer")
        outcome: list[Sequence[str] | Exception] = []

        def run() -> None:
            try:
                outcome.append(self._resolver(target.host, target.port))
            except (OSError, UnicodeError) as error:
                outcome.append(error)
            finally:
                self._resolving.release()

        thread = threading.Thread(target=run, name="outbound-resolver", daemon=True)
        thread.start()
        thread.join(deadline.remaining())
        if not outcome:
            raise OutboundFailed("the resolver does not answer")
        if isinstance(outcome[0], Exception):
            raise OutboundFailed("the name does not resolve")
        return outcome[0]


def _target(match: re.Match[str]) -> _Target:
    scheme = match["scheme"].lower()
    port = int(match["port"] or _PORTS[scheme])
    host = (match["ipv6"] or match["name"]).lower()
    if port > _MAX_PORT or len(host) > _MAX_HOST:
        raise OutboundRefused("the host or port is too long")
    path = (match["path"] or "/") + (match["query"] or "")
    return _Target(scheme, host, port, path, _literal(host, is_ipv6=bool(match["ipv6"])))


def _is_local(name: str) -> bool:
    """Return whether a name belongs to a local network: one word, or below a reserved domain."""
    labels = name.split(".")
    return len(labels) == 1 or not _LOCAL_NAMES.isdisjoint((labels[-1], ".".join(labels[-2:])))


def _literal(host: str, *, is_ipv6: bool) -> IPAddress | None:
    # A last label that is a number makes the host an IPv4 address, as in browsers; only the dotted form
    # with four decimal numbers means the same to every resolver (not 0x7f.1, 2130706433 or 0177.0.0.1).
    if not is_ipv6 and not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return None
    try:
        return IPv6Address(host) if is_ipv6 else IPv4Address(host)
    except ValueError:
        raise OutboundRefused("the host must be a name or a dotted IPv4 address") from None


def _exchange(
    pool: httpcore.ConnectionPool,
    method: str,
    url: httpcore.URL,
    headers: Mapping[str, str],
    body: bytes,
) -> OutboundResponse:
    with pool.stream(method, url, headers=list(headers.items()), content=body) as response:
        received = bytearray()
        for part in response.iter_stream():
            received += part
            if len(received) >= MAX_BODY:
                break
        fields = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers
        }
        return OutboundResponse(response.status, fields, bytes(received[:MAX_BODY]))


def _connect_failure(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the certificate is invalid: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return "TLS failed"
        cause = cause.__cause__ or cause.__context__
    return "connection refused or unreachable"


class _Deadline:
    """A limit for several steps together, in seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Return the seconds left.

        Raises:
            OutboundFailed: there are none.
        """
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise OutboundFailed("no complete response in time")
        return seconds


class _PinnedBackend(httpcore.NetworkBackend):
    """Connects to the checked addresses, whatever host the HTTP client names."""

    def __init__(self, addresses: Sequence[str], deadline: _Deadline) -> None:
        self._addresses = addresses
        self._deadline = deadline
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002  the address is pinned
        port: int,
        timeout: float | None = None,  # noqa: ARG002  the deadline is for all steps together
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> "NetworkStream":
        failure: Exception = httpcore.ConnectError()
        for left, address in zip(range(len(self._addresses), 0, -1), self._addresses, strict=True):
            try:
                # An unreachable address leaves time for the others.
                seconds = self._deadline.remaining() / left
                stream = self._sockets.connect_tcp(address, port, seconds, local_address, socket_options)
                return _TimedStream(stream, self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


@dataclass(slots=True, eq=False, repr=False)
class _TimedStream(httpcore.NetworkStream):
    """A connection whose operations share one deadline: a time-out of each alone would be endless."""

    _stream: "NetworkStream"
    _deadline: _Deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002  the deadline
        return self._stream.read(max_bytes, self._deadline.remaining())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002  the deadline
        self._stream.write(buffer, self._deadline.remaining())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002  the deadline
    ) -> "NetworkStream":
        left = self._deadline.remaining()
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
