"""A client with a service account gets tokens without a user (RFC 6749, section 4.4)."""

from dataclasses import replace
from typing import Any

import pytest
from tests.support.api import Answer, Api, Json, Person, error_code
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.relying_party import PLUGINS, RelyingParty

CLIENTS = "/api/v1/clients"

pytestmark = [on_sqlite, pytest.mark.config(merged(lifted(), {"plugins": {"enabled": PLUGINS}}))]


@pytest.fixture
def root(api: Api) -> Person:
    RelyingParty.register(api)
    return api.person(admin=True)


@pytest.fixture
def account(api: Api, root: Person) -> str:
    answer = api.post("/api/v1/service-accounts", {"name": "Robot"}, by=root)
    assert answer.status_code == 201, answer.text
    return str(answer.json["id"])


def create(api: Api, by: Person, account: str, **members: Any) -> Answer:
    body = {"name": "Sync", "scopes": ["users:read"], "serviceAccountId": account, **members}
    return api.post(CLIENTS, body, by=by)


@pytest.fixture
def rp(api: Api, root: Person, account: str) -> RelyingParty:
    created = create(api, root, account, scopes=["users:read", "openid"]).json
    return RelyingParty(api, created["id"], created["secret"])


def request(rp: RelyingParty, **form: str | None) -> Answer:
    return rp.send("/oauth2/token", grant_type="client_credentials", **form)


def users(api: Api, tokens: Json) -> int:
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    return api.get("/users", headers=headers).status_code


def test_the_token_opens_what_the_account_may_do(api: Api, rp: RelyingParty) -> None:
    answer = request(rp)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.json["scope"] == "users:read"
    assert "refresh_token" not in answer.json
    assert "id_token" not in answer.json
    assert users(api, answer.json) == 200
    assert rp.user_info(answer.json["access_token"]).status_code == 403
    rp.send("/oauth2/revoke", token=answer.json["access_token"])
    assert users(api, answer.json) == 401


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"scope": "openid"}, "invalid_scope"),
        ({"scope": "files:read"}, "invalid_scope"),
        ({"resource": "https://other.example.com/"}, "invalid_target"),
    ],
)
def test_other_requests_are_refused(rp: RelyingParty, form: dict[str, str], error: str) -> None:
    answer = request(rp, **form)
    assert (answer.status_code, answer.json["error"]) == (400, error)


def test_the_secret_is_required(rp: RelyingParty) -> None:
    for secret in (None, "wrong"):
        stranger = RelyingParty(rp.api, rp.id, secret)
        assert request(stranger).status_code == 401


def test_a_client_without_an_account_gets_none(api: Api, root: Person) -> None:
    answer = request(RelyingParty.register(api, scopes=["users:read"]))
    assert answer.json["error"] == "unauthorized_client"


def test_a_deleted_account_ends_its_tokens(
    api: Api, root: Person, rp: RelyingParty, account: str
) -> None:
    tokens = request(rp).json
    assert api.delete(f"/api/v1/service-accounts/{account}", by=root).status_code == 200
    assert users(api, tokens) == 401
    assert request(rp).json["error"] == "invalid_grant"


def test_only_managers_of_the_account_bind_it(api: Api, root: Person) -> None:
    admin = api.person(admin=True)
    tenant = api.tenant(admin)
    account = api.post(f"{tenant}/service-accounts", {"name": "Robot"}, by=admin).json["id"]
    scopes = ["files:write"]
    refused = create(api, root, account, scopes=scopes)
    assert error_code(refused) == "error.client-service-account-refused"
    created = create(api, admin, account, scopes=scopes)
    assert created.status_code == 201, created.text
    rp = RelyingParty(api, created.json["id"], created.json["secret"])
    tokens = request(rp).json
    robot = replace(admin, id=account, token=tokens["access_token"])
    assert api.upload(tenant, robot, "file", b"content")["owner"] == {"$ref": account}


def test_a_person_is_no_service_account(api: Api, root: Person) -> None:
    for account in (api.person().id, root.id):
        refused = create(api, root, account)
        assert error_code(refused) == "error.client-service-account-refused"


def test_a_public_client_has_no_account(api: Api, root: Person, account: str) -> None:
    refused = create(api, root, account, public=True)
    assert error_code(refused) == "error.client-service-account-refused"


def test_the_account_can_be_removed(api: Api, root: Person, rp: RelyingParty) -> None:
    changes = {"revision": 1, "serviceAccountId": None}
    changed = api.patch(f"{CLIENTS}/{rp.id}", changes, by=root).json
    assert changed["serviceAccountId"] is None
    assert request(rp).json["error"] == "unauthorized_client"
