"""Shuts down the connection of a client, whose socket Granian does not show."""

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

_DESCRIPTORS: Final = Path("/proc/self/fd")


def shut_down(client: tuple[str, int], server_port: int) -> bool:
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
