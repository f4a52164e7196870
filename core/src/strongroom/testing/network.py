"""A network that loses the end of what a server sends."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_PIECE: Final = 16 * 1024


@contextmanager
def cut_answers(port: int, after: int) -> Iterator[int]:
    """Pass connections on to a port of this machine until the block ends, and yield the proxy's port.

    A connection is closed in an orderly way after so many bytes from the server, as by a server or a
    load balancer that ends, so that only the announced length reveals that bytes are missing.

    Args:
        port: the port of the server.
        after: the number of bytes.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_accept, args=(listener, port, after), daemon=True).start()
        yield listener.getsockname()[1]
        # Closing a socket does not end a thread that waits for its connections.
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, port: int, after: int) -> None:
    with suppress(OSError):
        while True:
            client = listener.accept()[0]
            threading.Thread(target=_relay, args=(client, port, after), daemon=True).start()


def _relay(client: socket.socket, port: int, after: int) -> None:
    with suppress(OSError), client, socket.create_connection(("127.0.0.1", port)) as server:
        threading.Thread(target=_pass_on, args=(client, server), daemon=True).start()
        _pass_on(server, client, after)


def _pass_on(source: socket.socket, target: socket.socket, left: int | None = None) -> None:
    with suppress(OSError):
        while piece := source.recv(_PIECE if left is None else min(left, _PIECE)):
            target.sendall(piece)
            left = None if left is None else left - len(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
