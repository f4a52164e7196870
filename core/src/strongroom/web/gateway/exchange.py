"""One request and its response, between Granian and the WSGI application."""

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from io import BytesIO
from secrets import token_hex
from typing import Any, Final

from strongroom.foundation import errors
from strongroom.web.gateway.bodies import EARLY_BYTES, BodyDrain, EarlyBody, RequestBody
from strongroom.web.gateway.environ import Environ, Scope, build_environ
from strongroom.web.gateway.limits import Admission, AdmissionResult, ThreadTask, Timers, TransferRate
from strongroom.web.gateway.peer_socket import shut_down
from strongroom.web.gateway.protocol import HttpProtocol
from strongroom.web.gateway.responses import (
    PIECE_BYTES,
    Headers,
    StreamedResponse,
    WaitingResponses,
    send_whole,
)
from strongroom.web.http.caching import DEFAULT_POLICY

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
        """Run an accepted job, and then the queued jobs that this thread can take over."""
        while job is not None:
            job.run()
            job = self.admission.leave(job)

    def resume(self, job: ThreadTask) -> None:
        """Continue a transfer after a wait."""
        if job.is_uncounted or self.admission.resume(job) is AdmissionResult.RUN:
            self.work(job)


class Exchange:
    """One request; a job of :class:`~strongroom.web.gateway.limits.Admission`.

    Its states::

        begin    -> malformed ----------------------------> refused, connection closed
                 -> small body: receiving -> too slow ----> refused, connection closed
                                          -> unqueued ----> running
                                          -> complete ----> entering
                 -> large, chunked, Expect: transfer -----> entering
        entering -> no place -----------------------------> refused, draining
                 -> queued until there is a place --------> running
        running  -> failed, or no place for a transfer ---> refused, draining
                 -> short body, list, or HEAD ------------> sent whole, draining
                 -> longer body --------------------------> streaming, draining

    Draining reads what the application left of a large body. A running request may leave its place
    (:func:`release_slot`), which the next queued one takes.
    """

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
        shut_down((host, int(port)), int(self._scope["server"][1]))

    def _refuse(self, error: errors.StrongroomError, *, close: bool = False) -> None:
        request_id = token_hex(16)
        body = errors.error_json(error, request_id).encode()
        headers = [
            ("Content-Type", "application/json"),
            DEFAULT_POLICY,
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
