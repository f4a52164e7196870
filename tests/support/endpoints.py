"""Endpoints for tests of clients: one that records requests, and some that fail; with fixtures."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest


@dataclass
class Received:
    """Received requests as (method, headers, body); a ``status`` of 0 closes the connection."""

    endpoint: str
    status: int = 202
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{self.endpoint}/send"


class _Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received = Received(f"127.0.0.1:{self.server_address[1]}")


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        received = self.server.received
        body = self.rfile.read(int(self.headers["Content-Length"]))
        received.requests.append((self.command, dict(self.headers), body))
        if received.status:
            self.send_response(received.status)
            for name, value in received.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(received.body)

    def do_PUT(self) -> None:
        self.do_POST()

    def log_message(self, *args: object) -> None:
        """Leave the output to pytest."""


@contextmanager
def recording() -> Iterator[Received]:
    """Serve until the context is left."""
    with _Server() as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server.received
        server.shutdown()
        thread.join()


@pytest.fixture
def dead_endpoint() -> Iterator[str]:
    """An address without a listener: bound, so that no other process takes it meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


@pytest.fixture
def mute_endpoint() -> Iterator[str]:
    """An address that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def full_endpoint() -> Iterator[str]:
    """An address at which connections are never completed, since its queue of them is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, ExitStack() as waiting:
        for _ in range(2):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        yield f"127.0.0.1:{full.getsockname()[1]}"


@pytest.fixture
def received() -> Iterator[Received]:
    with recording() as received:
        yield received
