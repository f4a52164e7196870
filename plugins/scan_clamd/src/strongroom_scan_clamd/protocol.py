"""The protocol of clamd, see clamd(8): one command per connection, each ended by a NUL."""

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Final

from strongroom.plugin_api.metrics import Histogram
from strongroom.plugin_api.scanning import ScannerUnavailable
from strongroom.plugin_api.storage import ByteSource
from strongroom_scan_clamd.options import ClamdOptions

CONNECTION_WAIT: Final = Histogram(
    "connection_wait", "Time that scans waited for one of `connections`.", unit="seconds"
)

_CHUNK: Final = 256 * 1024
_ANSWER_BYTES: Final = 64 * 1024
_LENGTH: Final = struct.Struct("!I")
_END: Final = _LENGTH.pack(0)


class ClamdClient:
    """Sends commands to clamd, a bounded number at a time.

    clamd closes a connection after each command unless a session is open. A session would occupy one of
    its threads (MaxThreads, 10 by default) while idle, and a new connection takes less than a
    millisecond.
    """

    def __init__(self, options: ClamdOptions) -> None:
        self._options = options
        self._slots = BoundedSemaphore(options.connections)

    def version(self) -> str:
        """Return the answer to VERSION, such as ``ClamAV 1.4.6/27001/Sun Nov 22 ...``.

        Raises:
            ScannerUnavailable: clamd does not answer.
        """
        with self._connected() as connection:
            return self._command(connection, b"zVERSION\0")

    def scan(self, stream: ByteSource) -> str:
        """Return the answer to INSTREAM, such as ``stream: OK``.

        Raises:
            ScannerUnavailable: clamd does not answer.
        """
        with self._connected() as connection:
            with _unavailable():
                connection.sendall(b"zINSTREAM\0")
            was_read = self._send(connection, stream)
            answer = self._answer(connection)
        # clamd answers only after it has read everything, except to report an error.
        if not was_read and answer.endswith("OK"):
            raise ScannerUnavailable("clamd did not read the whole content")
        return answer

    def _send(self, connection: socket.socket, stream: ByteSource) -> bool:
        """Send the stream in chunks; return whether clamd read all of it."""
        while chunk := stream.read(_CHUNK):
            if not self._sent(connection, _LENGTH.pack(len(chunk)) + chunk):
                return False
        return self._sent(connection, _END)

    def _sent(self, connection: socket.socket, content: bytes) -> bool:
        """Send bytes; return ``False`` if clamd does not read any more."""
        with _unavailable():
            try:
                connection.sendall(content)
            except (BrokenPipeError, ConnectionResetError):
                # clamd answers before it closes the connection, for example over StreamMaxLength.
                return False
        return True

    def _command(self, connection: socket.socket, command: bytes) -> str:
        with _unavailable():
            connection.sendall(command)
        return self._answer(connection)

    def _answer(self, connection: socket.socket) -> str:
        """Read the answer up to its NUL."""
        received = b""
        with _unavailable():
            while b"\0" not in received and len(received) < _ANSWER_BYTES:
                piece = connection.recv(4096)
                if not piece:
                    raise ConnectionResetError("clamd closed the connection without an answer")
                received += piece
        return received.partition(b"\0")[0].decode("utf-8", "replace").strip()

    @contextmanager
    def _connected(self) -> Iterator[socket.socket]:
        timeout = self._options.timeout_seconds
        # More scans at once would only wait in clamd's queue, with the timeout running.
        begun = time.monotonic()
        is_free = self._slots.acquire(timeout=timeout)
        CONNECTION_WAIT.observe(time.monotonic() - begun)
        if not is_free:
            raise ScannerUnavailable(f"all {self._options.connections} connections were busy")
        try:
            with _unavailable():
                connection = self._connect(timeout)
            with connection:
                yield connection
        finally:
            self._slots.release()

    def _connect(self, timeout: float) -> socket.socket:
        if self._options.host:
            return socket.create_connection((self._options.host, self._options.port), timeout)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(timeout)
            connection.connect(self._options.socket)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def _unavailable() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _failure(error) from error


def _failure(error: OSError) -> ScannerUnavailable:
    return ScannerUnavailable(f"clamd: {error.strerror or str(error) or type(error).__name__}")
