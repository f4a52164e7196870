"""Users with a second factor prove it again for the sensitive routes, and for no others."""

import re
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pyotp
import pytest
from tests.support.api import PASSWORD, Api, Json, Person, claims_of, error_code
from tests.support.config import Table, lifted, merged

from strongroom.http.access import Access
from strongroom.http.routing import Operation
from strongroom.plugin_api.authentication import Sensitive
from strongroom.testing.clock import MINUTE, ManualClock
from strongroom_factor_totp import plugin

UNKNOWN = "0190a1b2-0000-7000-8000-000000000000"
FRESH = 10 * MINUTE

ACCOUNT_KEYS = "/api/v1/tenants/<tenant_id>/service-accounts/<account_id>/access-keys"

SENSITIVE = {
    ("POST", "/users/<user_id>/emails"): Sensitive.CREDENTIALS,
    ("DELETE", "/users/<user_id>/emails"): Sensitive.CREDENTIALS,
    ("POST", "/users/<user_id>/mobiles"): Sensitive.CREDENTIALS,
    ("DELETE", "/users/<user_id>/mobiles"): Sensitive.CREDENTIALS,
    ("PUT", "/users/<user_id>/username"): Sensitive.CREDENTIALS,
    ("PUT", "/users/<user_id>/password"): Sensitive.CREDENTIALS,
    ("POST", "/users/<user_id>/factors"): Sensitive.FACTORS,
    ("POST", "/users/<user_id>/factors/<enrolment_id>/confirmation"): Sensitive.FACTORS,
    ("PATCH", "/users/<user_id>/factors/<factor_id>"): Sensitive.FACTORS,
    ("DELETE", "/users/<user_id>/factors/<factor_id>"): Sensitive.FACTORS,
    ("DELETE", "/users/<user_id>/factors"): Sensitive.FACTORS,
    ("POST", "/users/<user_id>/recovery-codes"): Sensitive.FACTORS,
    ("POST", "/users/<user_id>/totp"): Sensitive.FACTORS,
    ("POST", "/users/<user_id>/totp/confirmation"): Sensitive.FACTORS,
    ("DELETE", "/users/<user_id>/totp"): Sensitive.FACTORS,
    ("POST", "/users/<user_id>/access-keys"): Sensitive.KEYS,
    ("POST", "/users/<user_id>/access-keys/<key_id>/rotate"): Sensitive.KEYS,
    ("POST", ACCOUNT_KEYS): Sensitive.KEYS,
    ("POST", f"{ACCOUNT_KEYS}/<key_id>/rotate"): Sensitive.KEYS,
    ("DELETE", "/users/<user_id>"): Sensitive.ACCOUNTS,
    ("POST", "/users/<user_id>/suspension"): Sensitive.ACCOUNTS,
    ("DELETE", "/users/<user_id>/suspension"): Sensitive.ACCOUNTS,
    ("PATCH", "/api/v1/tenants/<tenant_id>"): Sensitive.TENANTS,
    ("DELETE", "/api/v1/tenants/<tenant_id>"): Sensitive.TENANTS,
    ("PUT", "/api/v1/tenants/<tenant_id>/members/<user_id>"): Sensitive.TENANTS,
    ("DELETE", "/api/v1/tenants/<tenant_id>/members/<user_id>"): Sensitive.TENANTS,
    ("POST", "/api/v1/tenants/<tenant_id>/members/<user_id>/transfer"): Sensitive.TENANTS,
    ("POST", "/api/v1/tenants/<tenant_id>/transfer"): Sensitive.TENANTS,
    ("POST", "/api/v1/tenants/<tenant_id>/service-accounts"): Sensitive.TENANTS,
    ("DELETE", "/api/v1/tenants/<tenant_id>/service-accounts/<account_id>"): Sensitive.TENANTS,
    ("DELETE", "/api/v1/tenants/<tenant_id>/files/<file_id>/hold"): Sensitive.FILES,
    ("PUT", "/api/v1/tenants/<tenant_id>/retention"): Sensitive.FILES,
    ("DELETE", "/api/v1/tenants/<tenant_id>/trash"): Sensitive.FILES,
    ("DELETE", "/api/v1/tenants/<tenant_id>/trash/<file_id>"): Sensitive.FILES,
    ("DELETE", "/api/v1/tenants/<tenant_id>/files/<file_id>/versions/<number>"): Sensitive.FILES,
    ("POST", "/api/v1/quarantine/<scan_id>/release"): Sensitive.FILES,
    ("DELETE", "/api/v1/quarantine/<scan_id>"): Sensitive.FILES,
}


@pytest.fixture
def config_changes() -> Table:
    enabled = {"plugins": {"enabled": ["storage_local", "factor_totp"]}}
    # The access token lasts longer than a proof.
    return merged(lifted(), enabled, {"tokens": {"lifetime_seconds": 3600}})


@pytest.fixture(autouse=True)
def time_of_the_test(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "time", SimpleNamespace(time=lambda: clock.now() / 1000))


@pytest.fixture
def admin(api: Api) -> Person:
    """An administrator of the server with a second factor, proven 10 minutes ago."""
    person = api.person(admin=True)
    begun = api.post("/users/me/factors", {"kind": "totp"}, by=person).json
    body = {"answer": code_of(api, begun["shown"]["secret"])}
    confirmed = api.post(f"/users/me/factors/{begun['id']}/confirmation", body, by=person)
    assert confirmed.status_code == 201, confirmed.text
    api.clock.advance(FRESH)
    return replace(person, email=begun["shown"]["secret"])


def code_of(api: Api, secret: str) -> str:
    return pyotp.TOTP(secret).generate_otp(api.clock.now() // 30_000)


def step_up(api: Api, person: Person) -> Person:
    path = "/authorizations/current/step-up"
    challenge = api.post(path, {}, by=person).json["challenge"]
    body = {"challenge": {"id": challenge["id"], "totp": code_of(api, person.email)}}
    renewed = api.post(path, body, by=person)
    assert renewed.status_code == 200, renewed.text
    return replace(person, token=renewed.json["accessToken"])


def path_of(rule: str) -> str:
    """Return a path of a rule: the caller's own account, and nothing else that exists."""
    return re.sub("<[a-z_]+>", UNKNOWN, rule.replace("<user_id>", "me"))


def operations(api: Api) -> Iterator[tuple[str, str, Operation]]:
    """Yield the method, the path and the operation of each route."""
    for rule in api.app.url_map.iter_rules():
        view = api.app.view_functions[rule.endpoint]
        if isinstance(view, Operation):
            (method,) = (rule.methods or set()) - {"HEAD", "OPTIONS"} or {"OPTIONS"}
            yield method, rule.rule, view


def test_these_routes_are_declared_as_sensitive(api: Api) -> None:
    declared = {
        (method, rule): view.sensitive for method, rule, view in operations(api) if view.sensitive
    }
    assert declared == SENSITIVE


@pytest.mark.parametrize("route", SENSITIVE, ids=" ".join)
def test_an_old_proof_is_refused_and_a_new_one_accepted(
    api: Api, admin: Person, route: tuple[str, str]
) -> None:
    method, rule = route
    refused = api.request(method, path_of(rule), by=admin, json={})
    assert (refused.status_code, error_code(refused)) == (401, "error.step-up-required")
    challenge = refused.headers["WWW-Authenticate"]
    assert 'error="insufficient_user_authentication"' in challenge
    assert 'acr_values="urn:strongroom:mfa", max_age="600"' in challenge
    again = step_up(api, admin)
    assert claims_of(again.token)["auth_time"] == api.clock.now() // 1000
    answer = api.request(method, path_of(rule), by=again, json={})
    assert answer.status_code < 500
    assert answer.status_code < 300 or error_code(answer) != "error.step-up-required"


def test_no_other_route_asks_for_it(api: Api, admin: Person) -> None:
    for method, rule, view in operations(api):
        if view.access is Access.PUBLIC or (method, rule) in SENSITIVE or "current" in rule:
            continue
        if (method, rule) == ("DELETE", "/users/<user_id>/authorizations"):
            continue
        answer = api.request(method, path_of(rule), by=admin, json={})
        asked = answer.status_code == 401 and error_code(answer) == "error.step-up-required"
        assert not asked, (method, rule)


def test_who_has_no_second_factor_is_not_asked(api: Api) -> None:
    root, user = api.person(admin=True), api.person()
    api.clock.advance(FRESH)
    assert api.post(f"/users/{user.id}/suspension", by=root).status_code == 200
    assert api.delete(f"/users/{user.id}/suspension", by=root).status_code == 200
    tenant = api.tenant(root)
    assert api.delete(tenant, by=root).status_code == 200


def test_a_revoked_login_is_told_so_first(api: Api, admin: Person) -> None:
    assert api.delete("/authorizations/current", by=admin).status_code == 200
    refused = api.delete(f"/users/{UNKNOWN}", by=admin)
    assert error_code(refused) == "error.token-invalid"


def test_a_key_is_made_only_with_a_recent_proof(api: Api, admin: Person) -> None:
    body: Json = {"name": "key", "scopes": ["files:read"], "currentPassword": PASSWORD}
    refused = api.post("/users/me/access-keys", body, by=admin)
    assert error_code(refused) == "error.step-up-required"
    made = api.post("/users/me/access-keys", body, by=step_up(api, admin))
    assert made.status_code == 201
