"""Tokens of clients at ``/mcp``: what opens it, what a refusal says, and what ends with a grant."""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from tests.support.agents import ASSISTANT, CLIENT, PLUGINS_WITH_LOGIN, Agent, Office, make_key
from tests.support.api import Api, error_code
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.relying_party import RelyingParty, logged_in

SITE = "https://files.example.com"
METADATA = f"{SITE}/.well-known/oauth-protected-resource/mcp"
BASE = f'Bearer resource_metadata="{METADATA}"'
REST = "/api/v1/tenants"

pytestmark = [
    on_sqlite,
    pytest.mark.config(merged(lifted(), {"plugins": {"enabled": PLUGINS_WITH_LOGIN}})),
]


@pytest.fixture
def office(api: Api) -> Office:
    return Office.made(api)


def with_token(office: Office, token: str | None) -> Agent:
    return Agent(office.api, replace(office.user, token=token))


def id_token(office: Office) -> str:
    """Return an ID token, whose client has the URI of the application as its audience."""
    signing = office.api.container.hosts.get("oidc_provider").signing
    return signing.sign({}, audience=f"{SITE}/mcp", subject=office.user.id, lifetime=60)


TOKENS: dict[str, tuple[Callable[[Office], str | None], int, int]] = {
    "a client's for the application": (lambda o: o.tokens().access_token, 200, 401),
    "a login's": (lambda o: o.user.token, 200, 200),
    "an access key": (lambda o: make_key(o.api, o.user, "files:read", "tenants:read").token, 200, 200),
    "a client's for the REST API": (
        lambda o: o.tokens("files:read", "tenants:read", audience=None).access_token,
        401,
        200,
    ),
    "a client's for itself": (lambda o: o.tokens(audience=ASSISTANT.id).access_token, 401, 401),
    "for another path": (lambda o: o.tokens(audience="/mcp/links").access_token, 401, 401),
    "for a longer name": (lambda o: o.tokens(audience="/mcps").access_token, 401, 401),
    "for a final slash": (lambda o: o.tokens(audience="/mcp/").access_token, 401, 401),
    "for another server": (lambda o: o.tokens(audience="https://b.example/mcp").access_token, 401, 401),
    "a client's refresh token": (lambda o: o.tokens().refresh_token, 401, 401),
    "an ID token": (id_token, 401, 401),
    "none": (lambda _: None, 401, 401),
}


@pytest.mark.parametrize("kind", TOKENS)
def test_each_kind_of_token_opens_its_own_service(office: Office, kind: str) -> None:
    make, at_application, at_rest = TOKENS[kind]
    token = make(office)
    agent = with_token(office, token)
    assert agent.ask("tools/list").status_code == at_application
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    assert office.api.get(REST, headers=headers).status_code == at_rest
    for path in ("/users/me", f"{office.path}/files/{office.folder}"):
        is_open = office.api.get(path, headers=headers).status_code == 200
        assert not is_open or at_rest == 200, path


def test_a_token_of_a_real_login_opens_the_application(office: Office) -> None:
    resource = f"{SITE}/mcp"
    scopes = ["openid", "files:read", "offline_access"]
    party = RelyingParty.register(office.api, public=True, resources=[resource], scopes=scopes)
    browser = logged_in(office.api, office.user)
    tokens = party.tokens(browser, scope=" ".join(scopes), resource=resource)
    file = office.file("may.txt", b"May")
    agent = with_token(office, tokens["access_token"])
    arguments = {"fileId": file["id"], "tenantId": office.tenant_id}
    assert agent.tool("files_read", **arguments).text == "May"
    renewed = party.refresh(tokens["refresh_token"], resource=resource).json
    agent = with_token(office, renewed["access_token"])
    assert agent.tool("files_read", **arguments).text == "May"
    assert office.api.delete("/users/me/authorizations", by=office.user).status_code == 200
    assert agent.ask("tools/list").status_code == 401


def test_a_refusal_names_the_metadata_and_the_scope(office: Office) -> None:
    stated = f'{BASE}, scope="files:read"'
    for token, error in ((None, ""), ("x.y.z", ', error="invalid_token"')):
        answer = with_token(office, token).ask("tools/list")
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == stated + error
    narrow = office.tokens("tenants:read").access_token
    answer = with_token(office, narrow).ask("tools/list")
    assert (answer.status_code, error_code(answer)) == (403, "error.insufficient-scope")
    assert answer.headers["WWW-Authenticate"] == f'{stated}, error="insufficient_scope"'


def test_the_metadata_leads_to_the_provider(api: Api) -> None:
    document = api.get(urlsplit(METADATA).path).json
    assert document["resource"] == f"{SITE}/mcp"
    assert document["authorization_servers"] == [SITE]
    assert document["bearer_methods_supported"] == ["header"]
    server = api.get("/.well-known/oauth-authorization-server").json
    assert server["issuer"] == SITE
    assert set(document["scopes_supported"]) <= set(server["scopes_supported"])
    assert "offline_access" not in document["scopes_supported"]


@pytest.mark.parametrize(
    ("tool", "scopes"),
    [
        ("files_write", "files:read files:write"),
        ("files_trash", "files:read files:share"),
        ("spaces_list", "files:read tenants:read"),
    ],
)
def test_a_client_learns_all_scopes_of_a_tool(office: Office, tool: str, scopes: str) -> None:
    agent = with_token(office, office.tokens("files:read").access_token)
    answer = agent.ask("tools/call", name=tool, arguments={})
    assert answer.status_code == 403
    challenge = f'{BASE}, scope="{scopes}", error="insufficient_scope"'
    assert answer.headers["WWW-Authenticate"] == challenge
    assert "error" in answer.json
    (record,) = office.records(office.api.person(admin=True))
    assert (record["details"]["tool"], record["details"]["outcome"]) == (tool, "scope")
    # A key has its scopes for good, so its agent gets words instead.
    key = Agent(office.api, make_key(office.api, office.user, "files:read"))
    assert key.tool(tool).is_error


def test_a_client_sees_the_tools_whose_scopes_it_can_request(office: Office) -> None:
    tools = {tool["name"] for tool in office.client("files:read").result("tools/list")["tools"]}
    assert {"files_read", "files_write", "files_trash"} <= tools
    of_key = {tool["name"] for tool in office.agent("files:read").result("tools/list")["tools"]}
    assert of_key < tools


def test_a_call_is_recorded_with_the_client_and_the_user(office: Office) -> None:
    file = office.file("may.txt", b"May")
    office.client().tool("files_read", fileId=file["id"])
    (record,) = office.records(office.api.person(admin=True))
    assert record["actor"]["$ref"] == office.user.id
    details = record["details"]
    assert (details["client"], details["outcome"]) == (ASSISTANT.id, "ok")
    assert details["program"] == f"{CLIENT['name']} {CLIENT['version']}"
    assert "keyId" not in details


def test_a_link_ends_with_the_grant(office: Office) -> None:
    api, agent, file = office.api, office.client(), office.file("a.txt", b"content")
    download, first, second = (
        urlsplit(str(answer.data["url"])).path
        for answer in (
            agent.tool("files_download_link", fileId=file["id"]),
            agent.tool("files_upload_link", name="first.txt"),
            agent.tool("files_upload_link", name="second.txt"),
        )
    )
    assert api.get(download).data == b"content"
    assert api.request("PUT", first, data=b"x").status_code == 201
    admin = api.person(admin=True)
    record = api.get("/audit-events?action=mcp.upload", by=admin).json["data"][0]
    assert (record["actor"]["$ref"], record["details"]["client"]) == (office.user.id, ASSISTANT.id)
    host = api.container.hosts.get("oidc_provider")
    assert host.grants.end(user_id=office.user.id, client_id=ASSISTANT.id) == 1
    assert api.get(download).status_code in (401, 403, 404)
    assert api.request("PUT", second, data=b"x").status_code in (401, 403, 404)
    assert agent.ask("tools/list").status_code == 401


def test_each_client_has_a_rate_of_its_own(office: Office) -> None:
    first, second = office.client(), office.client()
    statuses = [first.ask("tools/list").status_code for _ in range(121)]
    assert statuses[-2:] == [200, 429]
    assert second.ask("tools/list").status_code == 200
