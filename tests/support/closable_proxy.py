"""A network that goes away: passes connections on until it is shut."""

import socket
import threading
from contextlib import suppress

from strongroom.testing.server import free_port
from tests.support.proxy import pass_on


class Gate:
    """A way to a server that can be shut."""

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self._target = target
        self._listener: socket.socket | None = None
        self._accepting = threading.Thread()
        self._open: set[socket.socket] = set()

    def open(self) -> None:
        """Let through."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._accepting = threading.Thread(target=self._accept, args=[self._listener], daemon=True)
        self._accepting.start()

    def hang(self) -> None:
        """Accept connections, and answer none until the next call."""
        self.shut()
        self._listener = socket.create_server(("127.0.0.1", self.port))

    def shut(self) -> None:
        """Refuse new connections, and reset the open ones."""
        if self._listener is not None:
            _cut(self._listener)
            # The thread that was just accepted counts, too.
            if self._accepting.is_alive():
                self._accepting.join()
            self._listener = None
        while self._open:
            _cut(self._open.pop())

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self._open.add(client)
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                _cut(client)
                continue
            self._open.add(server)
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=pass_on, args=[source, sink], daemon=True).start()


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
