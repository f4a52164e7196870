"""Generates load: clients that each send the next request once the last was answered.

All clients share one thread that waits for whichever socket is readable. A request is built once, and
of an answer only the status and the length are looked at, so that the load leaves the machine to the
server: against one written in C that answers with fixed bytes it reaches 50,000 answers a second at 11
microseconds of processor time each, three times what a bare Flask route on two cores can take. It took
a quarter of a core beside that route, and a twentieth beside Strongroom.
"""

import re
import selectors
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from bench.harness import Limit, Row
from bench.servers import HOST, Server
from bench.usage import processor_seconds

SILENCE_SECONDS: Final = 30
"""How long a server may say nothing before it is given up."""

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Load:
    """What was answered, in how many seconds, and how many of a processor's it took the server."""

    answers: int
    seconds: float
    processor_seconds: float

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds

    @property
    def cost(self) -> float:
        """Milliseconds of processor time for an answer."""
        return self.processor_seconds / self.answers * 1000


def build_request(method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """Return a request as it goes over the wire."""
    fields = {"Host": HOST, **headers, "Content-Length": str(len(body))}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def compare(name: str, loads: Sequence[Load], limit: str, limit_loads: Sequence[Load]) -> list[Row]:
    """Return how fast answers came beside a limit, and what they cost.

    What else the machine does takes from the speed, and next to nothing from the cost.
    """
    rates = Limit(limit, [load.rate for load in limit_loads])
    costs = Limit(limit, [load.cost for load in limit_loads])
    return [
        Row(name, "/s", [load.rate for load in loads], rates),
        Row(f"{name}: processor time", "ms", [load.cost for load in loads], costs, is_cost=True),
    ]


def generate(server: Server, request: bytes, *, clients: int, seconds: float) -> Load:
    """Let clients send a request again and again; each one sent is answered, and counted.

    Raises:
        RuntimeError: an answer is not 200.
        TimeoutError: the server does not answer.
    """
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        waiting = [stack.enter_context(_Client(server.port, request)) for _ in range(clients)]
        for client in waiting:
            selector.register(client, selectors.EVENT_READ, client)
        spent, started = processor_seconds(server.pid), time.perf_counter()
        for client in waiting:
            client.send()
        answers = _keep_sending(selector, started + seconds)
        taken = time.perf_counter() - started
        return Load(answers, taken, processor_seconds(server.pid) - spent)


def _keep_sending(selector: selectors.BaseSelector, deadline: float) -> int:
    answers = 0
    while selector.get_map():
        readable = selector.select(SILENCE_SECONDS)
        if not readable:
            raise TimeoutError("the server does not answer")
        for key, _ in readable:
            if not key.data.receive():
                continue
            answers += 1
            if time.perf_counter() < deadline:
                key.data.send()
            else:
                selector.unregister(key.fileobj)
    return answers


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
