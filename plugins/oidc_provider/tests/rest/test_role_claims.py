"""Claims about groups and roles, by the rules of a client."""

from typing import Any

import pytest
from tests.support.api import Api, Json, Person, claims_of
from tests.support.config import lifted, merged
from tests.support.page_browser import PageBrowser
from tests.support.relying_party import PLUGINS, RelyingParty, logged_in

from strongroom_oidc_provider.claim_rules import MAX_TOKEN_VALUES

WIKI = "https://wiki.example.com/api"
SCOPE = "openid groups roles"

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.config(merged(lifted(), {"plugins": {"enabled": PLUGINS}})),
]


@pytest.fixture
def person(api: Api) -> Person:
    return api.person()


def add_group(api: Api, path: str, person: Person, name: str) -> Json:
    group: Json = api.post(f"{path}/groups", {"name": name}, by=person).json
    added = api.put(f"{path}/groups/{group['id']}/members/{person.id}", {}, by=person)
    assert added.status_code in (200, 201), added.text
    return group


def register(api: Api, *rules: Json, **members: Any) -> RelyingParty:
    return RelyingParty.register(api, resources=[WIKI], claims=list(rules), **members)


def rule(path: str, **members: Any) -> Json:
    tenants = [path.rpartition("/")[2]]
    return {"name": "groups", "source": "groups", "tenants": tenants, "form": "names", **members}


def test_a_former_member_of_a_group_loses_the_claim_at_the_next_refresh(
    api: Api, person: Person
) -> None:
    path, other = api.tenant(person), api.tenant(person)
    group = add_group(api, path, person, "\u202egnp <b>")
    add_group(api, other, person, "Elsewhere")
    rp = register(api, rule(path, tokens=["id_token", "access_token"]))
    browser: PageBrowser = logged_in(api, person)
    tokens = rp.tokens(browser, scope=SCOPE, resource=WIKI)
    expected = [group["name"]]
    assert rp.claims(tokens)["groups"] == expected
    assert claims_of(tokens["access_token"])["groups"] == expected
    assert rp.user_info(tokens["access_token"]).json["groups"] == expected
    api.delete(f"{path}/groups/{group['id']}/members/{person.id}", by=person)
    assert rp.user_info(tokens["access_token"]).json["groups"] == []
    renewed = rp.refresh(tokens["refresh_token"]).json
    assert rp.claims(renewed)["groups"] == []
    assert claims_of(renewed["access_token"])["groups"] == []


def test_a_client_without_a_rule_or_a_scope_gets_nothing(api: Api, person: Person) -> None:
    path = api.tenant(person)
    add_group(api, path, person, "Editors")
    browser = logged_in(api, person)
    bare = RelyingParty.register(api, scopes=["openid", "groups", "roles"])
    unasked = register(api, rule(path))
    for rp, scope in ((bare, SCOPE), (unasked, "openid")):
        tokens = rp.tokens(browser, scope=scope)
        assert "groups" not in rp.claims(tokens)
        assert rp.user_info(tokens["access_token"]).json == {"sub": person.id}


def test_a_claim_needs_its_own_scope(api: Api, person: Person) -> None:
    path = api.tenant(person)
    add_group(api, path, person, "Editors")
    rp = register(api, rule(path), {"name": "server", "source": "server-role"})
    tokens = rp.tokens(logged_in(api, person), scope="openid roles")
    assert "groups" not in rp.claims(tokens)
    assert rp.user_info(tokens["access_token"]).json == {"sub": person.id, "server": ["USER"]}


def test_roles_are_of_the_tenants_of_the_rule(api: Api, person: Person) -> None:
    path = api.tenant(person)
    tenant_id = path.rpartition("/")[2]
    rp = register(
        api,
        rule(path, name="roles", source="tenant-roles", form="ids"),
        {"name": "server", "source": "server-role"},
        {"name": "https://example.com/roles", "source": "server-data", "field": "roles"},
    )
    root = api.person(admin=True)
    api.patch(f"/users/{person.id}/server-metadata", {"roles": ["editor", 3]}, by=root)
    claims = rp.claims(rp.tokens(logged_in(api, person), scope=SCOPE))
    assert claims["roles"] == [f"{tenant_id}:admin"]
    assert claims["server"] == ["USER"]
    assert claims["https://example.com/roles"] == ["editor"]


def test_too_many_values_are_left_to_the_endpoint(api: Api, person: Person) -> None:
    rp = register(api, {"name": "roles", "source": "server-data", "field": "roles"})
    values = [f"role {number}" for number in range(MAX_TOKEN_VALUES + 1)]
    root = api.person(admin=True)
    api.patch(f"/users/{person.id}/server-metadata", {"roles": values}, by=root)
    tokens = rp.tokens(logged_in(api, person), scope=SCOPE)
    claims = rp.claims(tokens)
    assert "roles" not in claims
    assert claims["_claim_names"] == {"roles": "userinfo"}
    assert claims["_claim_sources"]["userinfo"]["endpoint"].endswith("/oauth2/userinfo")
    assert rp.user_info(tokens["access_token"]).json["roles"] == values


@pytest.mark.parametrize(
    "changes",
    [
        *(
            {"name": name}
            for name in ("sub", "ISS", "aud", "nonce", "acr", "email", "_claim_names", "a b")
        ),
        {"tenants": []},
        {"tenants": ["a", "b"]},
        {"source": "server-role"},
        {"field": "roles"},
    ],
)
def test_invalid_rules_are_refused(api: Api, changes: Json) -> None:
    register(api)
    root = api.person(admin=True)
    body = {
        "name": "Wiki",
        "redirectUris": [WIKI],
        "claims": [rule("/t", **changes)],
    }
    assert api.post("/api/v1/clients", body, by=root).status_code == 400
    double = {**body, "claims": [rule("/t"), rule("/t")]}
    assert api.post("/api/v1/clients", double, by=root).status_code == 400
