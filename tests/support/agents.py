"""Agents that call tools over files: programs with an access key, by the Model Context Protocol."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from strongroom.plugin_api.grants import GrantClient, GrantTerms, GrantTokens
from strongroom_mcp.protocol.revisions import CAPABILITIES_KEY, CLIENT_KEY, STATELESS, VERSION_KEY
from tests.support.api import PASSWORD, Answer, Api, Json, Person, claims_of

PLUGINS = ["storage_local", "mcp"]
PLUGINS_WITH_LOGIN = [*PLUGINS, "login_pages", "oidc_provider"]
CLIENT = {"name": "test-agent", "version": "1.2"}
ASSISTANT = GrantClient("assistant", "Assistant")
EVERY_SCOPE = ("files:read", "files:write", "files:share")


def modern_headers(method: str, params: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of a request of the stateless revision."""
    name = params.get("uri") if method == "resources/read" else params.get("name")
    repeated = {"Mcp-Name": name} if isinstance(name, str) else {}
    return {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": STATELESS,
        "Mcp-Method": method,
        **repeated,
    }


def modern_message(method: str, params: Mapping[str, Any], id_: int | str = 1) -> Json:
    """Return a request of the stateless revision."""
    # A test may spoil any member.
    meta = {VERSION_KEY: STATELESS, CLIENT_KEY: {**CLIENT}, CAPABILITIES_KEY: {}}
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": {"_meta": meta, **params}}


@dataclass(frozen=True)
class ToolAnswer:
    """The result of a tool. ``data`` is its object, ``text`` its last block."""

    data: Any
    text: str
    is_error: bool
    meta: Json
    blocks: list[Json]


@dataclass
class Agent:
    """A program with the token of a user, or an access key."""

    api: Api
    caller: Person
    headers: dict[str, str] = field(default_factory=dict)

    def send(self, body: bytes, **headers: str) -> Answer:
        """Send a body as it is."""
        sent = {"Content-Type": "application/json", **self.headers, **headers}
        return self.api.request("POST", "/mcp", by=self.caller, headers=sent, data=body)

    def ask(self, method: str, **params: Any) -> Answer:
        """Send a request of the stateless revision."""
        body = json.dumps(modern_message(method, params)).encode()
        return self.send(body, **modern_headers(method, params))

    def result(self, method: str, **params: Any) -> Any:
        """Return the result of a request, which must succeed."""
        answer = self.ask(method, **params)
        assert answer.status_code == 200, answer.text
        assert "error" not in answer.json, answer.text
        return answer.json["result"]

    def tool(self, name: str, /, **arguments: Any) -> ToolAnswer:
        """Call a tool."""
        result = self.result("tools/call", name=name, arguments=arguments)
        blocks = result["content"]
        return ToolAnswer(
            result.get("structuredContent"),
            blocks[-1].get("text", ""),
            result["isError"],
            result["_meta"],
            blocks,
        )


def make_key(api: Api, by: Person, *scopes: str, **limits: str) -> Person:
    """Return a program with a new access key of a person."""
    body = {"name": "agent", "scopes": scopes or EVERY_SCOPE, "currentPassword": PASSWORD, **limits}
    answer = api.post("/users/me/access-keys", body, by=by)
    assert answer.status_code == 201, answer.text
    return Person(by.id, by.email, answer.json["key"])


@dataclass
class Office:
    """A space with two folders, and a user who manages both."""

    api: Api
    user: Person
    path: str
    folder: str
    deeper: str
    other: str

    @classmethod
    def made(cls, api: Api) -> "Office":
        user = api.person()
        path = api.tenant(user)
        folder = api.folder(path, user, "Reports")["id"]
        deeper = api.folder(path, user, "2026", folder)["id"]
        other = api.folder(path, user, "Secrets")["id"]
        return cls(api, user, path, folder, deeper, other)

    @property
    def tenant_id(self) -> str:
        """The id of the space."""
        return self.path.rpartition("/")[2]

    def file(self, name: str, content: bytes, folder: str | None = None) -> Json:
        """Upload a file, into the first folder by default."""
        return self.api.upload(self.path, self.user, name, content, folder or self.folder)

    def agent(self, *scopes: str, folder: str | None = None) -> Agent:
        """Return an agent with a key for one folder, the first one by default."""
        limits = {"tenantId": self.tenant_id, "fileId": folder or self.folder}
        return Agent(self.api, make_key(self.api, self.user, *scopes, **limits))

    def tokens(self, *scopes: str, audience: str | None = "/mcp", **limits: Any) -> GrantTokens:
        """Let a client act for the user, for a path of this server; ``None``: the REST API.

        Needs the plugins with a login.
        """
        host = self.api.container.hosts.get("oidc_provider")
        login_id = str(claims_of(str(self.user.token))["jti"]).rpartition("-")[0]
        uri = f"{host.public_url}{audience}" if audience and audience.startswith("/") else audience
        terms = GrantTerms(scopes or EVERY_SCOPE, uri, **limits)
        return host.grants.begin(login_id, ASSISTANT, terms)

    def client(self, *scopes: str, folder: str | None = None) -> Agent:
        """Return an agent with the token of a client for one folder, the first one by default."""
        limits = {"tenant_id": self.tenant_id, "file_id": folder or self.folder}
        token = self.tokens(*scopes, **limits).access_token
        return Agent(self.api, replace(self.user, token=token))

    def records(self, by: Person) -> list[Json]:
        """Return the audit records of calls, the newest first."""
        answer = self.api.get("/audit-events?action=mcp.call&pageSize=200", by=by)
        assert answer.status_code == 200, answer.text
        records: list[Json] = answer.json["data"]
        return records
