"""The contract that every message sender holds to, and what this one promises beyond it."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from strongroom.plugin_api.messages import MessageNotSent
from strongroom.testing.messages import (
    Arrival,
    Delivered,
    MessageSenderContract,
    new_message,
)

from strongroom_sender_drawer.options import DrawerOptions
from strongroom_sender_drawer.sender import DrawerSender

TOKEN = "of-these-tests"


class Gateway(ThreadingHTTPServer):
    """Takes messages from who knows the token."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.arrivals: list[Arrival] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/send"


class Handler(BaseHTTPRequestHandler):
    server: Gateway

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = self.headers["Authorization"] == f"Bearer {TOKEN}"
        if known:
            self.server.arrivals.append(Arrival(message["to"], message["text"]))
        self.send_response(202 if known else 403)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keep the output of tests to themselves."""


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with Gateway() as gateway:
        thread = threading.Thread(target=gateway.serve_forever)
        thread.start()
        yield gateway
        gateway.shutdown()
        thread.join()


class TestDrawerSender(MessageSenderContract):
    @pytest.fixture
    def sender(self, gateway: Gateway) -> DrawerSender:
        return DrawerSender(DrawerOptions(url=gateway.url, token=TOKEN))

    @pytest.fixture
    def unreachable_sender(self) -> Iterator[DrawerSender]:
        # Bound and not listening: nobody else is given the port, and nobody answers.
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{taken.getsockname()[1]}/send"
            yield DrawerSender(DrawerOptions(url=url, token=TOKEN))

    @pytest.fixture
    def delivered(self, gateway: Gateway) -> Delivered:
        return lambda: list(gateway.arrivals)

    def test_a_gateway_that_refuses_is_message_not_sent(self, gateway: Gateway) -> None:
        options = DrawerOptions(url=gateway.url, token="another")
        stranger = DrawerSender(options)
        with pytest.raises(MessageNotSent, match="answered 403") as failure:
            stranger.send(new_message("sms"))
        assert not failure.value.retryable


def test_a_url_that_is_none_is_refused_before_the_start() -> None:
    with pytest.raises(ValueError, match="url: must begin with"):
        DrawerOptions(url="sms.example", token=TOKEN)
