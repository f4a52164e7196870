"""HTTP responses with a minimum transfer rate, for libraries based on :mod:`http.client`.

A socket's time-out applies to each read, so a server that sends one byte per time-out could block
its reader. Also, :mod:`http.client` accepts a truncated response head as complete. HTTP libraries
let their users set the response class (``response_class`` of a connection). The class in this module
measures the bytes received per waiting time, and detects a truncated head.
"""

import http.client
import io
import socket
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LEAST_BYTES: Final = 16 * 1024
"""Bytes that must arrive within each time-out, unless the response ends. Real networks are faster."""


class TimedResponse(http.client.HTTPResponse):
    """A response that raises ``TimeoutError`` if it arrives too slowly. Its head must be complete.

    The time-out is the socket's when the response begins. Only the time spent waiting for data
    counts, so that the caller may process the data at any speed.
    """

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        # Insert the timed reader between the socket and the buffer of http.client.
        self._timed = _TimedReader(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self._timed)

    def begin(self) -> None:
        """Read the response head.

        Raises:
            ConnectionResetError: the connection closed within the head.
        """
        super().begin()
        self._timed.in_head = False


class _TimedReader(io.RawIOBase):
    """Reads from a socket and enforces the minimum rate."""

    def __init__(self, raw: Any, sock: socket.socket) -> None:
        self.in_head = True
        self._raw = raw
        self._socket = sock
        self._timeout = sock.gettimeout()
        self._waited = 0.0
        self._received = 0
        self._has_begun = False

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._socket.fileno()

    def readinto(self, buffer: "WriteableBuffer", /) -> int | None:
        if self._timeout is None:
            count: int = self._raw.readinto(buffer)
        else:
            count = self._read_in_time(buffer, self._timeout)
        # EOF before the first byte is a stale keep-alive connection, which HTTP libraries retry.
        if not count and self.in_head and self._has_begun:
            raise ConnectionResetError("the connection closed within the response head")
        self._has_begun = True
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()

    def _read_in_time(self, buffer: "WriteableBuffer", timeout: float) -> int:
        started = time.monotonic()
        # The budget is shared by all reads since the last LEAST_BYTES, so shorten the socket's time-out.
        self._socket.settimeout(max(timeout - self._waited, 0.001))
        try:
            count: int = self._raw.readinto(buffer)
        finally:
            self._socket.settimeout(timeout)
        self._received += count
        self._waited += time.monotonic() - started
        # The window ends with LEAST_BYTES received in time. EOF (count 0) is never too slow.
        if self._received >= LEAST_BYTES:
            self._received, self._waited = 0, 0.0
        elif count and self._waited >= timeout:
            raise TimeoutError(f"received only {self._received} bytes in {self._waited:.1f} s")
        return count
