"""Answers are bounded in size and in time, and no redirect is followed."""

import gzip
import logging
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from strongroom_login_oauth.client import Json, JsonClient
from strongroom_login_oauth.errors import ProviderUnavailable

Respond = Callable[[BaseHTTPRequestHandler], None]


class Server:
    """A server on loopback whose answers a test chooses."""

    def __init__(self) -> None:
        self.respond: Respond = lambda handler: self.send(handler, b"{}")
        self.paths: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.paths.append(self.path)
                outer.respond(self)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @staticmethod
    def send(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def client(server: Server) -> Iterator[JsonClient]:
    client = JsonClient(server.url, connect_timeout=1, read_timeout=0.5, max_bytes=1000)
    yield client
    client.close()


def test_a_connection_serves_several_answers(server: Server, client: JsonClient) -> None:
    server.respond = lambda handler: server.send(handler, b'{"n": %d}' % handler.client_address[1])
    ports = {client.get("/a").integer("n") for _ in range(3)}
    assert len(ports) == 1


@pytest.mark.parametrize("size", [1001, 2_000_000])
def test_an_answer_that_is_too_large_is_refused(server: Server, client: JsonClient, size: int) -> None:
    server.respond = lambda handler: server.send(handler, b" " * size)
    with pytest.raises(ProviderUnavailable, match="AnswerTooLarge"):
        client.get("/a")


def test_the_limit_counts_the_decompressed_bytes(server: Server, client: JsonClient) -> None:
    bomb = gzip.compress(b" " * 5_000_000)
    server.respond = lambda handler: server.send(handler, bomb, Content_Encoding="gzip")
    with pytest.raises(ProviderUnavailable, match="AnswerTooLarge"):
        client.get("/a")


def test_an_answer_of_the_limit_is_complete(server: Server, client: JsonClient) -> None:
    server.respond = lambda handler: server.send(handler, b'{"a": 1}'.ljust(1000))
    assert client.get("/a").integer("a") == 1


def drip(handler: BaseHTTPRequestHandler, beginning: bytes) -> None:
    handler.close_connection = True
    try:
        handler.wfile.write(beginning)
        for _ in range(100):
            handler.wfile.write(b"a")
            time.sleep(0.05)
    except OSError:
        pass


@pytest.mark.parametrize(
    "beginning",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Header: ",
        b"HTTP",
    ],
    ids=["body", "header", "status line"],
)
def test_one_time_limit_holds_for_the_whole_answer(
    server: Server, client: JsonClient, beginning: bytes
) -> None:
    server.respond = lambda handler: drip(handler, beginning)
    began = time.monotonic()
    with pytest.raises(ProviderUnavailable, match="Timeout"):
        client.get("/a")
    assert 0.4 < time.monotonic() - began < 4


def test_a_redirect_is_not_followed(server: Server, client: JsonClient) -> None:
    server.respond = lambda handler: server.send(handler, b"", 302, Location=f"{server.url}/other")
    with pytest.raises(ProviderUnavailable, match="status 302"):
        client.get("/a")
    assert server.paths == ["/a"]


def test_a_cookie_is_not_sent_back(server: Server, client: JsonClient) -> None:
    cookies = []

    def respond(handler: BaseHTTPRequestHandler) -> None:
        cookies.append(handler.headers["Cookie"])
        server.send(handler, b"{}", Set_Cookie="person=1")

    server.respond = respond
    client.get("/a")
    client.get("/a")
    assert cookies == [None, None]


def test_a_closed_connection_names_no_secret(
    server: Server, client: JsonClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.close()
    with pytest.raises(ProviderUnavailable) as refusal:
        client.get("/a", {"secret": "hush-hush"})
    assert "hush" not in f"{refusal.value} {refusal.value.__context__} {caplog.text}"


def test_the_log_of_requests_has_no_secret(
    server: Server, client: JsonClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    client.get("/a", {"corpsecret": "hush-hush", "access_token": "hush-hush"})
    assert server.paths == ["/a?corpsecret=hush-hush&access_token=hush-hush"]
    assert "/a?" in caplog.text
    assert "hush" not in caplog.text


def test_the_base_url_is_encrypted_or_of_this_machine() -> None:
    with pytest.raises(ValueError, match="https://"):
        JsonClient("http://api.example.com")
    JsonClient("https://api.example.com").close()


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"null", b"1", b"\xff{}", b"<html>", b"[" * 100_000, b'{"a": ' * 50_000, b'{"a"'],
    ids=lambda body: str(body[:9]),
)
def test_an_answer_that_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(ProviderUnavailable, match="no JSON object"):
        Json.decode("/a", body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": 1, "a": 2}',
        b'{"x": {"a": 1, "\\u0061": 2}}',
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": "\\ud800"}',
    ],
)
def test_an_answer_that_parsers_read_differently_is_refused(body: bytes) -> None:
    with pytest.raises(ProviderUnavailable, match="no JSON object"):
        Json.decode("/a", body)


@pytest.mark.parametrize("value", [1, True, [], {}, "a\0", "\ud800"])
def test_a_text_is_one_that_every_database_stores(value: object) -> None:
    with pytest.raises(ProviderUnavailable, match="'a'"):
        Json("/a", {"a": value}).text("a")


@pytest.mark.parametrize("value", [None, True, 1.5, "x", [], {}, "9" * 5000, 2**53, "-9007199254740992"])
def test_an_integer_is_one(value: object) -> None:
    with pytest.raises(ProviderUnavailable, match="'a'"):
        Json("/a", {"a": value}).integer("a")
