"""Tokens on two server processes that share a database: a change at one applies to both immediately."""

import json
import shutil
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import update

from strongroom.identity.sessions.models import refresh_tokens
from strongroom_client import Client, MemoryTokens
from tests.e2e.offline import services
from tests.support.campaign import campaign_size
from tests.support.config import lifted
from tests.support.http import TIMEOUT_SECONDS, at_once
from tests.support.server import NODE, Server, serving, serving_nodes

SPENDERS = 32
ROUNDS = campaign_size("REFRESH_RACES", 8)
TABS = 8
TAB_ROUNDS = campaign_size("TAB_ROUNDS", 5)
THEFTS = campaign_size("THEFTS", 3)
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
    folder = tmp_path_factory.mktemp("nodes")
    with serving_nodes(folder, shared_database_url, lifted()) as (first, second):
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


def refresh_by_curl(nodes: tuple[Node, Node], token: str) -> list[dict[str, Any]]:
    """Refresh by processes of curl that know nothing of each other; return what each one printed."""
    body = json.dumps({"refreshToken": token})
    options = ("--silent", "--show-error", "--fail-with-body", "--json", body)
    tabs = [
        subprocess.Popen(
            ["curl", *options, f"{nodes[number % 2].server.url}/authorizations/refresh"],
            stdout=subprocess.PIPE,
        )
        for number in range(TABS)
    ]
    answers = [(tab.communicate(timeout=TIMEOUT_SECONDS)[0], tab.returncode) for tab in tabs]
    assert [status for _, status in answers] == [0] * TABS, answers
    return [json.loads(output) for output, _ in answers]


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_eight_tabs_of_curl_keep_their_login(nodes: tuple[Node, Node]) -> None:
    tokens = nodes[0].log_in()
    for round_number in range(TAB_ROUNDS):
        answers = refresh_by_curl(nodes, tokens["refreshToken"])
        assert len({answer["refreshToken"] for answer in answers}) == 1, round_number
        tokens = answers[-1]
        # A tab's access token is valid whichever tab was first.
        assert nodes[0].status(answers[round_number % TABS]["accessToken"]) == 200


def test_eight_tabs_of_the_python_client_keep_their_login(nodes: tuple[Node, Node]) -> None:
    """Each tab has its own copy of the tokens, and refreshes when its access token is refused."""
    login = MemoryTokens()
    with Client(nodes[0].server.url, tokens=login) as first:
        first.log_in(EMAIL, PASSWORD)
    tokens = login.load()
    assert tokens is not None
    stores = [MemoryTokens() for _ in range(TABS)]
    tabs = [Client(nodes[number % 2].server.url, tokens=store) for number, store in enumerate(stores)]
    for round_number in range(TAB_ROUNDS):
        for store in stores:
            store.save(msgspec.structs.replace(tokens, access_token="expired"))
        assert len({user.id for user in at_once([tab.me for tab in tabs])}) == 1
        kept = {loaded.refresh_token: loaded for store in stores if (loaded := store.load())}
        assert len(kept) == 1, round_number
        (tokens,) = kept.values()
    for tab in tabs:
        tab.close()


def end_grace(config: Path) -> None:
    """Let the seconds pass in which a used refresh token may be presented again."""
    with services(config) as container, container.database.write() as connection:
        used = refresh_tokens.c.used_at
        connection.execute(update(refresh_tokens).where(used.is_not(None)).values(used_at=used - 10_000))


@pytest.mark.parametrize("age", ["used 10 s ago", "two before the last"])
def test_a_stolen_token_ends_the_login_at_all_nodes(nodes: tuple[Node, Node], age: str) -> None:
    for owner, thief in (nodes, nodes[::-1]) * THEFTS:
        login, bystander = owner.log_in(), owner.log_in()
        family = [login, owner.refresh(login["refreshToken"]).body]
        if age == "used 10 s ago":
            end_grace(owner.server.config)
        else:
            family.append(owner.refresh(family[1]["refreshToken"]).body)
        # A thief has 32 hands.
        stolen = refresh_at_once((thief, owner), login["refreshToken"])
        assert {answer.code for answer in stolen} == {"error.token-invalid"}
        for node in nodes:
            assert [node.status(tokens["accessToken"]) for tokens in family] == [401] * len(family)
            assert node.refresh(family[-1]["refreshToken"]).code == "error.token-invalid"
            assert node.status(bystander["accessToken"]) == 200


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
