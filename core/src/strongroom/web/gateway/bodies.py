"""Request bodies: received before a thread is assigned, read by a thread, or discarded."""

import threading
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Final

from strongroom.web.gateway.limits import Patience, Timers, TransferRate
from strongroom.web.gateway.protocol import Future, HttpProtocol, when_done

EARLY_BYTES: Final = 64 * 1024
"""Bodies up to this size are received before a thread is assigned."""

LINGER_BYTES: Final = 64 * 1024
"""Bytes of a refused body that are discarded at any transfer rate."""

FAST_LINGER_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a refused body that are discarded if the client sends fast."""

FREE_PIECES: Final = 1024
"""The number of pieces of a body that may have any size."""

SMALLEST_AVERAGE: Final = 64
"""The average size in bytes of all further pieces. A piece of one byte costs as much as a large one."""

_FAST_BYTES_PER_SECOND: Final = 256 * 1024
_DRAIN_SECONDS: Final = 30.0
_DRAIN_PAUSE_SECONDS: Final = 5.0

Finished = Callable[[BytesIO | None], None]


def is_crumbled(pieces: int, size: int) -> bool:
    """Return whether a body arrives in so many pieces that receiving it costs more than it is worth."""
    return pieces > FREE_PIECES + size // SMALLEST_AVERAGE


class EarlyBody:
    """A small body that is received without blocking a thread.

    Args:
        protocol: Granian's protocol object of the request.
        length: the Content-Length in bytes.
        finish: called with the body; shorter than ``length`` if the client has disconnected, ``None`` if
            the deadline has passed.
    """

    def __init__(
        self, protocol: HttpProtocol, length: int, rate: TransferRate, timers: Timers, finish: Finished
    ) -> None:
        self._protocol = protocol
        self._missing = length
        self._deadline = time.monotonic() + rate.seconds_for(length)
        self._timers = timers
        self._finish = finish
        self._pieces: list[bytes] = []
        self._received = 0
        self._future: Future | None = None

    def receive(self) -> None:
        """Read all available pieces, and register a callback for the next one."""
        while self._missing > 0:
            future = self._future = self._protocol.receive()
            # Before the callback is registered, because that may run on another thread immediately.
            self._timers.add(self, self._deadline - time.monotonic())
            if not when_done(future, self._resume):
                return
            # The deadline has fired on another thread, which ends the request.
            if not self._timers.claim(self):
                return
            self._take(future)
        self._finish(BytesIO(b"".join(self._pieces)))

    def expire(self) -> None:
        """Cancel the body after its deadline."""
        future, self._future = self._future, None
        if future is not None:
            future.cancel()
        self._finish(None)

    def _resume(self, future: Future) -> None:
        if self._timers.claim(self):
            # Granian's futures keep a reference to their callbacks, and the garbage collector does not
            # traverse them. So the cycle must be broken here.
            self._future = None
            self._take(future)
            self.receive()

    def _take(self, future: Future) -> None:
        message = future.result()
        piece = message.get("body", b"")
        self._pieces.append(piece)
        self._missing -= len(piece)
        self._received += len(piece)
        # The client disconnected, or sends crumbs. The body stays shorter than its length, which the
        # caller detects.
        is_over = not message.get("more_body") or is_crumbled(len(self._pieces), self._received)
        if self._missing > 0 and is_over:
            self._missing = 0


class RequestBody:
    """A body that a thread reads while it arrives; the ``wsgi.input`` of transfers.

    Reading raises ``TimeoutError`` if the client sends too slowly, and ``ConnectionError`` if it has
    disconnected or sends crumbs.
    """

    def __init__(self, protocol: HttpProtocol, rate: TransferRate) -> None:
        self._protocol = protocol
        self._patience = Patience(rate)
        self._rest = b""
        self._pieces = 0
        self._received = 0
        self._future: Future | None = None
        self.is_touched = False
        self.is_ended = False

    def read(self, size: int | None = -1, /) -> bytes:
        """Return ``size`` bytes, or fewer only at the end of the body."""
        if size is None or size < 0:
            return b"".join(iter(self._piece, b""))
        pieces, missing = [], size
        while missing > 0 and (piece := self._piece()):
            pieces.append(piece)
            missing -= len(piece)
        # The last piece had more than was requested; the next call returns its rest.
        if missing < 0:
            pieces[-1], self._rest = piece[:missing], piece[missing:]
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the next line with its line end, or the rest of the body."""
        limit = -1 if size is None else size
        line = b""
        while b"\n" not in line and (limit < 0 or len(line) < limit) and (piece := self._piece()):
            line += piece
        end = line.find(b"\n") + 1 or len(line)
        end = end if limit < 0 else min(end, limit)
        line, self._rest = line[:end], line[end:]
        return line

    def readlines(self, _hint: int | None = None, /) -> list[bytes]:
        """Return all lines; the hint is ignored."""
        return list(self)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")

    def _piece(self) -> bytes:
        if self._rest:
            piece, self._rest = self._rest, b""
            return piece
        # An empty piece is not the end of the body; only ``more_body`` marks that.
        while not self.is_ended:
            piece = self._receive()
            if piece:
                return piece
        return b""

    def _receive(self) -> bytes:
        future = self._future or self._protocol.receive()
        self.is_touched = True
        started = time.monotonic()
        if not self._wait(future):
            future.cancel()
            self._future, self.is_ended = None, True
            raise TimeoutError("The client sends its body too slowly.")
        message = future.result()
        if message["type"] == "http.disconnect":
            self._future, self.is_ended = None, True
            raise ConnectionError("The client disconnected before its body was complete.")
        piece: bytes = message["body"]
        self._pieces += 1
        self._received += len(piece)
        if is_crumbled(self._pieces, self._received):
            self._future, self.is_ended = None, True
            raise ConnectionError("The client sends its body in too many small pieces.")
        self.is_ended = not message["more_body"]
        # Prefetch: the next piece arrives while the caller processes this one.
        self._future = None if self.is_ended else self._protocol.receive()
        self._patience.spend(time.monotonic() - started, len(piece))
        return piece

    def _wait(self, future: Future) -> bool:
        # A lock that the callback releases: cheaper than an Event, which also has a condition.
        arrived = threading.Lock()
        arrived.acquire()
        if when_done(future, lambda _: arrived.release()):
            return True
        return arrived.acquire(timeout=max(0.0, self._patience.seconds))

    def pending(self) -> Future | None:
        """Return the future of the prefetched piece, if there is one."""
        return self._future


class BodyDrain:
    """Discards the rest of a body after the response was sent, so that the client can read the response.

    If the server closes a connection while the client is still sending, the connection is reset, and
    the client may lose the response (RFC 9112 section 9.6). Discarding blocks no thread. The timeouts
    equal nginx's ``lingering_close``.
    """

    def __init__(
        self,
        protocol: HttpProtocol,
        rate: TransferRate,
        timers: Timers,
        pending: Future | None = None,
    ) -> None:
        self._protocol: HttpProtocol | None = protocol
        grace = min(_DRAIN_PAUSE_SECONDS, rate.grace_seconds)
        self._patience = Patience(TransferRate(grace, rate.bytes_per_second))
        self._waits_since = 0.0
        self._timers = timers
        self._pending = pending
        self._future: Future | None = None
        self._started = time.monotonic()
        self._discarded = 0
        self._pieces = 0

    def discard(self) -> None:
        """Discard all available pieces, and register a callback for the next one."""
        while self._protocol is not None:
            future = self._future = self._pending or self._protocol.receive()
            self._pending = None
            self._waits_since = time.monotonic()
            self._timers.add(self, min(self._patience.seconds, _DRAIN_SECONDS - self._elapsed()))
            if not when_done(future, self._resume):
                return
            if not self._timers.claim(self) or not self._goes_on(future):
                return

    def expire(self) -> None:
        """Drop the body: Granian closes the connection once nothing references its protocol object."""
        future, self._future, self._protocol = self._future, None, None
        if future is not None:
            future.cancel()

    def _resume(self, future: Future) -> None:
        if self._timers.claim(self):
            self._future = None
            if self._goes_on(future):
                self.discard()

    def _goes_on(self, future: Future) -> bool:
        message = future.result()
        size = len(message.get("body", b""))
        self._discarded += size
        self._pieces += 1
        self._patience.spend(time.monotonic() - self._waits_since, size)
        if not message.get("more_body") or not self._may_go_on():
            self._protocol = None
            return False
        return True

    def _may_go_on(self) -> bool:
        if is_crumbled(self._pieces, self._discarded):
            return False
        fast = self._discarded >= self._elapsed() * _FAST_BYTES_PER_SECOND
        return self._discarded <= (FAST_LINGER_BYTES if fast else LINGER_BYTES)

    def _elapsed(self) -> float:
        return time.monotonic() - self._started
