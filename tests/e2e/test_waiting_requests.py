"""Requests that wait for changes, in a real server: they occupy no thread of others, and end with it."""

import http.client
import signal
import threading
import time
from contextlib import closing
from typing import Any

import pytest

from tests.support.client import Client, Response
from tests.support.databases import on_sqlite
from tests.support.server import Server
from tests.support.waiting import wait_until

WAITING = 4
WAIT_SECONDS = 30
AT_ONCE = WAIT_SECONDS - 5


# One process with one thread, in which a single waiting request would hold up all others.
pytestmark = [
    pytest.mark.config(
        {
            "server": {"workers": 1, "threads": 1},
            # One user has half of them.
            "advanced": {"waiting_per_process": 2 * WAITING},
        }
    ),
    pytest.mark.extended,
]


class Waiting:
    """Requests that wait, each in a thread."""

    def __init__(self, client: Client, path: str) -> None:
        self.results: list[Any] = []
        self._client, self._path = client, path
        self._threads = [threading.Thread(target=self._run) for _ in range(WAITING)]
        for thread in self._threads:
            thread.start()
        # The next one is refused as soon as all of them wait.
        wait_until(lambda: client.request("GET", f"{path}&wait=1").status == 503)

    def _run(self) -> None:
        result, seconds = self._wait()
        # The request that finds out whether all wait may have the place of one of them; and on a busy
        # machine, the time of the first may be over before the last waits.
        while result.status == 503 or seconds >= WAIT_SECONDS:
            result, seconds = self._wait()
        self.results.append(result)

    def _wait(self) -> tuple[Response, float]:
        began = time.monotonic()
        result = self._client.request("GET", f"{self._path}&wait={WAIT_SECONDS}")
        return result, time.monotonic() - began

    def finish(self) -> None:
        for thread in self._threads:
            thread.join(AT_ONCE)
            assert not thread.is_alive()


@on_sqlite
def test_waiting_requests_hold_up_no_others_and_end_with_the_server(
    server: Server, client: Client
) -> None:
    tenant = client.make_tenant("Acme")
    waiting = Waiting(client, f"{tenant}/changes?cursor=0")
    assert client.files(tenant) == []
    committed_at = time.monotonic()
    client.upload(tenant, "one", b"x")
    waiting.finish()
    assert time.monotonic() - committed_at < AT_ONCE
    assert [[item["name"] for item in one.json()["data"]] for one in waiting.results] == [["one"]] * 4
    waiting = Waiting(client, f"{tenant}/changes?cursor=1")
    server.process.send_signal(signal.SIGTERM)
    waiting.finish()
    assert [one.json()["data"] for one in waiting.results] == [[]] * 4
    assert server.process.wait(AT_ONCE) == 0


def open_stream(client: Client, tenant: str) -> tuple[http.client.HTTPConnection, Any]:
    connection = client.connect()
    connection.request(
        "GET", f"{tenant}/changes", headers=client.headers({"Accept": "text/event-stream"})
    )
    response = connection.getresponse()
    assert (response.status, response.readline()) == (200, b"retry: 2000\n")
    return connection, response


@on_sqlite
def test_streams_get_changes_and_make_room_when_their_clients_leave(
    server: Server, client: Client
) -> None:
    tenant = client.make_tenant("Acme")
    streams = [open_stream(client, tenant) for _ in range(WAITING)]
    assert client.request("GET", f"{tenant}/changes?wait=1").status == 503
    client.upload(tenant, "one", b"x")
    for _, response in streams:
        # A comment may come first, if nothing has happened for a while.
        lines = iter(response.readline, b"")
        assert next(line for line in lines if line.startswith(b"event:")) == b"event: change\n"
        assert next(lines) == b"id: 1\n"
    for connection, _ in streams:
        connection.close()
    wait_until(lambda: client.request("GET", f"{tenant}/changes?wait=1").status == 200)
    connection, response = open_stream(client, tenant)
    with closing(connection):
        server.process.send_signal(signal.SIGTERM)
        assert b"event: reconnect" in response.read()
    assert server.process.wait(AT_ONCE) == 0
