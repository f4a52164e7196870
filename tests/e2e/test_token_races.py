"""Tokens on two server processes that share a database: a change at one applies to both immediately."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import TIMEOUT_SECONDS
from tests.support.server import NODE, Server, serving, serving_nodes

SPENDERS = 32
ROUNDS = 8
EMAIL, PASSWORD = "alice@example.com", "Correct1Horse"
ME = "/users/me/authorizations"


@dataclass
class Answer:
    """A response of a server."""

    status: int
    body: dict[str, Any]

    @property
    def code(self) -> str:
        """The code of the error."""
        return str(self.body["error"]["code"])


@dataclass
class Node:
    """A server process that others share a database with."""

    server: Server

    def send(self, method: str, path: str, body: object = None, token: str | None = None) -> Answer:
        """Send a request over a connection of its own."""
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.server.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                return Answer(response.status, json.load(response))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, json.load(error))

    def log_in(self) -> dict[str, Any]:
        """Log alice in and return her tokens."""
        answer = self.send("POST", "/authorizations", {"username": EMAIL, "password": PASSWORD})
        assert answer.status == 200, answer
        return answer.body

    def refresh(self, token: str) -> Answer:
        """Spend a refresh token."""
        return self.send("POST", "/authorizations/refresh", {"refreshToken": token})

    def status(self, token: str) -> int:
        """Return the status that an access token gets."""
        return self.send("GET", ME, token=token).status


pytestmark = [pytest.mark.config(NODE), pytest.mark.extended]


@pytest.fixture(scope="module")
def nodes(
    tmp_path_factory: pytest.TempPathFactory, shared_database_url: str
) -> Iterator[tuple[Node, Node]]:
    """Two server processes with the same database, keys and files, each at a port of its own."""
    with serving_nodes(tmp_path_factory.mktemp("nodes"), shared_database_url) as (first, second):
        first.create_user(EMAIL, PASSWORD)
        yield Node(first), Node(second)


def refresh_at_once(nodes: tuple[Node, Node], token: str) -> list[Answer]:
    """Spend a refresh token many times concurrently, alternating between the nodes."""
    start = threading.Barrier(SPENDERS)

    def refresh(number: int) -> Answer:
        start.wait(timeout=TIMEOUT_SECONDS)
        return nodes[number % len(nodes)].refresh(token)

    with ThreadPoolExecutor(SPENDERS) as pool:
        return list(pool.map(refresh, range(SPENDERS)))


def test_all_who_use_one_refresh_token_at_once_get_the_same_successor(
    nodes: tuple[Node, Node],
) -> None:
    first, second = nodes
    bystander, oldest = first.log_in(), first.log_in()
    tokens = oldest
    for _ in range(ROUNDS):
        answers = refresh_at_once(nodes, tokens["refreshToken"])
        assert [answer.status for answer in answers] == [200] * SPENDERS
        assert len({answer.body["refreshToken"] for answer in answers}) == 1
        tokens = answers[0].body
        for node in nodes:
            assert node.status(tokens["accessToken"]) == 200
    # A token before the last one is a thief's.
    assert second.refresh(oldest["refreshToken"]).code == "error.token-invalid"
    assert first.refresh(tokens["refreshToken"]).status == 401
    assert second.status(bystander["accessToken"]) == 200


def test_a_refresh_and_a_logout_at_once_leave_no_good_token(nodes: tuple[Node, Node]) -> None:
    first, second = nodes
    for _ in range(ROUNDS):
        tokens = first.log_in()
        with ThreadPoolExecutor(2) as pool:
            refreshed = pool.submit(first.refresh, tokens["refreshToken"])
            ended = pool.submit(
                second.send, "DELETE", "/authorizations/current", token=tokens["accessToken"]
            )
        assert ended.result().status == 200
        answer = refreshed.result()
        assert answer.status in (200, 401)
        given = [tokens["accessToken"], *([answer.body["accessToken"]] if answer.status == 200 else [])]
        assert [node.status(token) for node in nodes for token in given] == [401] * 2 * len(given)


@pytest.mark.parametrize("end", ["current", "all"])
def test_a_revocation_that_was_answered_holds_at_every_process_at_once(
    nodes: tuple[Node, Node], end: str
) -> None:
    path = "/authorizations/current" if end == "current" else ME
    for one, other in (nodes, nodes[::-1]) * 4:
        tokens = one.log_in()
        assert other.status(tokens["accessToken"]) == 200
        assert one.send("DELETE", path, token=tokens["accessToken"]).status == 200
        assert other.status(tokens["accessToken"]) == one.status(tokens["accessToken"]) == 401
        assert other.refresh(tokens["refreshToken"]).code == "error.token-invalid"


def test_a_new_key_of_one_process_is_good_at_the_other_at_once(nodes: tuple[Node, Node]) -> None:
    first, second = nodes
    given = [first.log_in()["accessToken"]]
    for _ in range(3):
        first.server.command("keys", "rotate")
        given.append(first.log_in()["accessToken"])
        assert second.status(given[-1]) == 200
    assert len({token.split(".")[0] for token in given}) == 4
    assert [second.status(token) for token in given] == [200] * 4


@pytest.mark.config({**NODE, "tokens": {"refresh_reuse_seconds": 0}})
def test_a_restart_revives_nothing(server_config: Path) -> None:
    with serving(server_config) as server:
        node = Node(server)
        server.create_user(EMAIL, PASSWORD)
        alive, ended, rotated = node.log_in(), node.log_in(), node.log_in()
        assert node.send("DELETE", "/authorizations/current", token=ended["accessToken"]).status == 200
        child = node.refresh(rotated["refreshToken"]).body
    with serving(server_config) as server:
        node = Node(server)
        assert node.status(alive["accessToken"]) == node.status(child["accessToken"]) == 200
        assert node.status(ended["accessToken"]) == node.refresh(ended["refreshToken"]).status == 401
        assert node.refresh(rotated["refreshToken"]).status == 401
        assert node.status(child["accessToken"]) == node.refresh(child["refreshToken"]).status == 401
        assert node.refresh(alive["refreshToken"]).status == 200
