"""HTTP answers that must keep coming, for backends whose HTTP library stands on :mod:`http.client`.

The time-out of a socket is that of each read: a store that sends a byte whenever one would be given up
holds its reader for ever. And a head that breaks off is taken for a whole one. Libraries let a class
for answers be named (``response_class`` of their connections); the one here counts how much came in
how much waiting, and knows where a head ends.
"""

import http.client
import io
import socket
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LEAST_BYTES: Final = 16 * 1024
"""What must come within each time-out, unless the answer is over before; no network is that slow."""


class TimedResponse(http.client.HTTPResponse):
    """An answer that is given up when it comes too slowly, and whose head must be whole.

    The time-out is the one that the socket has when the answer begins. Only waiting counts, so that
    whoever reads may take as much time as it likes.
    """

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self._timed = _TimedReader(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self._timed)

    def begin(self) -> None:
        """Read the head.

        Raises:
            ConnectionResetError: it ended in the middle.
        """
        super().begin()
        self._timed.in_head = False


class _TimedReader(io.RawIOBase):
    def __init__(self, raw: Any, sock: socket.socket) -> None:
        self.in_head = True
        self._raw = raw
        self._socket = sock
        self._timeout = sock.gettimeout()
        self._waited = 0.0
        self._came = 0
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
        # Nothing at all is a connection that had been closed before, which libraries know about.
        if not count and self.in_head and self._has_begun:
            raise ConnectionResetError("the head of the answer ended in the middle")
        self._has_begun = True
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()

    def _read_in_time(self, buffer: "WriteableBuffer", timeout: float) -> int:
        started = time.monotonic()
        self._socket.settimeout(max(timeout - self._waited, 0.001))
        try:
            count: int = self._raw.readinto(buffer)
        finally:
            self._socket.settimeout(timeout)
        self._came += count
        self._waited += time.monotonic() - started
        if self._came >= LEAST_BYTES:
            self._came, self._waited = 0, 0.0
        elif count and self._waited >= timeout:
            raise TimeoutError(f"{self._came} bytes came in {self._waited:.1f} s")
        return count
