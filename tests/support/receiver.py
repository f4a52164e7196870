"""A receiver of webhooks: verifies each message with the official library, and answers by a script."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

Answer = Callable[["Exchange"], None]


@dataclass(frozen=True)
class Message:
    """A message that arrived, ``at`` a time of :func:`time.monotonic`."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def is_signed_by(self, secret: str) -> bool:
        """Return whether the official library accepts it now."""
        try:
            Webhook(secret).verify(self.body, dict(self.headers))
        except WebhookVerificationError:
            return False
        return True


class Exchange(BaseHTTPRequestHandler):
    """One request to the receiver."""

    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            # The sender died in the middle of the request.
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.receiver.messages.append(Message(self.path, headers, body, time.monotonic()))
        with suppress(OSError):
            self.server.receiver.answers.get(self.path, says(204))(self)
        self.server.receiver.arrived.release()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


def says(status: int, body: bytes = b"", **headers: str) -> Answer:
    """Return an answer."""

    def answer(exchange: Exchange) -> None:
        exchange.send_response(status)
        for name, value in headers.items():
            exchange.send_header(name.replace("_", "-"), value)
        exchange.send_header("Content-Length", str(len(body)))
        exchange.end_headers()
        exchange.wfile.write(body)

    return answer


def half(exchange: Exchange) -> None:
    """Announce more than is sent, and close."""
    exchange.send_response(200)
    exchange.send_header("Content-Length", "100")
    exchange.end_headers()
    exchange.wfile.write(b"half")
    exchange.close_connection = True


def hangs(exchange: Exchange) -> None:
    """Send nothing, until the client gives up."""
    exchange.connection.recv(1)
    exchange.close_connection = True


def trickles(exchange: Exchange) -> None:
    """Send a byte now and then, until the client gives up."""
    exchange.send_response(200)
    exchange.send_header("Content-Length", "100000")
    exchange.end_headers()
    exchange.close_connection = True
    while True:
        exchange.wfile.write(b"x")
        threading.Event().wait(0.02)


@dataclass
class Receiver:
    """The messages that arrived, and the answers by path; 204 to all other paths."""

    port: int
    messages: list[Message] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def url(self, path: str = "/hook") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def ids(self, path: str) -> list[str]:
        return [message.id for message in self.messages if message.path == path]

    def of(self, path: str) -> list[Message]:
        return [message for message in self.messages if message.path == path]


class _Server(ThreadingHTTPServer):
    receiver: Receiver
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def receiving(port: int = 0) -> Iterator[Receiver]:
    """Receive webhooks until the block ends."""
    server = _Server(("127.0.0.1", port), Exchange)
    receiver = server.receiver = Receiver(server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
