"""When requests are repeated, against a server that refuses or hangs up."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from strongroom_client import ApiError, Client, ConnectionFailed, RateLimitedError, Retries, ServerError
from strongroom_client.api import tenants
from strongroom_client.models import NewTenant

PAGE = {"success": True, "data": [], "included": {}}
META = {"totalCount": 0, "pageSize": 1, "pageNumber": 1, "pageCount": 0, "isFirstPage": True}
REST = {"isLastPage": True, "hasPreviousPage": False, "previousPageLink": None, "hasNextPage": False}
EMPTY = json.dumps({**PAGE, "meta": {**META, **REST, "nextPageLink": None}}).encode()


@dataclass
class Script:
    """Statuses and headers of responses, in order; 0 closes the connection instead. Then 200."""

    answers: list[tuple[int, dict[str, str]]]
    requests: list[str] = field(default_factory=list)


@contextmanager
def scripted(*answers: tuple[int, dict[str, str]]) -> Iterator[tuple[Client, Script]]:
    script = Script(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            script.requests.append(self.command)
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, headers = script.answers.pop(0) if script.answers else (200, {})
            if status == 0:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(EMPTY)))
            self.end_headers()
            self.wfile.write(EMPTY)

        do_GET = do_POST = answer  # noqa: N815  names of the base class

        def log_message(self, *_: object) -> None:
            """Keep the output of tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        with Client(url, retries=Retries(first_wait=0)) as client:
            yield client, script
    finally:
        server.shutdown()
        server.server_close()


READ, WRITE = tenants.list_tenants(), tenants.create_tenant(body=NewTenant(name="Acme"))


@pytest.mark.parametrize("answer", [(0, {}), (429, {"Retry-After": "0"}), (503, {}), (502, {})])
def test_a_read_is_repeated(answer: tuple[int, dict[str, str]]) -> None:
    with scripted(answer, answer) as (client, script):
        assert client.send(READ).data == []
    assert script.requests == ["GET"] * 3


def test_attempts_are_limited() -> None:
    with scripted(*[(503, {})] * 9) as (client, script), pytest.raises(ServerError):
        client.send(READ)
    assert len(script.requests) == 4


def test_a_change_whose_response_was_lost_is_not_repeated() -> None:
    with scripted((0, {})) as (client, script), pytest.raises(ConnectionFailed):
        client.send(WRITE)
    assert script.requests == ["POST"]


def test_a_change_is_repeated_only_if_it_was_not_begun() -> None:
    with (
        scripted((429, {"Retry-After": "0"}), (503, {})) as (client, script),
        pytest.raises(ServerError),
    ):
        client.send(WRITE)
    assert script.requests == ["POST", "POST"]


def test_a_change_with_an_idempotency_key_is_repeated() -> None:
    keyed = tenants.create_tenant(body=NewTenant(name="Acme"), idempotency_key="once")
    with scripted((0, {}), *[(503, {})] * 9) as (client, script), pytest.raises(ServerError):
        client.send(keyed)
    assert script.requests == ["POST"] * 4
    running = ApiError(409, "error.idempotency-running", "", retry_after=1)
    assert Retries().wait_after(keyed, 1, running) == 1


def test_a_long_wait_is_left_to_the_caller() -> None:
    answer = (429, {"Retry-After": "3600"})
    with scripted(answer) as (client, script), pytest.raises(RateLimitedError) as raised:
        client.send(READ)
    assert raised.value.retry_after == 3600
    assert script.requests == ["GET"]


def test_the_time_of_the_server_is_waited_for() -> None:
    error = ApiError(429, "error.too-many-requests", "", retry_after=7)
    assert Retries().wait_after(READ, 1, error) == 7
    assert Retries(longest_wait=5).wait_after(READ, 1, error) is None


def test_an_error_of_a_proxy_has_a_class_by_its_status() -> None:
    with scripted((418, {"X-Request-Id": "abc"})) as (client, _), pytest.raises(ApiError) as raised:
        client.send(READ)
    assert (raised.value.status, raised.value.code) == (418, "error.unknown")
    assert raised.value.request_id == "abc"
