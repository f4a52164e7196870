"""A key reaches one folder: whatever an agent calls, nothing outside of it is in a result."""

import json
import random
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final

import pytest
from tests.support.agents import PLUGINS_WITH_LOGIN, Agent, Office, modern_headers, modern_message
from tests.support.api import Api
from tests.support.campaign import campaign_size
from tests.support.databases import on_sqlite

pytestmark = [
    on_sqlite,
    pytest.mark.config(
        {"plugins": {"enabled": PLUGINS_WITH_LOGIN, "mcp": {"max_calls_per_minute": 100_000}}}
    ),
]

CALLS: Final = campaign_size("MCP_CALLS", 2000)
MESSAGES: Final = campaign_size("MCP_MESSAGES", 300)
SEED: Final = 20261129


@pytest.fixture
def office(api: Api) -> Office:
    return Office.made(api)


def ids_in(value: Any) -> set[str]:
    """Return all texts in a result that may be ids."""
    return {*str(value).replace("/", " ").replace("'", " ").replace('"', " ").split()}


AGENTS: Final = pytest.mark.parametrize(
    "make_agent", [Office.agent, Office.client], ids=["key", "token"]
)


@AGENTS
def test_two_agents_of_a_user_reach_their_own_folders(
    office: Office, make_agent: Callable[..., Agent]
) -> None:
    mine, secret = office.file("a.txt", b"needle"), office.file("b.txt", b"needle", office.other)
    first, second = make_agent(office), make_agent(office, folder=office.other)
    for agent, own, foreign in ((first, mine, secret), (second, secret, mine)):
        assert agent.tool("files_read", fileId=own["id"]).text == "needle"
        assert agent.tool("files_read", fileId=foreign["id"]).is_error
        for found in (
            agent.tool("files_grep", text="needle").data["matches"],
            agent.tool("files_search", text="txt").data["files"],
        ):
            assert [item["name"] for item in found] == [own["name"]]


class Calls:
    """Random calls with ids from inside and outside of the folder, and with invented ones."""

    def __init__(self, office: Office, seed: int) -> None:
        self.random = random.Random(seed)
        outside = [office.file(f"out{n}.txt", b"needle outside", office.other)["id"] for n in range(3)]
        stranger = office.api.tenant(office.user, "Other")
        far = office.api.upload(stranger, office.user, "far.txt", b"needle far")["id"]
        self.outside = {office.other, *outside, far, stranger.rpartition("/")[2]}
        inside = [office.file(f"in{n}.txt", b"needle inside", office.deeper)["id"] for n in range(3)]
        self.ids = [*self.outside, *inside, office.folder, office.deeper, office.tenant_id, "x", ""]
        self.texts = [
            "needle",
            "txt",
            "out",
            "Secrets",
            "a/b",
            "..",
            "Secrets/out0.txt",
            "",
            "\0",
            "é" * 99,
        ]

    def arguments(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments of the right types, mostly."""
        names = self.random.sample([*schema], self.random.randint(0, len(schema)))
        return {name: self.value(name, schema[name]) for name in names}

    def value(self, name: str, schema: Mapping[str, Any]) -> Any:
        if self.random.random() < 0.05:
            return self.random.choice([None, [], {}, -1, 2**70, True, 1.5])
        if name.endswith("Id"):
            return self.random.choice(self.ids)
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        if schema["type"] == "integer":
            return self.random.choice([0, 1, 2, 100, schema.get("maximum", 5)])
        return self.random.choice([True, False] if schema["type"] == "boolean" else self.texts)


@AGENTS
def test_random_calls_return_no_node_outside(
    office: Office, make_agent: Callable[[Office], Agent]
) -> None:
    calls, agent = Calls(office, SEED), make_agent(office)
    tools = agent.result("tools/list")["tools"]
    before = office.api.get(f"{office.path}/owners/me/files", by=office.user).json["data"]
    leaks, failures, successes = [], [], 0
    for _ in range(CALLS):
        tool = calls.random.choice(tools)
        arguments = calls.arguments(tool["inputSchema"]["properties"])
        params = {"name": tool["name"], "arguments": arguments}
        if calls.random.random() < 0.1:
            uri = f"strongroom://{calls.random.choice(calls.ids)}/{calls.random.choice(calls.ids)}"
            answer = agent.ask("resources/read", uri=uri)
        else:
            answer = agent.ask("tools/call", **params)
        result = answer.json.get("result", {})
        is_success = answer.status_code == 200 and not result.get("isError")
        successes += is_success
        if answer.status_code >= 500:
            failures.append((params, answer.text))
        is_id_outside = is_success and ids_in(answer.json) & calls.outside
        if is_id_outside or "outside" in str(result.get("content")):
            leaks.append((params, answer.text))
    assert (leaks, failures) == ([], [])
    assert successes > CALLS / 20
    after = office.api.get(f"{office.path}/owners/me/files", by=office.user).json["data"]
    assert [item["id"] for item in before] == [item["id"] for item in after]


def test_malformed_requests_are_no_errors_of_the_server(office: Office) -> None:
    agent, chance = office.agent(), random.Random(SEED)
    statuses: dict[int, int] = {}
    for _ in range(MESSAGES):
        body, headers = malformed(chance)
        answer = agent.send(body, **headers)
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
        assert answer.status_code < 500, (body[:200], headers, answer.text)
    assert sum(statuses.values()) == MESSAGES
    assert statuses.keys() - {200, 202} == {400, 404, 406, 415}


VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    2**70,
    1.5,
    "",
    "\0",
    "x" * 3000,
    "\ud800",
    [],
    {},
    [[]],
    {"a": {}},
    "é",
)
METHODS: Final = (
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "notifications/cancelled",
    "constructor",
)


def malformed(chance: random.Random) -> tuple[bytes, dict[str, str]]:
    """Return the body and headers of a request with up to four faults."""
    method = chance.choice(METHODS)
    params: dict[str, Any] = {"name": "files_list", "arguments": {"page": 1}, "uri": "strongroom://a/b"}
    message = modern_message(method, params)
    headers = modern_headers(method, params)
    for _ in range(chance.randint(1, 4)):
        spoil(chance, message, headers)
    body = json.dumps(message).encode()
    if chance.random() < 0.2:
        cut = chance.randrange(len(body))
        body = body[:cut] + bytes([chance.randrange(256)]) + body[cut + chance.randint(0, 2) :]
    return body, headers


def spoil(chance: random.Random, message: dict[str, Any], headers: dict[str, str]) -> None:
    """Replace or remove a member at any depth, or a header."""
    if chance.random() < 0.3:
        name = chance.choice([*headers, "Content-Type", "Origin-Agent"])
        headers[name] = chance.choice(
            ["", "x", "2026-07-28", "=?base64?eA==?=", "=?base64?===?=", "é" * 9]
        )
        return
    place: Any = message
    while True:
        name = chance.choice([*place])
        inner = place[name]
        if isinstance(inner, dict) and inner and chance.random() < 0.8:
            place = inner
            continue
        if chance.random() < 0.3 and len(place) > 1:
            del place[name]
        else:
            place[name] = deepcopy(chance.choice(VALUES))
        return
