"""Connections whose only purpose is to occupy limited resources of the server."""

import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tests.e2e.processes import held_remote_ports
from tests.support.client import TIMEOUT

TRICKLE_SECONDS = 1.0


@dataclass(frozen=True)
class Attack:
    """What each connection sends.

    Args:
        name: of the kind.
        opening: the bytes sent immediately.
        trickle: whether single bytes follow without end.
        receive_bytes: the size of the client's buffer, if it reads nothing.
    """

    name: str
    opening: bytes
    trickle: bool = False
    receive_bytes: int | None = None


def half_sent(path: str, length: int, *headers: str, body: bytes = b"{") -> bytes:
    """Return a request whose body does not come."""
    lines = [f"POST {path} HTTP/1.1", "Host: a", f"Content-Length: {length}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def attacks(token: str, large_file: str) -> list[Attack]:
    """Return every kind.

    Args:
        token: of a user who may upload.
        large_file: the path of a file of many megabytes that this user may download.
    """
    bearer = f"Authorization: Bearer {token}"
    json, raw = "Content-Type: application/json", "Content-Type: application/octet-stream"
    name = 'Content-Disposition: attachment; filename="a.bin"'
    upload = half_sent("/api/v1/files", 1_000_000, raw, name)
    allowed = half_sent(f"{large_file.rpartition('/')[0]}", 1_000_000, raw, name, bearer)
    # A server that refuses it for want of threads closes the connection, too.
    close = "Connection: close"
    download = f"GET {large_file}/download HTTP/1.1\r\nHost: a\r\n{bearer}\r\n{close}\r\n\r\n".encode()
    return [
        Attack("half a JSON body", half_sent("/authorizations", 4000, json)),
        Attack("a trickling JSON body", half_sent("/authorizations", 4000, json), trickle=True),
        Attack("half a large JSON body", half_sent("/authorizations", 400_000, json)),
        Attack("half an upload without a token", upload),
        Attack("a trickling upload with a token", allowed, trickle=True),
        Attack("a download that is not read", download, receive_bytes=4096),
        Attack("half a header", b"GET /livez HTTP/1.1\r\nHos", trickle=True),
    ]


class Hostile:
    """Open connections."""

    def __init__(self, connections: Sequence[socket.socket]) -> None:
        self._connections = connections

    def open_count(self) -> int:
        """Return how many a process of this machine still has at its end.

        The clients may not know: a kernel that drops one which reads nothing sends it nothing.
        """
        ours = {connection.getsockname()[1] for connection in self._connections}
        return len(ours & held_remote_ports())

    def answered_count(self) -> int:
        """Return how many the server has answered or closed."""
        return len(select.select(self._connections, [], [], 0)[0])

    def trickle(self, stopped: threading.Event) -> None:
        """Send a byte on each, again and again."""
        while not stopped.wait(TRICKLE_SECONDS):
            for connection in self._connections:
                try:
                    connection.send(b"x")
                except OSError:
                    continue


@contextmanager
def attacking(
    attack: Attack, port: int, count: int, context: ssl.SSLContext | None = None, addresses: int = 1
) -> Iterator[Hostile]:
    """Hold so many connections until the block ends.

    Args:
        attack: the bytes to send.
        port: of this machine.
        count: how many.
        context: for TLS.
        addresses: from how many addresses they come.
    """
    stopped = threading.Event()
    with ExitStack() as stack:
        connections = []
        for number in range(count):
            connection = _connect(attack, port, f"127.0.0.{1 + number % addresses}", context)
            connections.append(stack.enter_context(connection))
            connection.sendall(attack.opening)
        hostile = Hostile(connections)
        if attack.trickle:
            thread = threading.Thread(target=hostile.trickle, args=[stopped])
            thread.start()
            stack.callback(thread.join)
            stack.callback(stopped.set)
        yield hostile


def _connect(attack: Attack, port: int, address: str, context: ssl.SSLContext | None) -> socket.socket:
    connection = socket.socket()
    if attack.receive_bytes is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, attack.receive_bytes)
    connection.settimeout(TIMEOUT)
    connection.bind((address, 0))
    connection.connect(("127.0.0.1", port))
    return connection if context is None else context.wrap_socket(connection)


def percentile(act: Callable[[], object], times: int, percent: int) -> float:
    """Return the seconds within which so many of 100 calls end."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        act()
        taken.append(time.perf_counter() - started)
    return sorted(taken)[max(0, round(times * percent / 100) - 1)]
