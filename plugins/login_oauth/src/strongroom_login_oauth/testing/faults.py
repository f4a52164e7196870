"""A proxy in front of a simulated platform, which spoils its answers."""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

REDIRECTED: Final = "/strongroom-contract-redirect"
LARGE: Final = 8 * 1024 * 1024
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
        is_cut: whether the connection breaks before its end.
    """

    spoil: Spoil = field(default=lambda reply: reply)
    is_slow: bool = False
    is_cut: bool = False


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
        content = b"\r\n".join(
            [
                f"HTTP/1.1 {reply.status} Answer".encode(),
                *(f"{name}: {value}".encode() for name, value in reply.headers.items()),
                f"Content-Length: {len(reply.body)}".encode(),
                b"",
                reply.body,
            ]
        )
        with suppress(OSError):
            _send(handler, content, fault or Fault())

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


def _send(handler: BaseHTTPRequestHandler, content: bytes, fault: Fault) -> None:
    if fault.is_slow:
        handler.close_connection = True
        ends = time.monotonic() + _DRIP_SECONDS
        for byte in content:
            if time.monotonic() > ends:
                return
            handler.wfile.write(bytes([byte]))
            time.sleep(0.02)
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
        return started.setdefault(target, FaultProxy(target))

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


def _redirect(reply: Reply) -> Reply:
    return Reply(302, {**reply.headers, "Location": REDIRECTED}, b"")


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
    "a failure of the server": _body(b"<html>", 500),
    "a failure with an object": _body(b"{}", 503),
    "too many requests": _body(b"{}", 429),
    "not found": _body(b"{}", 404),
}
"""Answers that prove nothing."""

HOSTILE: Final[Mapping[str, Fault]] = {
    "a large answer": Fault(lambda reply: Reply(reply.status, reply.headers, b" " * LARGE + reply.body)),
    "a slow answer": Fault(is_slow=True),
    "a broken connection": Fault(is_cut=True),
    "a redirect": Fault(_redirect),
}
"""Answers that would bind a worker, or lead it to another server."""
