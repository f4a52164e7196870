"""The protocol over HTTP: revisions, headers, errors, and who is refused."""

import json
from typing import Any

import pytest
from tests.support.agents import (
    PLUGINS,
    Agent,
    Office,
    make_key,
    modern_headers,
    modern_message,
)
from tests.support.api import Api, Person, error_code
from tests.support.databases import on_sqlite

from strongroom_mcp.protocol.revisions import (
    CAPABILITIES_KEY,
    HANDSHAKE,
    SERVER_KEY,
    SUPPORTED,
    VERSION_KEY,
)

SITE = "http://files.example"

pytestmark = [
    on_sqlite,
    pytest.mark.config(
        {
            "plugins": {"enabled": PLUGINS, "mcp": {"origins": ["https://agent.example"]}},
            "server": {"public_url": SITE},
        }
    ),
]

DISCOVER = modern_message("server/discover", {})
HEADERS = modern_headers("server/discover", {})


@pytest.fixture
def office(api: Api) -> Office:
    return Office.made(api)


@pytest.fixture
def agent(office: Office) -> Agent:
    return office.agent("files:read")


def send(agent: Agent, message: Any, headers: dict[str, str]) -> tuple[int, Any]:
    answer = agent.send(json.dumps(message).encode(), **headers)
    return answer.status_code, answer.json


class TestStateless:
    """Requests of the revision without a handshake."""

    def test_a_client_discovers_the_server(self, agent: Agent) -> None:
        result = agent.result("server/discover")
        assert result["supportedVersions"] == [*SUPPORTED]
        assert result["capabilities"] == {"tools": {}, "resources": {}}
        assert result["resultType"] == "complete"
        assert result["_meta"][SERVER_KEY]["name"] == "strongroom"
        assert (result["ttlMs"] > 0, result["cacheScope"]) == (True, "public")

    def test_lists_may_be_kept_by_the_caller_only(self, agent: Agent) -> None:
        result = agent.result("tools/list")
        assert (result["ttlMs"], result["cacheScope"]) == (60_000, "private")
        assert all(tool["inputSchema"]["type"] == "object" for tool in result["tools"])
        assert {tool["name"] for tool in result["tools"]} >= {"files_list", "files_read", "files_grep"}
        assert agent.ask("tools/list", cursor="2").json["error"]["code"] == -32602

    def test_responses_are_not_stored(self, agent: Agent) -> None:
        answer = agent.ask("server/discover")
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Content-Type"] == "application/json"
        assert "Mcp-Session-Id" not in answer.headers

    @pytest.mark.parametrize("key", [VERSION_KEY, CAPABILITIES_KEY])
    def test_a_request_names_its_revision_and_capabilities(self, agent: Agent, key: str) -> None:
        message = modern_message("server/discover", {})
        del message["params"]["_meta"][key]
        status, body = send(agent, message, HEADERS)
        assert (status, body["error"]["code"], body["id"]) == (400, -32602, 1)

    def test_an_unknown_revision_gets_the_list(self, agent: Agent) -> None:
        message = modern_message("server/discover", {})
        message["params"]["_meta"][VERSION_KEY] = "2031-01-01"
        status, body = send(agent, message, {**HEADERS, "MCP-Protocol-Version": "2031-01-01"})
        data = {"supported": [*SUPPORTED], "requested": "2031-01-01"}
        assert (status, body["error"]["code"], body["error"]["data"]) == (400, -32022, data)

    @pytest.mark.parametrize("value", [None, "tools/call", "SERVER/DISCOVER", "=?base64?!?="])
    @pytest.mark.parametrize("header", ["MCP-Protocol-Version", "Mcp-Method"])
    def test_headers_repeat_the_body(self, agent: Agent, header: str, value: str | None) -> None:
        headers = {name: text for name, text in HEADERS.items() if name != header}
        changed = headers if value is None else {**headers, header: value}
        status, body = send(agent, DISCOVER, changed)
        assert (status, body["error"]["code"], body["id"]) == (400, -32020, 1)

    @pytest.mark.parametrize(
        ("value", "status"),
        [
            ("spaces_list", 200),
            ("=?base64?c3BhY2VzX2xpc3Q=?=", 200),
            ("=?base64?c3BhY2VzX2xpc3Q?=", 400),
            ("=?base64?c3BhY2Vz!X2xpc3Q=?=", 400),
            ("files_list", 400),
            (None, 400),
        ],
    )
    def test_the_name_of_a_tool_is_in_a_header(
        self, agent: Agent, value: str | None, status: int
    ) -> None:
        params = {"name": "spaces_list", "arguments": {}}
        headers = modern_headers("tools/call", params)
        headers.pop("Mcp-Name")
        sent = headers if value is None else {**headers, "Mcp-Name": value}
        answer, body = send(agent, modern_message("tools/call", params), sent)
        assert answer == status, body
        assert status == 200 or body["error"]["code"] == -32020

    @pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "prompts/list", "x/y"])
    def test_other_methods_do_not_exist(self, agent: Agent, method: str) -> None:
        answer = agent.ask(method)
        assert (answer.status_code, answer.json["error"]["code"]) == (404, -32601)

    def test_an_unknown_tool_is_an_error_of_the_protocol(self, agent: Agent) -> None:
        for params in ({"name": "files_explode"}, {}, {"name": "files_list", "arguments": []}):
            answer = agent.ask("tools/call", **params)
            assert (answer.status_code, answer.json["error"]["code"]) == (400, -32602)


class TestHandshake:
    """Clients of older revisions."""

    @pytest.mark.parametrize("revision", HANDSHAKE)
    def test_the_requested_revision_is_confirmed(self, agent: Agent, revision: str) -> None:
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "old"}}
        message = {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params}
        status, body = send(agent, message, {})
        assert (status, body["result"]["protocolVersion"]) == (200, revision)
        assert body["result"]["serverInfo"]["name"] == "strongroom"
        assert body["result"]["capabilities"] == {"tools": {}, "resources": {}}

    @pytest.mark.parametrize("revision", ["2024-11-05", "2026-07-28", "", 7, None])
    def test_another_one_is_answered_by_the_newest(self, agent: Agent, revision: Any) -> None:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {"protocolVersion": revision},
        }
        assert send(agent, message, {})[1]["result"]["protocolVersion"] == HANDSHAKE[0]

    @pytest.mark.parametrize("revision", [*HANDSHAKE, None])
    def test_no_session_is_needed(self, agent: Agent, revision: str | None) -> None:
        headers = {"MCP-Protocol-Version": revision} if revision else {}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        status, body = send(agent, message, headers)
        assert status == 200
        assert body["result"].keys() == {"tools"}
        assert send(agent, {**message, "method": "ping"}, headers) == (
            200,
            {"jsonrpc": "2.0", "id": 1, "result": {}},
        )

    def test_an_unknown_method_does_not_end_the_session_of_the_client(self, agent: Agent) -> None:
        message = {"jsonrpc": "2.0", "id": 1, "method": "server/discover"}
        status, body = send(agent, message, {"MCP-Protocol-Version": HANDSHAKE[0]})
        assert (status, body["error"]["code"]) == (200, -32601)

    def test_an_unknown_revision_in_the_header_is_refused(self, agent: Agent) -> None:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        status, body = send(agent, message, {"MCP-Protocol-Version": "2024-11-05"})
        assert (status, body["error"]["code"]) == (400, -32022)

    def test_notifications_are_accepted_without_a_body(self, agent: Agent) -> None:
        for headers in ({}, {"MCP-Protocol-Version": HANDSHAKE[0]}, HEADERS):
            message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            answer = agent.send(json.dumps(message).encode(), **headers)
            assert (answer.status_code, answer.data) == (202, b"")


class TestHttp:
    """Requests that are refused before their message is read."""

    @pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
    def test_only_post_is_allowed(self, api: Api, method: str) -> None:
        answer = api.request(method, "/mcp")
        assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")

    def test_a_request_needs_a_caller(self, office: Office) -> None:
        api = office.api
        for token in (None, "srk_wrong", "x.y.z"):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            answer = api.request("POST", "/mcp", headers={**headers, **HEADERS}, json=DISCOVER)
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        key = make_key(api, office.user, "tenants:read")
        assert error_code(Agent(api, key).ask("tools/list")) == "error.insufficient-scope"

    def test_a_user_without_a_key_is_a_caller(self, office: Office) -> None:
        agent = Agent(office.api, office.user)
        assert agent.tool("spaces_list").data["spaces"][0]["tenantId"] == office.tenant_id

    @pytest.mark.parametrize(
        ("origin", "status"),
        [
            (SITE, 200),
            (SITE.upper(), 200),
            ("https://agent.example", 200),
            ("http://evil.example", 403),
            (f"{SITE}.evil.example", 403),
            (f"{SITE}:81", 403),
            ("https://files.example", 403),
            ("null", 403),
            ("", 403),
        ],
    )
    def test_pages_of_other_origins_are_refused(self, agent: Agent, origin: str, status: int) -> None:
        answer = agent.send(json.dumps(DISCOVER).encode(), **HEADERS, Origin=origin)
        assert answer.status_code == status

    def test_the_origin_is_checked_before_the_token(self, api: Api) -> None:
        headers = {"Origin": "http://evil.example"}
        assert api.request("POST", "/mcp", headers=headers).status_code == 403

    @pytest.mark.parametrize(
        ("accept", "status"),
        [
            ("application/json", 200),
            ("text/event-stream;q=1, Application/JSON;q=0.1", 200),
            ("*/*", 200),
            ("text/event-stream", 406),
            ("text/html", 406),
        ],
    )
    def test_a_client_accepts_json(self, agent: Agent, accept: str, status: int) -> None:
        answer = agent.send(json.dumps(DISCOVER).encode(), **{**HEADERS, "Accept": accept})
        assert answer.status_code == status

    @pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", ""])
    def test_a_body_is_json(self, agent: Agent, media_type: str) -> None:
        headers = {**HEADERS, "Content-Type": media_type}
        assert agent.send(json.dumps(DISCOVER).encode(), **headers).status_code == 415

    def test_a_body_has_at_most_a_mebibyte(self, agent: Agent) -> None:
        for size, status in ((1024 * 1024, 400), (1024 * 1024 + 1, 413)):
            body = json.dumps({"x": ""}).encode()
            body = body.replace(b'""', b'"' + b"x" * (size - len(body)) + b'"')
            assert len(body) == size
            assert agent.send(body, **HEADERS).status_code == status

    def test_nothing_is_below(self, api: Api) -> None:
        assert api.request("POST", "/mcp/x").status_code == 404

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            (b"", -32700),
            (b"{", -32700),
            (b"\xff", -32700),
            (b'{"a": NaN}', -32700),
            (b'{"a": "\\ud800"}', -32700),
            (b"[" * 100_000, -32700),
            (b"9" * 5000, -32700),
            (b"[]", -32600),
            (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
            (b"null", -32600),
            (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
            (b'{"jsonrpc": "2.0", "id": 1}', -32600),
            (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
            (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
            (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', -32600),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32602),
        ],
    )
    def test_a_malformed_message_is_an_error(self, agent: Agent, body: bytes, code: int) -> None:
        answer = agent.send(body)
        assert (answer.status_code, answer.json["error"]["code"]) == (400, code)


@pytest.mark.config({"plugins": {"enabled": PLUGINS, "mcp": {"max_calls_per_minute": 3}}})
def test_the_rate_of_a_key_is_limited(office: Office) -> None:
    agent, other = office.agent("files:read"), office.agent("files:read")
    statuses = [agent.ask("tools/list").status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    assert "Retry-After" in agent.ask("tools/list").headers
    assert other.ask("tools/list").status_code == 200


def test_an_impersonated_user_has_no_agent(office: Office) -> None:
    api = office.api
    body = {"reason": "Ticket", "minutes": 5}
    admin = api.person(admin=True)
    started = api.post(f"/users/{office.user.id}/impersonation", body, by=admin)
    assert started.status_code in (200, 201), started.text
    person = Person(office.user.id, office.user.email, started.json["accessToken"])
    answer = Agent(api, person).ask("tools/list")
    assert (answer.status_code, error_code(answer)) == (403, "error.impersonation-refused")
