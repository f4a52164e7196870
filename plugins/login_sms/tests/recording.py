"""A generic gateway that records requests, and sends the responses of the test."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


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
