"""A proxy in front of a simulated platform, which spoils its answers."""

import gzip
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

REDIRECTED: Final = "/strongroom-contract-redirect"
LARGE: Final = 8 * 1024 * 1024
INFLATED: Final = 64 * 1024 * 1024
"""Bytes of a compressed answer after its decompression."""

_DRIP_SECONDS: Final = 20
_TIMEOUT: Final = 60


@dataclass
class Reply:
    """An answer on its way to the server."""

    status: int
    headers: dict[str, str]
    body: bytes


Spoil = Callable[[Reply], Reply]
"""Changes an answer."""


@dataclass
class Fault:
    """What happens to one answer.

    Args:
        spoil: changes the answer.
        is_slow: whether it arrives a byte at a time.
        is_body_slow: whether its body arrives a byte at a time, after a complete head.
        is_cut: whether the connection breaks before its end.
        raw: the bytes that arrive in its place.
    """

    spoil: Spoil = field(default=lambda reply: reply)
    is_slow: bool = False
    is_body_slow: bool = False
    is_cut: bool = False
    raw: bytes | None = None


class FaultProxy:
    """Forwards requests to a platform, and spoils the answer to one of them.

    Args:
        target: the base URL of the platform.
    """

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target)
        self.paths: list[str] = []
        """The paths of all requests."""
        self._fault: Fault | None = None
        self._passing = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.forward(self)

            do_POST = do_GET  # noqa: N815  the name that http.server calls

            def log_message(self, *_: object) -> None: ...

        self._server = _QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}{self._target.path}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def spoil(self, fault: Fault | None, *, after: int = 0) -> None:
        """Spoil one answer.

        Args:
            after: the number of requests that pass before.
        """
        with self._lock:
            self._fault, self._passing = fault, after

    @property
    def is_waiting(self) -> bool:
        """Whether the fault has not happened."""
        return self._fault is not None

    def close(self) -> None:
        """End the proxy."""
        self._server.shutdown()
        self._server.server_close()

    def forward(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a request."""
        self.paths.append(handler.path)
        fault = self._take()
        reply = (fault or Fault()).spoil(self._fetch(handler))
        with suppress(OSError):
            _send(handler, _serialized(reply), fault or Fault())

    def _take(self) -> Fault | None:
        with self._lock:
            if self._fault is None or self._passing:
                self._passing = max(0, self._passing - 1)
                return None
            fault, self._fault = self._fault, None
            return fault

    def _fetch(self, handler: BaseHTTPRequestHandler) -> Reply:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        headers = dict(handler.headers.items())
        with closing(HTTPConnection(self._target.netloc, timeout=_TIMEOUT)) as connection:
            connection.request(handler.command, handler.path, body, headers)
            response = connection.getresponse()
            kept = {"Content-Type": response.getheader("Content-Type", "application/json")}
            return Reply(response.status, kept, response.read())


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Connections that break are part of the tests."""


def _serialized(reply: Reply) -> bytes:
    return b"\r\n".join(
        [
            f"HTTP/1.1 {reply.status} Answer".encode(),
            *(f"{name}: {value}".encode() for name, value in reply.headers.items()),
            f"Content-Length: {len(reply.body)}".encode(),
            b"",
            reply.body,
        ]
    )


def _drip(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    handler.close_connection = True
    ends = time.monotonic() + _DRIP_SECONDS
    for byte in content:
        if time.monotonic() > ends:
            return
        handler.wfile.write(bytes([byte]))
        time.sleep(0.02)


def _send(handler: BaseHTTPRequestHandler, content: bytes, fault: Fault) -> None:
    if fault.raw is not None:
        handler.close_connection = True
        handler.wfile.write(fault.raw)
    elif fault.is_slow:
        _drip(handler, content)
    elif fault.is_body_slow:
        head, _, body = content.partition(b"\r\n\r\n")
        handler.wfile.write(head + b"\r\n\r\n")
        # Long enough for every time limit of the contract.
        _drip(handler, body.ljust(1000))
    elif fault.is_cut:
        handler.close_connection = True
        handler.wfile.write(content[: len(content) // 2])
        # The connection is reset in place of being closed.
        linger = struct.pack("ii", 1, 0)
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    else:
        handler.wfile.write(content)


@contextmanager
def proxies() -> Iterator[Callable[[str], FaultProxy]]:
    """Return a function that starts proxies, which run until the end of the block."""
    started: dict[str, FaultProxy] = {}

    def start(target: str) -> FaultProxy:
        if target not in started:
            started[target] = FaultProxy(target)
        return started[target]

    try:
        yield start
    finally:
        for proxy in started.values():
            proxy.close()


def _body(body: bytes, status: int | None = None) -> Spoil:
    return lambda reply: Reply(status or reply.status, reply.headers, body)


def _members(change: Callable[[Any], Any]) -> Spoil:
    """Change every value of the JSON of an answer, at all depths."""

    def spoil(reply: Reply) -> Reply:
        with suppress(ValueError):
            return Reply(
                reply.status, reply.headers, json.dumps(_each(json.loads(reply.body), change)).encode()
            )
        return Reply(reply.status, reply.headers, b"{}")

    return spoil


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {name: _each(item, change) for name, item in value.items()}
    return change(value)


def _only(kind: type, change: Callable[[Any], Any]) -> Spoil:
    """Change the values of one type, so that the others still pass their checks."""
    return _members(
        lambda value: change(value) if isinstance(value, kind) and value is not True else value
    )


def _infinite(reply: Reply) -> Reply:
    spoiled = _only(int, lambda _: float("inf"))(reply)
    return Reply(spoiled.status, spoiled.headers, spoiled.body.replace(b"Infinity", b"1e999"))


def _twice(reply: Reply) -> Reply:
    """Repeat each member of the object, which has no defined meaning (RFC 8259, section 4)."""
    body = reply.body.strip()
    return Reply(reply.status, reply.headers, body[:-1] + b"," + body[1:])


def _typed(content_type: str) -> Spoil:
    return lambda reply: Reply(reply.status, {**reply.headers, "Content-Type": content_type}, reply.body)


def _coded(coding: str, body: Callable[[Reply], bytes]) -> Spoil:
    return lambda reply: Reply(reply.status, {**reply.headers, "Content-Encoding": coding}, body(reply))


@cache
def _bomb() -> bytes:
    return gzip.compress(b" " * INFLATED, 9)


@cache
def _double_bomb() -> bytes:
    return gzip.compress(_bomb(), 9)


def _redirect(reply: Reply, location: str = REDIRECTED, status: int = 302) -> Reply:
    return Reply(status, {**reply.headers, "Location": location}, b"")


GARBAGE: Final[Mapping[str, Spoil]] = {
    "nothing": _body(b""),
    "null": _body(b"null"),
    "a list": _body(b"[]"),
    "a list of objects": _body(b'[{"errcode": 0}]'),
    "a number": _body(b"1"),
    "a text": _body(b'"text"'),
    "half an object": _body(b'{"errcode": 0, "access'),
    "an empty object": _body(b"{}"),
    "another encoding": _body('{"name": "é"}'.encode("utf-16")),
    "no encoding": _body(b'{"name": "\xff\xfe"}'),
    "a page": _body(b"<!doctype html><title>Gateway</title>"),
    "deep nesting": _body(b'{"a":' * 20_000),
    "a long number": _body(b'{"errcode": ' + b"9" * 10_000 + b"}"),
    "a callback of JavaScript": _body(b'callback( {"errcode": 0} );'),
    "an error that is no text": _body(b'{"error": {"a": 1}, "errcode": "x", "code": [1]}'),
    "members that are null": _members(lambda _: None),
    "members that are empty": _members(lambda _: ""),
    "members that are lists": _members(lambda value: [value]),
    "members that are objects": _members(lambda value: {"value": value}),
    "members that are numbers": _members(lambda _: 7),
    "members with a null character": _members(lambda _: "a\0b"),
    "members with half a character": _members(lambda _: "\ud800"),
    "texts of 100 KB": _only(str, lambda _: "x" * 100_000),
    "texts of 4 KB": _only(str, lambda _: "x" * 4000),
    "texts of 300 characters": _only(str, lambda _: "x" * 300),
    "texts with a null character": _only(str, lambda value: f"{value}\0"),
    "texts with half a character": _only(str, lambda value: f"{value}\udfff"),
    "texts that are empty": _only(str, lambda _: ""),
    "texts that are lists": _only(str, lambda value: [value]),
    "numbers of 4,000 digits": _only(int, lambda _: 10**4000),
    "numbers beyond 64 bits": _only(int, lambda _: 2**70),
    "numbers that are negative": _only(int, lambda _: -(2**70)),
    "numbers that are infinite": _infinite,
    "members that are repeated": _twice,
    "a byte order mark": lambda reply: Reply(reply.status, reply.headers, b"\xef\xbb\xbf" + reply.body),
    "the type of another encoding": _typed("text/html; charset=utf-16"),
    "the type of no encoding": _typed("application/json; charset=made-up"),
    "a broken compression": _coded("gzip", lambda reply: b"\x1f\x8b" + reply.body),
    "an unknown compression": _coded("made-up", lambda reply: reply.body),
    "a failure of the server": _body(b"<html>", 500),
    "a failure with an object": _body(b"{}", 503),
    "too many requests": _body(b"{}", 429),
    "not found": _body(b"{}", 404),
}
"""Answers that prove nothing."""

HOSTILE: Final[Mapping[str, Fault]] = {
    "a large answer": Fault(lambda reply: Reply(reply.status, reply.headers, b" " * LARGE + reply.body)),
    "a gzip bomb": Fault(_coded("gzip", lambda _: _bomb())),
    "a gzip bomb in gzip": Fault(_coded("gzip, gzip", lambda _: _double_bomb())),
    "a slow answer": Fault(is_slow=True),
    "a slow body": Fault(is_body_slow=True),
    "a broken connection": Fault(is_cut=True),
    "a redirect": Fault(_redirect),
    "a redirect to a file": Fault(lambda reply: _redirect(reply, "file:///etc/passwd", 307)),
    "no HTTP": Fault(raw=b"\x16\x03\x01 hello\r\n"),
    "nothing at all": Fault(raw=b""),
    "a long header": Fault(raw=b"HTTP/1.1 200 OK\r\nX: " + b"x" * LARGE + b"\r\n\r\n{}"),
    "many headers": Fault(raw=b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50_000 + b"\r\n{}"),
    "a length that is no number": Fault(raw=b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{"),
    "a chunk that is no chunk": Fault(
        raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"
    ),
    "an endless beginning": Fault(raw=b"HTTP/1.1 100 Continue\r\n\r\n" * 50_000),
}
"""Answers that would bind a worker, or lead it to another server."""

FAULTS: Final[Mapping[str, Fault]] = {
    **{name: Fault(spoil) for name, spoil in GARBAGE.items()},
    **HOSTILE,
}
"""All of them."""
