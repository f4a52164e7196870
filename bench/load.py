"""Generates load: clients that each send the next request once the last was answered.

All clients share one thread that waits for whichever socket is readable. A request is built once, and
of an answer only the status and the length are looked at, so that the load leaves the machine to the
server.
"""

import re
import selectors
import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

HOST: Final = "127.0.0.1"
SILENCE_SECONDS: Final = 30
"""How long a server may say nothing before it is given up."""

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Load:
    """What was answered, and in how many seconds."""

    requests: int
    seconds: float

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.requests / self.seconds


def build_request(method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """Return a request as it goes over the wire."""
    fields = {"Host": HOST, **headers, "Content-Length": str(len(body))}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def generate(port: int, request: bytes, *, clients: int, seconds: float) -> Load:
    """Let clients send a request again and again; each one sent is answered, and counted.

    Raises:
        RuntimeError: an answer is not 200.
        TimeoutError: the server does not answer.
    """
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        waiting = [stack.enter_context(_Client(port, request)) for _ in range(clients)]
        for client in waiting:
            selector.register(client, selectors.EVENT_READ, client)
        started = time.perf_counter()
        for client in waiting:
            client.send()
        requests = _keep_sending(selector, started + seconds)
        return Load(requests, time.perf_counter() - started)


def _keep_sending(selector: selectors.BaseSelector, deadline: float) -> int:
    requests = 0
    while selector.get_map():
        readable = selector.select(SILENCE_SECONDS)
        if not readable:
            raise TimeoutError("the server does not answer")
        for key, _ in readable:
            if not key.data.receive():
                continue
            requests += 1
            if time.perf_counter() < deadline:
                key.data.send()
            else:
                selector.unregister(key.fileobj)
    return requests


class _Client:
    """A connection that is kept."""

    def __init__(self, port: int, request: bytes) -> None:
        self._socket = socket.create_connection((HOST, port), timeout=SILENCE_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._request = request
        self._received = b""

    def __enter__(self) -> "_Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self) -> None:
        self._socket.sendall(self._request)

    def receive(self) -> bool:
        """Take what has arrived, and return whether the answer is complete."""
        arrived = self._socket.recv(65536)
        self._received += arrived
        head, end, body = self._received.partition(b"\r\n\r\n")
        length = _LENGTH.search(head) if end else None
        if not arrived or (end and (length is None or b" 200 " not in head[:13])):
            raise RuntimeError(f"unexpected answer: {self._received[:500]!r}")
        if length is None or len(body) < int(length[1]):
            return False
        self._received = b""
        return True
