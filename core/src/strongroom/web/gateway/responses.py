"""Response bodies: in one piece, or streamed with backpressure and without blocking a thread."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import Context, copy_context
from typing import Any, Final

from strongroom.web.gateway.limits import Patience, Timers, TransferRate
from strongroom.web.gateway.protocol import Future, HttpProtocol, is_pending, when_done

Headers = list[tuple[str, str]]

PIECE_BYTES: Final = 256 * 1024
"""The maximum size of a piece. Larger ones are split, because Granian queues up to four per client."""

BUFFER_BYTES: Final = 128 * 1024
"""The size of Granian's read and write buffers, and so the maximum size of a request head."""

WAITING_LIMIT: Final = 256
"""The maximum number of responses that wait for their client; each uses up to 4 pieces and a buffer."""

_UNWATCHED_PIECES: Final = 4

logger = logging.getLogger(__name__)


def send_whole(protocol: HttpProtocol, status: int, headers: Headers, body: bytes) -> None:
    """Send a response whose body is complete."""
    protocol.send(_start(status, headers))
    protocol.send({"type": "http.response.body", "body": body, "more_body": False})


def _start(status: int, headers: Headers) -> dict[str, Any]:
    encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    return {"type": "http.response.start", "status": status, "headers": encoded}


class WaitingResponses:
    """The streamed responses of a process that wait for their client to read.

    They use memory instead of threads, so their number is limited.

    Args:
        grace_seconds: the time after which a waiting response may be evicted for a new one.
    """

    def __init__(self, timers: Timers, grace_seconds: float) -> None:
        self._timers = timers
        self._grace_seconds = grace_seconds
        self._lock = threading.Lock()
        self._since: dict[StreamedResponse, float] = {}

    def add(self, response: "StreamedResponse", seconds: float) -> None:
        """Let a response wait for at most ``seconds``."""
        with self._lock:
            self._since[response] = time.monotonic()
            self._timers.add(response, seconds)

    def claim(self, response: "StreamedResponse") -> bool:
        """End the wait of a response; return ``False`` if another thread has already ended it."""
        with self._lock:
            self._since.pop(response, None)
            return self._timers.claim(response)

    def evict(self) -> bool:
        """Return whether a response may start; at the limit, evict the one that waits longest."""
        with self._lock:
            if len(self._since) < WAITING_LIMIT:
                return True
            # A dict preserves the order of insertion, so the first response has waited longest.
            longest, since = next(iter(self._since.items()))
            if time.monotonic() - since < self._grace_seconds:
                return False
        # Outside the lock, because claim takes it, and expire closes a connection.
        if self.claim(longest):
            longest.expire()
        return True


class StreamedResponse:
    """A body that is sent as fast as the client reads; a job of :class:`~.admission.Admission`.

    Whenever the client falls behind, the job ends and releases its thread. When the client has read
    on, the job is resumed on another thread, in the same context.

    Args:
        protocol: Granian's protocol object of the request.
        body: the pieces; closed at the end.
        waiting: holds the response while its client is behind, and expires it after its deadline.
        resume: assigns a thread to the job again.
        cut: closes the connection.
    """

    is_transfer = True
    is_uncounted = False
    queued_at = 0.0

    def __init__(
        self,
        protocol: HttpProtocol,
        body: Iterable[bytes],
        rate: TransferRate,
        waiting: WaitingResponses,
        resume: Callable[["StreamedResponse"], None],
        cut: Callable[[], object],
    ) -> None:
        self._protocol = protocol
        self._body = body
        self._pieces: Iterator[bytes] | None = None
        # The pieces may depend on context variables, such as Flask's, and are produced on several
        # threads.
        self._context: Context = copy_context()
        self._rate = rate
        self._patience = Patience(rate)
        self._waiting = waiting
        self._resume = resume
        self._cut = cut
        self._sent_pieces = 0
        self._waits_for = 0
        self._waits_since = 0.0
        self._is_over = False

    def begin(self, status: int, headers: Headers) -> None:
        """Set the status and headers; Granian sends them with the first piece."""
        self._protocol.send(_start(status, headers))
        if self.is_uncounted:
            # It waits for events, so it may send nothing for a long time.
            self._watch()

    def run(self) -> None:
        """Send pieces until the client falls behind, or until none is left."""
        try:
            self._context.run(self._pump)
        except Exception:
            # The body is shorter than Content-Length, so the client detects that it is incomplete.
            logger.exception("A response was aborted")
            self._end()

    def expire(self) -> None:
        """Close the connection of a client that reads too slowly."""
        self._waiting.claim(self)
        self._context.run(self._end)
        self._cut()

    def _pump(self) -> None:
        if self._pieces is None:
            self._pieces = _divided(self._body)
        while not self._is_over and (piece := next(self._pieces, None)) is not None:
            if not piece:
                # A body that waits for events lets the loop check whether its client is still there.
                continue
            sent = self._protocol.send({"type": "http.response.body", "body": piece, "more_body": True})
            self._sent_pieces += 1
            # Short responses end before a disconnect matters, so only longer ones pay for the watch.
            if self._sent_pieces == _UNWATCHED_PIECES + 1 and not self.is_uncounted:
                self._watch()
            if is_pending(sent) and not self._is_there(sent, len(piece)):
                return
        self._end()

    def _is_there(self, sent: Future, size: int) -> bool:
        """Return whether Granian has accepted a piece; otherwise the job is resumed once it has."""
        self._waits_since, self._waits_for = time.monotonic(), size
        # Granian accepts a piece only after it has sent the buffer before it, so the deadline allows for
        # both at the minimum rate. Registered before the callback, which may run on another thread.
        slowest = (size + BUFFER_BYTES) / self._rate.bytes_per_second
        self._waiting.add(self, self._patience.seconds + slowest)
        return when_done(sent, self._taken) and self._waiting.claim(self)

    def _taken(self, _: Future) -> None:
        # Otherwise the deadline has fired first, and the response is already closed.
        if self._waiting.claim(self):
            self._patience.spend(time.monotonic() - self._waits_since, self._waits_for)
            self._resume(self)

    def _watch(self) -> None:
        """Detect when the client disconnects, because Granian accepts pieces even after that."""
        future = self._protocol.receive()
        if not is_pending(future):
            self._is_over = True
        elif when_done(future, self._noticed):
            self._noticed(future)

    def _noticed(self, future: Future) -> None:
        if future.result()["type"] == "http.disconnect":
            self._is_over = True
        elif not self._is_over:
            self._watch()

    def _end(self) -> None:
        self._is_over = True
        self._protocol.send({"type": "http.response.body", "body": b"", "more_body": False})
        # PEP 3333: close() is called in any case, also after an error or a disconnect.
        close = getattr(self._body, "close", None)
        if close is not None:
            close()


def _divided(body: Iterable[bytes]) -> Iterator[bytes]:
    for piece in body:
        if len(piece) <= PIECE_BYTES:
            yield piece
            continue
        for start in range(0, len(piece), PIECE_BYTES):
            yield piece[start : start + PIECE_BYTES]
