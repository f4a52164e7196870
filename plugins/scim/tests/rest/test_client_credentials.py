"""A directory with client credentials, as Entra has them: tokens of an hour instead of a key."""

from dataclasses import dataclass
from typing import Any

import pytest
from tests.support.api import Answer, Api
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.directories import USER, Company
from tests.support.relying_party import PLUGINS, RelyingParty

RESOURCE = "https://files.example.com/scim/v2"

pytestmark = [
    on_sqlite,
    pytest.mark.config(merged(lifted(), {"plugins": {"enabled": [*PLUGINS, "scim"]}})),
]


@dataclass
class Entra:
    """A client of the tenant's directory, with its requests."""

    company: Company
    client: RelyingParty

    @classmethod
    def made(cls, api: Api) -> "Entra":
        # Another client, which makes the tables of the provider, too.
        RelyingParty.register(api)
        company = Company.made(api, api.person(admin=True))
        body = {
            "name": "Entra",
            "scopes": ["users:write"],
            "serviceAccountId": company.account,
            "resources": [RESOURCE],
        }
        created = api.post("/api/v1/clients", body, by=company.owner)
        assert created.status_code == 201, created.text
        return cls(company, RelyingParty(api, created.json["id"], created.json["secret"]))

    def token(self, **form: str) -> Answer:
        return self.client.send("/oauth2/token", grant_type="client_credentials", **form)

    def scim(self, token: str, method: str, path: str, **options: Any) -> Answer:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/scim+json"}
        api = self.company.api
        return api.request(method, f"/scim/v2{path}", headers=headers, **options)


@pytest.fixture
def entra(api: Api) -> Entra:
    return Entra.made(api)


@pytest.mark.parametrize(
    "form",
    [
        {"scope": "users:write", "resource": RESOURCE},
        {"scope": "users:write"},
        {},
    ],
    ids=["resource", "scope", "defaults"],
)
def test_a_token_provisions_users_of_the_tenant(entra: Entra, form: dict[str, str]) -> None:
    tenant = entra.company.tenant
    answer = entra.token(**form)
    assert answer.status_code == 200, answer.text
    token = answer.json
    assert (token["token_type"], token["scope"]) == ("Bearer", "users:write")
    assert 0 < token["expires_in"] <= 3600
    assert "refresh_token" not in token
    # The token reaches this tenant only, so the path need not name it.
    assert entra.scim(token["access_token"], "GET", "/Users").json["totalResults"] == 0
    base = f"/tenants/{tenant}"
    body = {"schemas": [USER], "userName": "ann@acme.example", "active": True}
    made = entra.scim(token["access_token"], "POST", f"{base}/Users", json=body)
    assert made.status_code == 201, made.text
    assert made.json["meta"]["location"].endswith(f"/scim/v2{base}/Users/{made.json['id']}")
    query = f"{base}/Users?filter=userName+eq+%22ann@acme.example%22"
    assert entra.scim(token["access_token"], "GET", query).json["totalResults"] == 1


def test_a_token_ends_after_its_time(entra: Entra) -> None:
    path = f"/tenants/{entra.company.tenant}/Users"
    first = entra.token().json
    entra.company.api.clock.advance(first["expires_in"] * 1000)
    assert entra.scim(first["access_token"], "GET", path).status_code == 401
    second = entra.token().json
    assert entra.scim(second["access_token"], "GET", path).status_code == 200


def test_a_token_ends_with_its_account(entra: Entra) -> None:
    company, path = entra.company, f"/tenants/{entra.company.tenant}/Users"
    token = entra.token().json["access_token"]
    assert entra.scim(token, "GET", path).status_code == 200
    account = f"{company.path}/service-accounts/{company.account}"
    assert company.api.delete(account, by=company.owner).status_code == 200
    assert entra.scim(token, "GET", path).status_code == 401


def test_a_token_opens_neither_another_tenant_nor_more_than_its_scope(entra: Entra, api: Api) -> None:
    other: Company = Company.made(api)
    token = entra.token(scope="users:write").json["access_token"]
    assert entra.scim(token, "GET", f"/tenants/{other.tenant}/Users").status_code == 403
    for path in ("/users", f"{entra.company.path}/members", "/users/me"):
        answer = api.get(path, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401, (path, answer.text)
    assert entra.token(scope="scim").json["error"] == "invalid_scope"


def test_a_token_for_the_rest_api_opens_no_directory(entra: Entra) -> None:
    token = entra.token(resource="https://files.example.com").json["access_token"]
    path = f"/tenants/{entra.company.tenant}/Users"
    assert entra.scim(token, "GET", path).status_code == 401


def test_without_a_registration_a_token_opens_nothing(entra: Entra) -> None:
    company = entra.company
    token = entra.token().json["access_token"]
    directory = f"{company.path}/directories/{company.directory}"
    assert company.api.delete(directory, by=company.owner).status_code == 200
    assert entra.scim(token, "GET", f"/tenants/{company.tenant}/Users").status_code == 403
