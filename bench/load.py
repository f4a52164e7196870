"""Generates load: each client sends the next request after the response to the previous one.

All clients share one thread with a selector. A request is built once, and only the status and length of
a response are parsed, so that the load generator leaves the processor to the server. Against a server in
C with a constant response it reaches 50,000 responses per second at 11 microseconds of processor time
each, three times the maximum of a bare Flask route on two cores. It used a quarter of a core with that
route, and a twentieth with Strongroom.
"""

import re
import selectors
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from bench.harness import Limit, Plan, Row, interleave
from bench.servers import HOST, Server
from bench.usage import processor_seconds

SILENCE_SECONDS: Final = 120
"""Timeout of a response."""

MakeRequest = Callable[[], bytes]
"""Gives a request; uploads need a name of its own for each."""

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_LAST_CHUNK: Final = b"0\r\n\r\n"
_SUCCESS: Final = re.compile(rb"HTTP/1\.[01] 20[016] ")
_ANSWER: Final = re.compile(rb"HTTP/1\.[01] (?:20[016]|302) ")
"""A conversation may have redirects, which it reads itself."""

_RECEIVE_BYTES: Final = 256 * 1024
_FEWEST_LATENCIES: Final = 2


@dataclass(frozen=True, slots=True)
class Load:
    """The number of responses, the elapsed seconds and the server's processor seconds."""

    answers: int
    seconds: float
    processor_seconds: float

    @classmethod
    def total(cls, loads: "Sequence[Load]") -> "Load":
        """Return the sum of several measurements of a server."""
        return cls(
            sum(load.answers for load in loads),
            sum(load.seconds for load in loads),
            sum(load.processor_seconds for load in loads),
        )

    @property
    def rate(self) -> float:
        """Responses per second."""
        return self.answers / self.seconds

    @property
    def cost(self) -> float:
        """Milliseconds of processor time per response."""
        return self.processor_seconds / self.answers * 1000


def build_request(method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """Return a request as it goes over the wire."""
    fields = {"Host": HOST, **headers, "Content-Length": str(len(body))}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Conversation(Protocol):
    """A client whose requests depend on the responses before."""

    def request(self) -> bytes:
        """Return the next request."""

    def receive(self, head: bytes, body: bytes) -> None:
        """Receive the response, which has a Content-Length."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A server, and the request that is repeated."""

    name: str
    server: Server
    request: bytes | MakeRequest


def side_by_side(plan: Plan, name: str, clients: int, ours: Contender, *others: Contender) -> list[Row]:
    """Load Strongroom and the others alternately with this number of clients, and compare them."""
    loads, *theirs = interleave(
        plan.rounds,
        *(
            partial(generate, contender.server, contender.request, clients=clients, seconds=plan.seconds)
            for contender in (ours, *others)
        ),
    )
    return compare(name, loads, {other.name: load for other, load in zip(others, theirs, strict=True)})


def compare(name: str, loads: Sequence[Load], others: Mapping[str, Sequence[Load]]) -> list[Row]:
    """Return the rate and the processor time of responses, compared with each other contender.

    Other load on the machine reduces the rate, but hardly affects the processor time.
    """
    rates, costs = [load.rate for load in loads], [load.cost for load in loads]
    rows = []
    for other, theirs in others.items():
        rows.append(Row(name, "/s", rates, Limit(other, [load.rate for load in theirs])))
        cost = Limit(other, [load.cost for load in theirs])
        rows.append(Row(f"{name}: processor time", "ms", costs, cost, is_cost=True))
    return rows


def generate(server: Server, request: bytes | MakeRequest, *, clients: int, seconds: float) -> Load:
    """Repeat a request with several clients; wait for every response and count it.

    Raises:
        RuntimeError: a response has an error status.
        TimeoutError: the server does not respond.
    """
    make = request if callable(request) else lambda: request
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        waiting = [stack.enter_context(_Client(server.port, make)) for _ in range(clients)]
        return _load(server, selector, waiting, seconds)


def latencies(server: Server, request: bytes, *, seconds: float) -> list[float]:
    """Repeat a request with one client, and return the seconds of each response.

    Continues past the deadline until there are two, because percentiles need at least two.

    Raises:
        RuntimeError: a response has an error status.
        TimeoutError: the server does not respond.
    """
    taken: list[float] = []
    deadline = time.perf_counter() + seconds
    with _Client(server.port, lambda: request) as client:
        while (sent := time.perf_counter()) < deadline or len(taken) < _FEWEST_LATENCIES:
            client.send()
            while not client.receive():
                pass
            taken.append(time.perf_counter() - sent)
    return taken


def _load(
    server: Server, selector: selectors.BaseSelector, clients: "Sequence[_Client]", seconds: float
) -> Load:
    for client in clients:
        selector.register(client, selectors.EVENT_READ, client)
    spent, started = processor_seconds(server.pid), time.perf_counter()
    for client in clients:
        client.send()
    answers = _keep_sending(selector, started + seconds)
    taken = time.perf_counter() - started
    return Load(answers, taken, processor_seconds(server.pid) - spent)


def _keep_sending(selector: selectors.BaseSelector, deadline: float) -> int:
    answers = 0
    while selector.get_map():
        readable = selector.select(SILENCE_SECONDS)
        if not readable:
            raise TimeoutError("the server does not respond")
        for key, _ in readable:
            if not key.data.receive():
                continue
            answers += 1
            if time.perf_counter() < deadline:
                key.data.send()
            else:
                selector.unregister(key.fileobj)
    return answers


def converse(server: Server, conversations: Sequence[Conversation], *, seconds: float) -> Load:
    """Let clients have conversations at the same time; count the responses.

    Raises:
        RuntimeError: a response has an error status.
        TimeoutError: the server does not respond.
    """
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        waiting = [
            stack.enter_context(_Client(server.port, each.request, each.receive))
            for each in conversations
        ]
        return _load(server, selector, waiting, seconds)


class _Client:
    """A keep-alive connection."""

    def __init__(
        self,
        port: int,
        make_request: MakeRequest,
        use_answer: Callable[[bytes, bytes], None] | None = None,
    ) -> None:
        self._socket = socket.create_connection((HOST, port), timeout=SILENCE_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._make_request = make_request
        self._use_answer = use_answer
        self._body = b""
        self._buffer = bytearray(_RECEIVE_BYTES)
        self._head = b""
        self._missing: int | None = None

    def __enter__(self) -> "_Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self) -> None:
        self._socket.sendall(self._make_request())

    def receive(self) -> bool:
        """Read the available bytes, and return whether the response is complete."""
        count = self._socket.recv_into(self._buffer)
        if not count:
            raise RuntimeError(f"the server hung up after {self._head[:500]!r}")
        if self._missing is None:
            self._begin(bytes(memoryview(self._buffer)[:count]))
        elif self._missing < 0:
            self._go_on(bytes(memoryview(self._buffer)[:count]))
        else:
            self._missing -= count
            if self._use_answer:
                self._body += memoryview(self._buffer)[:count]
        if self._missing:
            return False
        complete = self._missing == 0
        if complete and self._use_answer:
            self._use_answer(self._head.partition(b"\r\n\r\n")[0], self._body)
        if complete:
            self._head, self._missing = b"", None
        return complete

    def _begin(self, arrived: bytes) -> None:
        self._head += arrived
        head, end, body = self._head.partition(b"\r\n\r\n")
        if not end:
            return
        length, is_chunked = _LENGTH.search(head), _CHUNKED.search(head)
        expected = _ANSWER if self._use_answer else _SUCCESS
        if not (length or is_chunked) or not expected.match(head):
            raise RuntimeError(f"unexpected answer: {self._head[:500]!r}")
        if length:
            self._missing = int(length[1]) - len(body)
            self._body = body
        else:
            self._go_on(body)

    def _go_on(self, body: bytes) -> None:
        """Read more of a response of unknown length; -1 stands for the missing length."""
        self._head = (self._head + body)[-len(_LAST_CHUNK) :]
        self._missing = 0 if self._head == _LAST_CHUNK else -1
