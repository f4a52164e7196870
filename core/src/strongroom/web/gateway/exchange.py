"""One request and its response, between Granian and the WSGI application."""

import logging
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from strongroom.foundation import errors
from strongroom.web.gateway.bodies import EARLY_BYTES, BodyDrain, EarlyBody, RequestBody
from strongroom.web.gateway.limits import Admission, AdmissionResult, ThreadTask, Timers, TransferRate
from strongroom.web.gateway.protocol import HttpProtocol
from strongroom.web.gateway.responses import (
    PIECE_BYTES,
    Headers,
    StreamedResponse,
    WaitingResponses,
    send_whole,
)

Environ = dict[str, Any]
Scope = Mapping[str, Any]

_BASE: Final[Environ] = {
    "GATEWAY_INTERFACE": "CGI/1.1",
    "SCRIPT_NAME": "",
    "SERVER_SOFTWARE": "Granian",
    "wsgi.errors": sys.stderr,
    "wsgi.multiprocess": True,
    "wsgi.multithread": True,
    "wsgi.run_once": False,
    "wsgi.version": (1, 0),
}
_PROTOCOLS: Final = {"1": "HTTP/1.0", "1.1": "HTTP/1.1", "2": "HTTP/2"}
_UNPREFIXED: Final = {b"content-type": "CONTENT_TYPE", b"content-length": "CONTENT_LENGTH"}
_ENCODED_SLASH: Final = re.compile(rb"%2[Ff]")
_SINGLE: Final = frozenset({"CONTENT_TYPE", "CONTENT_LENGTH"})


MAX_TARGET_BYTES: Final = 16 * 1024
"""The maximum size of the path and the query together. Granian refuses only those above 64 KiB."""

MAX_HEADERS_BYTES: Final = 64 * 1024
"""The maximum size of all names and values of headers. Granian refuses only a head above 128 KiB.

These limits are lower than Granian's, whose refusals have no body; see docs/guides/rest.md.
"""


def build_environ(scope: Scope) -> Environ:
    """Return the environ, without ``wsgi.input``.

    Headers whose name has an underscore are dropped. The environ has one variable for both
    ``X_Forwarded_For`` and ``X-Forwarded-For``, so a client could otherwise forge the headers of a
    trusted proxy.

    Raises:
        MalformedRequest: the Host is missing or repeated (RFC 9112 section 3.2), or "chunked" is
            applied twice (section 7).
        NotImplementedHere: the transfer coding is unknown (section 6.1).
        UriTooLong: the path and the query are too long.
        HeaderFieldsTooLarge: the headers are too large.
    """
    raw_path: bytes = scope["raw_path"]
    if len(raw_path) + len(scope["query_string"]) > MAX_TARGET_BYTES:
        raise errors.UriTooLong
    path = _decoded(raw_path) if b"%" in raw_path else raw_path
    environ = _BASE.copy()
    environ["REQUEST_METHOD"] = scope["method"]
    environ["PATH_INFO"] = path.decode("latin-1")
    environ["QUERY_STRING"] = scope["query_string"].decode("latin-1")
    environ["SERVER_PROTOCOL"] = _PROTOCOLS.get(scope["http_version"], "HTTP/1.1")
    environ["SERVER_NAME"], environ["SERVER_PORT"] = scope["server"]
    environ["REMOTE_ADDR"], environ["REMOTE_PORT"] = scope["client"]
    environ["wsgi.url_scheme"] = scope["scheme"]
    _add_headers(environ, scope["headers"])
    _check(environ, scope)
    return environ


def _decoded(raw_path: bytes) -> bytes:
    """Return a path without percent-encoding, except an encoded slash, which separates no segments."""
    return b"%2F".join(map(unquote_to_bytes, _ENCODED_SLASH.split(raw_path)))


@lru_cache(maxsize=1024)
def _variable(name: bytes) -> str | None:
    """Return the environ variable of a header, or ``None`` if the header is dropped."""
    if b"_" in name:
        return None
    return _UNPREFIXED.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")


def _add_headers(environ: Environ, headers: list[tuple[bytes, bytes]]) -> None:
    size = 0
    for name, value in headers:
        size += len(name) + len(value)
        variable = _variable(name)
        if variable is None:
            continue
        text = value.decode("latin-1")
        if variable not in environ:
            environ[variable] = text
        # A repeated Content-Type or Content-Length keeps its first value.
        elif variable not in _SINGLE:
            # Cookie is the only header whose lines are not joined by commas (RFC 6265 section 5.4).
            separator = "; " if variable == "HTTP_COOKIE" else ","
            environ[variable] += separator + text
    if size > MAX_HEADERS_BYTES:
        raise errors.HeaderFieldsTooLarge


def _check(environ: Environ, scope: Scope) -> None:
    if environ["SERVER_PROTOCOL"] == "HTTP/1.1" and not _has_one_host(environ, scope):
        raise errors.MalformedRequest("The request must have one Host header.")
    if "HTTP_TRANSFER_ENCODING" in environ:
        _check_codings(environ["HTTP_TRANSFER_ENCODING"])
    # Werkzeug falls back to SERVER_NAME only if the variable is absent.
    if environ.get("HTTP_HOST") == "":
        del environ["HTTP_HOST"]


def _check_codings(transfer_encoding: str) -> None:
    """Refuse all transfer codings but one "chunked": the HTTP library removes no other."""
    codings = [coding.strip().lower() for coding in transfer_encoding.split(",")]
    if any(coding != "chunked" for coding in codings):
        raise errors.NotImplementedHere("The only transfer coding is chunked.")
    if len(codings) > 1:
        raise errors.MalformedRequest("A body may be chunked only once.")


def _has_one_host(environ: Environ, scope: Scope) -> bool:
    host = environ.get("HTTP_HOST", "")
    # A valid host has no comma, so only then the header lines need to be counted.
    return bool(host) and ("," not in host or sum(name == b"host" for name, _ in scope["headers"]) == 1)


_DESCRIPTORS: Final = Path("/proc/self/fd")


def cut(client: tuple[str, int], server_port: int) -> bool:
    """Shut down this process's connection with a client, and return whether it was found."""
    for descriptor in _sockets():
        # Other threads may close the descriptor at any time, which is not an error here.
        with suppress(OSError), _duplicate(descriptor) as connection:
            if _is_between(connection, client, server_port):
                connection.shutdown(socket.SHUT_RDWR)
                return True
    return False


def _sockets() -> Iterator[int]:
    with suppress(OSError):
        for entry in _DESCRIPTORS.iterdir():
            with suppress(OSError):
                if str(entry.readlink()).startswith("socket:"):
                    yield int(entry.name)


def _duplicate(descriptor: int) -> socket.socket:
    """Duplicate a socket, so that it stays the same even if its descriptor is closed and reused."""
    duplicate = os.dup(descriptor)
    try:
        return socket.socket(fileno=duplicate)
    except OSError:
        os.close(duplicate)
        raise


def _is_between(connection: socket.socket, client: tuple[str, int], server_port: int) -> bool:
    peer: Any = connection.getpeername()
    local: Any = connection.getsockname()
    return tuple(peer[:2]) == client and local[1] == server_port


RETRY_SECONDS: Final = 1
"""The Retry-After value, in seconds, of requests that are refused because all threads are busy."""

WsgiApp = Callable[..., Iterable[bytes]]
"""A WSGI application (PEP 3333)."""

STOPPING: Final = threading.Event()
"""Set when this process stops accepting requests, so that waiting requests must end."""

logger = logging.getLogger(__name__)

_current: Final = threading.local()


def release_slot() -> None:
    """Do not count the request of this thread from now on, so that its wait keeps no other one waiting.

    Without effect under another WSGI server.
    """
    exchange: Exchange | None = getattr(_current, "exchange", None)
    if exchange is not None:
        exchange.release_slot()


@dataclass(frozen=True, slots=True)
class Gateway:
    """The request handler of a process, and the state that its requests share.

    Args:
        admission: assigns threads.
        rate: the minimum transfer rate of clients.
        timers: enforce deadlines.
        waiting: the responses that wait for their client to read.
        unqueued_path: the path that is served even if no thread is free, for liveness probes.
        waiting_threads: the maximum number of requests that :func:`release_slot`.
    """

    app: WsgiApp
    admission: Admission
    rate: TransferRate
    timers: Timers
    waiting: WaitingResponses
    unqueued_path: str
    waiting_threads: int = 0

    def handle(self, watcher: Any) -> None:
        """Start a request, on a thread of Granian's pool."""
        try:
            Exchange(self, watcher.scope, watcher.proto).begin()
        except Exception:
            logger.exception("A request could not be started")
            watcher.done()

    def work(self, job: ThreadTask | None) -> None:
        """Run an admitted job, and then the queued jobs that this thread can take over."""
        while job is not None:
            job.run()
            job = self.admission.leave(job)

    def resume(self, job: ThreadTask) -> None:
        """Continue a transfer after a wait."""
        if job.is_uncounted or self.admission.resume(job) is AdmissionResult.RUN:
            self.work(job)


class Exchange:
    """One request; a job of :class:`~strongroom.web.gateway.limits.Admission`."""

    __slots__ = (
        "_body",
        "_environ",
        "_gateway",
        "_is_counted",
        "_protocol",
        "_scope",
        "is_transfer",
        "is_uncounted",
        "queued_at",
    )

    def __init__(self, gateway: Gateway, scope: Scope, protocol: HttpProtocol) -> None:
        self._gateway = gateway
        self._scope = scope
        self._protocol = protocol
        self._environ: Environ = {}
        self._body: RequestBody | None = None
        self.is_transfer = False
        self.is_uncounted = False
        self.queued_at = 0.0
        self._is_counted = True

    def begin(self) -> None:
        """Receive a small body before a thread is assigned; start a large one as a transfer."""
        try:
            self._environ = environ = build_environ(self._scope)
        except errors.StrongroomError as error:
            self._refuse(error, close=True)
            return
        length = environ.get("CONTENT_LENGTH", "0")
        if "HTTP_TRANSFER_ENCODING" in environ or "HTTP_EXPECT" in environ or int(length) > EARLY_BYTES:
            self._begin_transfer()
        elif length == "0":
            self._arrive(BytesIO())
        else:
            rate, timers = self._gateway.rate, self._gateway.timers
            EarlyBody(self._protocol, int(length), rate, timers, self._arrive).receive()

    def run(self) -> None:
        """Call the application, and send its response."""
        started = _Started()
        # In a variable of the thread: a reference from the environ would be a cycle.
        _current.exchange = self
        try:
            body = self._gateway.app(self._environ, started)
            self._respond(started, body)
        except Exception:
            logger.exception("The application failed")
            self._refuse(errors.InternalError())
        finally:
            _current.exchange = None
        self._drain_body()

    def release_slot(self) -> None:
        """Stop counting this request, and let another thread run the job that waits for its place."""
        if self.is_uncounted or not self._is_counted:
            return
        following = self._gateway.admission.release_slot(self)
        if following is not None:
            threading.Thread(target=self._gateway.work, args=[following], name="requests").start()

    def _begin_transfer(self) -> None:
        self.is_transfer = True
        self._body = self._environ["wsgi.input"] = RequestBody(self._protocol, self._gateway.rate)
        if "CONTENT_LENGTH" not in self._environ:
            # Chunked: Granian detects the end of the body. With a length, the application checks it.
            self._environ["wsgi.input_terminated"] = True
        self._enter()

    def _arrive(self, body: BytesIO | None) -> None:
        if body is None:
            self._refuse(errors.RequestTimeout(), close=True)
            return
        self._environ["wsgi.input"] = body
        if self._environ["PATH_INFO"] == self._gateway.unqueued_path:
            self._is_counted = False
            # Liveness must succeed under overload, otherwise the supervisor restarts a busy server.
            self.run()
        else:
            self._enter()

    def _enter(self) -> None:
        verdict = self._gateway.admission.enter(self)
        if verdict is AdmissionResult.RUN:
            self._gateway.work(self)
        elif verdict is AdmissionResult.REFUSED:
            self._refuse(errors.Unavailable("The server is busy.", retry_after=RETRY_SECONDS))
            self._drain_body()

    def _respond(self, started: "_Started", body: Iterable[bytes]) -> None:
        # Small or complete bodies never wait for the client, so they do not count as transfers.
        if isinstance(body, list) or started.length <= PIECE_BYTES or self._scope["method"] == "HEAD":
            send_whole(self._protocol, started.status, started.headers, _joined(body))
        elif self._gateway.waiting.evict() and self._gateway.admission.become_transfer(self):
            self._stream(started, body)
        else:
            # The application has produced the response, so its resources must be released (PEP 3333).
            _close(body)
            self._refuse(errors.Unavailable("The server is busy.", retry_after=RETRY_SECONDS))

    def _stream(self, started: "_Started", body: Iterable[bytes]) -> None:
        gateway = self._gateway
        response = StreamedResponse(
            self._protocol, body, gateway.rate, gateway.waiting, gateway.resume, self._cut
        )
        response.is_uncounted = self.is_uncounted
        response.begin(started.status, started.headers)
        response.run()

    def _cut(self) -> None:
        # The protocol object has no method that closes the connection, so its socket is looked up.
        host, port = self._scope["client"]
        cut((host, int(port)), int(self._scope["server"][1]))

    def _refuse(self, error: errors.StrongroomError, *, close: bool = False) -> None:
        request_id = token_hex(16)
        body = errors.error_json(error, request_id).encode()
        headers = [
            ("Content-Type", "application/json"),
            ("Cache-Control", "no-store"),
            ("Content-Length", str(len(body))),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Request-Id", request_id),
        ]
        if error.retry_after is not None:
            headers.append(("Retry-After", str(error.retry_after)))
        if close:
            headers.append(("Connection", "close"))
        send_whole(self._protocol, error.status, headers, body)

    def _drain_body(self) -> None:
        body = self._body
        if body is None or body.is_ended:
            return
        # With Expect, the client sends a body only after 100 Continue, which the first read triggers.
        if body.is_touched or "HTTP_EXPECT" not in self._environ:
            rate, timers = self._gateway.rate, self._gateway.timers
            BodyDrain(self._protocol, rate, timers, body.pending()).discard()


@dataclass(slots=True)
class _Started:
    """Records the status and headers of a response; the ``start_response`` of WSGI."""

    status: int = 500
    headers: Headers = field(default_factory=list)
    length: float = float("inf")

    def __call__(self, status: str, headers: Headers, _exc_info: Any = None) -> None:
        self.status, self.headers = int(status[:3]), headers
        for name, value in headers:
            if name.lower() == "content-length":
                self.length = int(value)


def _joined(body: Iterable[bytes]) -> bytes:
    try:
        return b"".join(body)
    finally:
        _close(body)


def _close(body: Iterable[bytes]) -> None:
    close = getattr(body, "close", None)
    if close is not None:
        close()
