"""Each kind of token at each route: a client's token opens what an access key of its scopes opens."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from joserfc import jws
from tests.support.api import PASSWORD, Answer, Api, Json, Person, claims_of, error_code
from tests.support.config import Table, declared_config, merged
from tests.support.signing_plugin import signing_plugin

from strongroom.foundation.errors import Forbidden, InsufficientScope, TokenInvalid
from strongroom.foundation.scopes import TENANT_SCOPES
from strongroom.identity.sessions.signing_keys import load_keys
from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.grants import GrantClient, GrantsAPI, GrantTerms
from strongroom.web.http.access import Access
from strongroom.web.http.routing import Operation

CLIENT = GrantClient("robot", "Robot")
EVERY = tuple(scope.value for scope in Scope)
RESOURCE = "https://wiki.example"

pytestmark = pytest.mark.both_databases


@pytest.fixture
def config_changes(tmp_path: Path, request: pytest.FixtureRequest) -> Table:
    return merged(signing_plugin(tmp_path), declared_config(request))


@pytest.fixture
def grants(api: Api) -> GrantsAPI:
    return api.container.hosts.get("signer").grants


@pytest.fixture
def admin(api: Api) -> Person:
    return api.person(admin=True)


@dataclass(frozen=True)
class Route:
    """A route from the code, with an example of its path."""

    name: str
    method: str
    path: str
    view: Operation


def routes(api: Api) -> Iterator[Route]:
    """Yield every operation of the server that is not public."""
    for rule in api.app.url_map.iter_rules():
        view = api.app.view_functions[rule.endpoint]
        if isinstance(view, Operation) and view.access is not Access.PUBLIC:
            (method,) = (rule.methods or set()) - {"HEAD", "OPTIONS"} or {"OPTIONS"}
            yield Route(rule.endpoint, method, rule.rule, view)


def login_id(person: Person) -> str:
    return str(claims_of(str(person.token))["jti"]).rpartition("-")[0]


def client_with(grants: GrantsAPI, person: Person, *scopes: str, **limits: Any) -> Person:
    terms = GrantTerms(scopes, **limits)
    return replace(person, token=grants.begin(login_id(person), CLIENT, terms).access_token)


def key_with(api: Api, person: Person, *scopes: str, **limits: str) -> Person:
    body: Json = {"name": "key", "scopes": [*scopes], "currentPassword": PASSWORD, **limits}
    response = api.post("/users/me/access-keys", body, by=person)
    assert response.status_code == 201, response.text
    return replace(person, token=response.json["key"])


def refusal(answer: Answer) -> str | None:
    """Return why the caller is refused; ``None`` if the route has looked at the request."""
    if answer.status_code not in (401, 403):
        return None
    return error_code(answer) if answer.json else str(answer.status_code)


def test_no_token_for_another_service_opens_a_route(api: Api, grants: GrantsAPI, admin: Person) -> None:
    signing = api.container.hosts.get("signer").signing
    online = grants.begin(login_id(admin), CLIENT, GrantTerms(EVERY))
    tokens = {
        "access token of another service": client_with(grants, admin, *EVERY, audience=RESOURCE).token,
        "access token of the client itself": client_with(
            grants, admin, *EVERY, audience=CLIENT.id
        ).token,
        "access token of an application here": client_with(
            grants, admin, *EVERY, audience=f"{signing.issuer}/desk"
        ).token,
        "ID token": signing.sign({}, audience=CLIENT.id, subject=admin.id, lifetime=60),
        "logout token": signing.sign({}, audience=CLIENT.id, lifetime=60, typ="logout+jwt"),
        "refresh token of a client": online.refresh_token,
        "refresh token of a login": api.log_in(admin.email).json["refreshToken"],
    }
    names = [route for route in routes(api) if route.view.access is not Access.OPTIONAL]
    assert len(names) > 100
    for kind, token in tokens.items():
        for route in names:
            answer = api.request(route.method, route.path, by=replace(admin, token=token))
            assert answer.status_code == 401, (kind, route.name)


def test_every_operation_without_a_scope_refuses_a_client_with_all_scopes(
    api: Api, grants: GrantsAPI, admin: Person
) -> None:
    robot = client_with(grants, admin, *EVERY)
    closed = [route for route in routes(api) if route.view.scope is None]
    assert len(closed) > 50
    for route in closed:
        answer = api.request(route.method, route.path, by=robot)
        assert refusal(answer) == "error.key-not-accepted", route.name


@pytest.mark.parametrize("scope", EVERY)
def test_a_client_opens_what_a_key_with_its_scope_opens(
    api: Api, grants: GrantsAPI, admin: Person, scope: str
) -> None:
    client, key = client_with(grants, admin, scope), key_with(api, admin, scope)
    opened = set()
    for route in routes(api):
        answers = [api.request(route.method, route.path, by=by) for by in (client, key)]
        assert refusal(answers[0]) == refusal(answers[1]), route.name
        if refusal(answers[0]) not in ("error.insufficient-scope", "error.key-not-accepted"):
            opened.add(route.name)
    assert opened


def test_a_client_of_a_tenant_opens_what_a_key_of_the_tenant_opens(
    api: Api, grants: GrantsAPI, admin: Person
) -> None:
    own, other = api.tenant(admin), api.tenant(admin)
    tenant_id, scopes = own.rpartition("/")[2], sorted(TENANT_SCOPES)
    client = client_with(grants, admin, *scopes, tenant_id=tenant_id)
    key = key_with(api, admin, *scopes, tenantId=tenant_id)
    for route in routes(api):
        for tenant in (own, other):
            path = route.path.replace("/api/v1/tenants/<tenant_id>", tenant)
            answers = [api.request(route.method, path, by=by) for by in (client, key)]
            assert answers[0].status_code == answers[1].status_code, (route.name, path)
            assert refusal(answers[0]) == refusal(answers[1]), (route.name, path)
    listed = api.get("/api/v1/tenants", by=client).json["data"]
    assert [tenant["id"] for tenant in listed] == [tenant_id]


def test_a_folder_limits_the_query_itself(api: Api, grants: GrantsAPI, admin: Person) -> None:
    tenant, other = api.tenant(admin), api.tenant(admin)
    outer = api.folder(tenant, admin, "Outer")
    inner = api.folder(tenant, admin, "Inner", outer["id"])
    file = api.upload(tenant, admin, "a.txt", b"inside", inner["id"])
    outside = api.upload(tenant, admin, "b.txt", b"outside", outer["id"])
    elsewhere = api.upload(other, admin, "c.txt", b"elsewhere")
    limits = {"tenant_id": tenant.rpartition("/")[2], "file_id": inner["id"]}
    robot = client_with(grants, admin, "files:share", **limits)
    host = api.container.hosts.get("signer")
    for path, status in (
        (f"{tenant}/files/{file['id']}", 200),
        (f"{tenant}/files/{inner['id']}", 200),
        (f"{tenant}/files/{outside['id']}", 403),
        (f"{tenant}/files/{outer['id']}", 403),
        (f"{other}/files/{elsewhere['id']}", 403),
    ):
        assert api.get(path, by=robot).status_code == status, path
    # A mounted application names no tenant in a path, so the query alone is the limit.
    headers = {"Authorization": f"Bearer {robot.token}"}
    with api.app.test_request_context("/desk", headers=headers):
        host.authenticate(scope="files:read")
        assert host.caller is not None
        assert (host.caller.client_id, host.caller.file_id) == ("robot", inner["id"])
        assert host.files.stat(limits["tenant_id"], file["id"]).name == "a.txt"
        for tenant_id, node in ((limits["tenant_id"], outside), (other.rpartition("/")[2], elsewhere)):
            with pytest.raises(Forbidden):
                host.files.stat(tenant_id, node["id"])


def test_a_tenant_limits_the_query_itself(api: Api, grants: GrantsAPI, admin: Person) -> None:
    tenants = [api.tenant(admin).rpartition("/")[2] for _ in range(2)]
    files = [api.upload(f"/api/v1/tenants/{own}", admin, "a.txt", b"x") for own in tenants]
    robot = client_with(grants, admin, "files:read", tenant_id=tenants[0])
    host = api.container.hosts.get("signer")
    headers = {"Authorization": f"Bearer {robot.token}"}
    with api.app.test_request_context("/desk", headers=headers):
        host.authenticate(scope="files:read")
        assert host.files.stat(tenants[0], files[0]["id"]).name == "a.txt"
        with pytest.raises(Forbidden):
            host.files.stat(tenants[1], files[1]["id"])


def test_an_application_accepts_the_tokens_of_its_own_audience_only(
    api: Api, grants: GrantsAPI, admin: Person
) -> None:
    host = api.container.hosts.get("signer")
    desk, tenant = f"{host.public_url}/desk", api.tenant(admin)
    inner, outer = (api.folder(tenant, admin, name)["id"] for name in ("Inner", "Outer"))
    limits = {"tenant_id": tenant.rpartition("/")[2], "file_id": inner}
    own = client_with(grants, admin, "files:read", audience=desk, **limits)
    assert claims_of(str(own.token))["aud"] == desk
    accepted = {
        "its own": (own, "robot"),
        "a login": (admin, None),
        "an access key": (key_with(api, admin, "files:read"), None),
    }
    for kind, (person, client_id) in accepted.items():
        with api.app.test_request_context("/desk", headers=bearer(person)):
            assert host.authenticate(scope="files:read", audience=desk) == admin.id, kind
            assert host.caller is not None
            assert host.caller.client_id == client_id
    with api.app.test_request_context("/desk", headers=bearer(own)):
        host.authenticate(scope="files:read", audience=desk)
        assert host.files.stat(limits["tenant_id"], inner).id == inner
        with pytest.raises(Forbidden):
            host.files.stat(limits["tenant_id"], outer)
        with pytest.raises(InsufficientScope):
            host.files.create_folder(limits["tenant_id"], inner, "x")
    for audience in (None, f"{desk}/x", f"{desk}s", RESOURCE, CLIENT.id):
        other = client_with(grants, admin, "files:read", audience=audience)
        with api.app.test_request_context("/desk", headers=bearer(other)), pytest.raises(TokenInvalid):
            host.authenticate(scope="files:read", audience=desk)
    with api.app.test_request_context("/desk", headers=bearer(own)), pytest.raises(InsufficientScope):
        host.authenticate(scope="files:write", audience=desk)
    assert grants.end(client_id=CLIENT.id) > 0
    with api.app.test_request_context("/desk", headers=bearer(own)), pytest.raises(TokenInvalid):
        host.authenticate(scope="files:read", audience=desk)


def test_an_application_names_an_audience_below_the_public_url(api: Api, admin: Person) -> None:
    host = api.container.hosts.get("signer")
    with api.app.test_request_context("/desk", headers=bearer(admin)):
        for audience in (host.public_url, f"{host.public_url}s", RESOURCE):
            with pytest.raises(ValueError, match="below the public URL"):
                host.authenticate(scope="files:read", audience=audience)


def bearer(person: Person) -> dict[str, str]:
    return {"Authorization": f"Bearer {person.token}"}


def test_a_revoked_grant_opens_no_file(api: Api, grants: GrantsAPI, admin: Person) -> None:
    tenant = api.tenant(admin)
    file = api.upload(tenant, admin, "a.txt", b"content")
    robot = client_with(grants, admin, "files:read")
    paths = [f"{tenant}/files/{file['id']}{suffix}" for suffix in ("", "/download")]
    assert {api.get(path, by=robot).status_code for path in paths} == {200}
    assert grants.end(client_id=CLIENT.id) == 1
    assert {api.get(path, by=robot).status_code for path in paths} == {401}


def test_a_client_removes_no_file_permanently_by_the_login_of_its_user(
    api: Api, grants: GrantsAPI, admin: Person
) -> None:
    tenant = api.tenant(admin)
    file = api.upload(tenant, admin, "a.txt", b"content")
    path = f"{tenant}/files/{file['id']}?permanently=true"
    for robot in (key_with(api, admin, "files:share"), client_with(grants, admin, "files:share")):
        assert error_code(api.delete(path, by=robot)) == "error.fresh-proof-required"
    assert api.delete(path, by=admin).status_code == 200


def forged(api: Api, token: str, **changes: Any) -> str:
    """Return a token with other claims, signed by the key of our own tokens."""
    key: Any = load_keys(api.container.settings.keys_path, "HS256").signing_key
    header = token.split(".", maxsplit=1)[0]
    changed = {**claims_of(token), **changes}
    read = json.loads(base64.urlsafe_b64decode(header + "=="))
    return jws.serialize_compact(read, json.dumps(changed), key, algorithms=["HS256"])


def test_a_token_with_a_scope_and_the_audience_of_a_login_is_refused(
    api: Api, grants: GrantsAPI, admin: Person
) -> None:
    token = str(client_with(grants, admin, "files:read").token)
    issuer = claims_of(token)["iss"]
    assert api.get("/users/me", by=replace(admin, token=forged(api, token))).status_code == 403
    as_login = forged(api, token, aud=issuer)
    assert api.get("/users/me", by=replace(admin, token=as_login)).status_code == 401


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": ["https://wiki.example"]},
        {"aud": "https://wiki.example"},
        {"aud": []},
        {"scope": None},
        {"scope": ["files:read"]},
        {"client_id": 7},
        {"authorization_details": "folder"},
        {"authorization_details": [{"type": "folder", "tenantId": "x"}]},
        {"authorization_details": [{"type": "planet", "tenantId": "x"}]},
        {"authorization_details": [7]},
        {"iat": "now"},
    ],
)
def test_a_signed_token_of_a_client_with_odd_claims_is_refused(
    api: Api, grants: GrantsAPI, admin: Person, changes: dict[str, Any]
) -> None:
    token = str(client_with(grants, admin, "tenants:read").token)
    assert api.get("/api/v1/tenants", by=replace(admin, token=forged(api, token))).status_code == 200
    odd = replace(admin, token=forged(api, token, **changes))
    assert error_code(api.get("/api/v1/tenants", by=odd)) == "error.token-invalid"


def test_an_administrator_may_register_users_by_a_client(
    api: Api, grants: GrantsAPI, admin: Person
) -> None:
    body = {"name": "New", "password": "Correct1Horse", "email": "new@example.com"}
    for scope, status in (("users:read", 403), ("users:write", 201)):
        robot = client_with(grants, admin, scope)
        response = api.post("/users", body, by=robot)
        assert response.status_code == status, response.text
