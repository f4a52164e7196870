"""A network that breaks: passes connections on, and cuts some of them."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

PIECE = 16 * 1024
_RESET = struct.pack("ii", 1, 0)


class CuttingProxy:
    """Passes bytes on between clients and a server.

    Args:
        cuts: bytes after which a connection is reset, one number for each that carries so many.
        towards_server: whether the bytes counted are those of requests, or those of answers.

    ``server_port`` is where the server listens on this machine.
    """

    def __init__(self, cuts: list[int], *, towards_server: bool) -> None:
        self.server_port = 0
        self._cuts = cuts
        self._towards_server = towards_server
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.made = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._relay, args=[client], daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        counted, free = self._cut, _never
        there, back = (counted, free) if self._towards_server else (free, counted)
        address = ("127.0.0.1", self.server_port)
        with suppress(OSError), client, socket.create_connection(address) as server:
            answers = threading.Thread(target=pass_on, args=(server, client, back), daemon=True)
            answers.start()
            pass_on(client, server, there)
            answers.join()

    def _cut(self, passed: int) -> bool:
        with self._lock:
            if self._cuts and passed >= self._cuts[0]:
                self._cuts.pop(0)
                self.made += 1
                return True
        return False


def _never(_passed: int) -> bool:
    return False


def pass_on(source: socket.socket, target: socket.socket, cut: Callable[[int], bool] = _never) -> None:
    """Relay bytes until the end, or until ``cut`` returns true for the number of relayed bytes."""
    passed = 0
    with suppress(OSError):
        while piece := source.recv(PIECE):
            target.sendall(piece)
            passed += len(piece)
            if cut(passed):
                _break(source, target)
                return
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _break(*ends: socket.socket) -> None:
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        # Closing alone would wait for the thread that reads from it.
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@contextmanager
def cutting(cuts: list[int], *, towards_server: bool, server_url: str = "") -> Iterator[CuttingProxy]:
    """Run a proxy until the block ends; the server behind it may be named later."""
    proxy = CuttingProxy(cuts, towards_server=towards_server)
    proxy.server_port = int(server_url.rpartition(":")[2] or 0)
    try:
        yield proxy
    finally:
        proxy.close()
