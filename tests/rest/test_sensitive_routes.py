"""Users with a second factor prove it again for the sensitive routes, and for no others."""

import re
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pyotp
import pytest
from tests.support.api import PASSWORD, Api, Json, Person, claims_of, error_code
from tests.support.config import lifted
from tests.support.features import LEFT_OUT_ROUTES

from strongroom.extensions.batches.schemas import BatchOperation
from strongroom.foundation.database.upgrade import upgrade
from strongroom.plugin_api.authentication import Sensitive
from strongroom.testing.clock import MINUTE, ManualClock
from strongroom.web.http.access import Access
from strongroom.web.http.routing import Operation
from strongroom_factor_totp import plugin

UNKNOWN = "0190a1b2-0000-7000-8000-000000000000"
FRESH = 10 * MINUTE

TENANT = "/api/v1/tenants/<tenant_id>"
ACCOUNT_KEYS = f"{TENANT}/service-accounts/<account_id>/access-keys"
INVITATIONS = f"{TENANT}/invitations"
FILE = f"{TENANT}/files/<file_id>"

SENSITIVE = {
    ("POST", "/users/<user_id>/emails"): Sensitive.CREDENTIALS,
    ("DELETE", "/users/<user_id>/emails"): Sensitive.CREDENTIALS,
    ("POST", "/users/<user_id>/mobiles"): Sensitive.CREDENTIALS,
    ("DELETE", "/users/<user_id>/mobiles"): Sensitive.CREDENTIALS,
    ("PUT", "/users/<user_id>/username"): Sensitive.CREDENTIALS,
    ("PUT", "/users/<user_id>/password"): Sensitive.CREDENTIALS,
    ("PUT", "/users/<user_id>/contacts/<kind>"): Sensitive.CREDENTIALS,
    ("DELETE", "/users/<user_id>/contacts/<kind>"): Sensitive.CREDENTIALS,
    ("POST", "/users/<user_id>/temporary-password"): Sensitive.CREDENTIALS,
    ("POST", "/users/<user_id>/links"): Sensitive.CREDENTIALS,
    ("PATCH", "/users/<user_id>/server-metadata"): Sensitive.ACCOUNTS,
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
    ("POST", "/users/<user_id>/deletion"): Sensitive.ACCOUNTS,
    ("POST", "/users/<user_id>/exports"): Sensitive.ACCOUNTS,
    ("POST", "/users/<user_id>/suspension"): Sensitive.ACCOUNTS,
    ("DELETE", "/users/<user_id>/suspension"): Sensitive.ACCOUNTS,
    ("POST", "/user-imports"): Sensitive.ACCOUNTS,
    ("GET", "/user-exports"): Sensitive.ACCOUNTS,
    ("POST", "/users/<user_id>/impersonation"): Sensitive.ACCOUNTS,
    ("POST", "/api/v1/service-accounts"): Sensitive.ACCOUNTS,
    ("DELETE", "/api/v1/service-accounts/<account_id>"): Sensitive.ACCOUNTS,
    ("PATCH", TENANT): Sensitive.TENANTS,
    ("DELETE", TENANT): Sensitive.TENANTS,
    ("PUT", f"{TENANT}/members/<user_id>"): Sensitive.TENANTS,
    ("DELETE", f"{TENANT}/members/<user_id>"): Sensitive.TENANTS,
    ("POST", f"{TENANT}/members/<user_id>/transfer"): Sensitive.TENANTS,
    ("POST", f"{TENANT}/transfer"): Sensitive.TENANTS,
    ("POST", f"{TENANT}/service-accounts"): Sensitive.TENANTS,
    ("DELETE", f"{TENANT}/service-accounts/<account_id>"): Sensitive.TENANTS,
    ("DELETE", f"{FILE}/hold"): Sensitive.FILES,
    ("PUT", f"{TENANT}/retention"): Sensitive.FILES,
    ("DELETE", f"{TENANT}/trash"): Sensitive.FILES,
    ("DELETE", f"{TENANT}/trash/<file_id>"): Sensitive.FILES,
    ("DELETE", f"{FILE}/versions/<number>"): Sensitive.FILES,
    ("POST", "/api/v1/quarantine/<scan_id>/release"): Sensitive.FILES,
    ("DELETE", "/api/v1/quarantine/<scan_id>"): Sensitive.FILES,
}
"""The routes that always have a sensitive effect."""

SOMETIMES = {
    ("PATCH", "/users/<user_id>"): Sensitive.ACCOUNTS,
    ("POST", INVITATIONS): Sensitive.TENANTS,
    ("POST", f"{INVITATIONS}/<invitation_id>/resend"): Sensitive.TENANTS,
    ("DELETE", FILE): Sensitive.FILES,
    ("POST", "/users"): Sensitive.ACCOUNTS,
}
"""The routes whose effect depends on the request."""

OTHERS = {
    "ends a right of the caller's own, or one that must end quickly": (
        "DELETE /users/<user_id>/authorizations",
        "DELETE /users/<user_id>/deletion",
        "DELETE /user-imports/<import_id>",
        "DELETE /users/<user_id>/access-keys/<key_id>",
        f"DELETE {ACCOUNT_KEYS}/<key_id>",
        f"DELETE {INVITATIONS}/<invitation_id>",
        "DELETE /users/<user_id>/invitations/<invitation_id>",
    ),
    "gives the caller what another one has offered, who has proven it": (
        "POST /api/v1/invitation-acceptances",
        "POST /users/<user_id>/invitations/<invitation_id>/acceptance",
    ),
    "changes names, and what users write about themselves": (
        "PATCH /users/<user_id>/metadata",
        "PATCH /users/<user_id>/access-keys/<key_id>",
        "PATCH /api/v1/service-accounts/<account_id>",
        f"PATCH {TENANT}/groups/<group_id>",
        f"PATCH {FILE}/versions/<number>",
    ),
    "is the proof itself": ("POST /authorizations/current/step-up",),
    "creates something empty, with rights for its creator": (
        "POST /api/v1/tenants",
        f"POST {TENANT}/groups",
    ),
    "gives or takes rights on files, which can be taken or given back": (
        f"DELETE {TENANT}/groups/<group_id>",
        f"PUT {TENANT}/groups/<group_id>/members/<user_id>",
        f"DELETE {TENANT}/groups/<group_id>/members/<user_id>",
        f"POST {FILE}/owners",
        f"DELETE {FILE}/owners/<owner_id>",
        f"POST {FILE}/group-grants",
        f"DELETE {FILE}/group-grants/<group_id>",
    ),
    "adds, changes or keeps files, or puts them into the trash": (
        f"POST {TENANT}/folders",
        f"POST {TENANT}/files/<parent_id>/folders",
        f"POST {TENANT}/files",
        f"POST {TENANT}/files/<parent_id>/files",
        f"PATCH {FILE}",
        f"PUT {FILE}/directory",
        f"PUT {FILE}/content",
        f"PUT {FILE}/hold",
        f"POST {FILE}/copies",
        f"POST {FILE}/locks",
        f"PATCH {FILE}/locks/<lock_id>",
        f"DELETE {FILE}/locks/<lock_id>",
        f"POST {FILE}/versions/<number>/restore",
        f"POST {TENANT}/files-batches",
        f"POST {TENANT}/trash/<file_id>/restore",
        f"POST {TENANT}/multi-files-download",
        f"POST {TENANT}/uploads",
        f"PATCH {TENANT}/uploads/<upload_id>",
        f"POST {TENANT}/uploads/<upload_id>",
        f"DELETE {TENANT}/uploads/<upload_id>",
        f"POST {TENANT}/direct-uploads",
        f"POST {TENANT}/direct-uploads/<upload_id>/complete",
        "POST /api/v1/files",
        *(f"POST /api/v1/files/{kind}" for kind in ("photos", "figures", "covers", "avatars")),
        "DELETE /api/v1/files/<file_name>",
    ),
    "sends names of files and users to a receiver, as long as its owner administers them": (
        "POST /api/v1/webhook-endpoints",
        "PATCH /api/v1/webhook-endpoints/<endpoint_id>",
        "DELETE /api/v1/webhook-endpoints/<endpoint_id>",
        *(
            f"POST /api/v1/webhook-endpoints/<endpoint_id>/{action}"
            for action in ("rotate-secret", "take-over", "test", "replay")
        ),
        "POST /api/v1/webhook-endpoints/<endpoint_id>/deliveries/<delivery_id>/redeliver",
    ),
    "shares files by a link, which can be taken back": (
        f"POST {FILE}/shares",
        f"PATCH {TENANT}/shares/<share_id>",
        f"DELETE {TENANT}/shares/<share_id>",
        f"PUT {TENANT}/share-policy",
    ),
}
"""All other routes that change something for a caller, by the reason for which no proof is needed."""

READS = {"GET", "HEAD", "OPTIONS"}

for left_out in LEFT_OUT_ROUTES:
    SENSITIVE.pop(left_out, None)


# The access token lasts longer than a proof.
pytestmark = pytest.mark.config(
    lifted(),
    {"plugins": {"enabled": ["storage_local", "factor_totp", "webhooks", "share_links"]}},
    {"tokens": {"lifetime_seconds": 3600}},
)


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
        (method, rule): (view.sensitive, view.sensitive_if is not None)
        for method, rule, view in operations(api)
        if view.sensitive
    }
    always = {route: (kind, False) for route, kind in SENSITIVE.items()}
    assert declared == always | {route: (kind, True) for route, kind in SOMETIMES.items()}


def test_each_route_that_changes_something_has_an_effect_in_one_of_the_tables(api: Api) -> None:
    changing = {
        f"{method} {rule}"
        for method, rule, view in operations(api)
        if view.sensitive or (method not in READS and view.access in (Access.USER, Access.ADMIN))
    }
    sensitive = {" ".join(route) for route in (*SENSITIVE, *SOMETIMES)}
    others = [route for routes in OTHERS.values() for route in routes]
    assert len(others) == len(set(others))
    assert sorted(changing - sensitive - set(others)) == []
    left_out = {" ".join(route) for route in LEFT_OUT_ROUTES}
    assert sorted((sensitive | set(others)) - changing - left_out) == []
    # A batch has the effects of its operations, so a new one needs a place in these tables.
    assert set(BatchOperation) == {"move", "copy", "trash", "restore", "grant", "revoke"}


@pytest.mark.parametrize("role", ["admin", "records"])
def test_an_invitation_to_a_privileged_role_needs_the_proof_of_a_change_of_the_role(
    api: Api, admin: Person, role: str
) -> None:
    path = f"{api.tenant(admin)}/invitations"
    body = {"email": "new@example.com", "role": role}
    refused = api.post(path, body, by=admin)
    assert (refused.status_code, error_code(refused)) == (401, "error.step-up-required")
    assert api.get(path, by=admin).json["data"] == []
    again = step_up(api, admin)
    invited = api.post(path, body, by=again)
    assert invited.status_code == 201
    api.clock.advance(FRESH)
    refused = api.post(f"{path}/{invited.json['id']}/resend", by=again)
    assert (refused.status_code, error_code(refused)) == (401, "error.step-up-required")
    assert api.post(f"{path}/{invited.json['id']}/resend", by=step_up(api, again)).status_code == 200


@pytest.mark.parametrize("change", [{"type": "ADMIN"}, {"status": "suspended"}, {"externalId": "hr-1"}])
def test_a_change_of_type_status_or_external_id_needs_a_proof_and_one_of_the_name_none(
    api: Api, admin: Person, change: Json
) -> None:
    path = f"/users/{api.person().id}"
    refused = api.patch(path, {"name": "Other", **change}, by=admin)
    assert (refused.status_code, error_code(refused)) == (401, "error.step-up-required")
    assert api.get(path, by=admin).json["name"] != "Other"
    assert api.patch(path, {"name": "Other"}, by=admin).status_code == 200
    assert api.patch(path, change, by=step_up(api, admin)).status_code == 200


def test_an_invitation_of_a_member_needs_no_proof(api: Api, admin: Person) -> None:
    path = f"{api.tenant(admin)}/invitations"
    invited = api.post(path, {"email": "new@example.com"}, by=admin)
    assert invited.status_code == 201
    assert api.post(f"{path}/{invited.json['id']}/resend", by=admin).status_code == 200


def test_an_administrator_creates_users_only_with_a_recent_proof(api: Api, admin: Person) -> None:
    body = {"name": "Bob", "username": "bob"}
    refused = api.post("/users", body, by=admin)
    assert (refused.status_code, error_code(refused)) == (401, "error.step-up-required")
    assert api.post("/users", body, by=step_up(api, admin)).status_code == 201


@pytest.mark.parametrize("query", ["permanently=true", "overrideReason=case"])
def test_a_removal_that_cannot_be_undone_needs_a_proof_and_one_into_the_trash_none(
    api: Api, admin: Person, query: str
) -> None:
    tenant = api.tenant(admin)
    file = f"{tenant}/files/{api.upload(tenant, admin, 'a', b'a')['id']}"
    refused = api.delete(f"{file}?{query}", by=admin)
    assert (refused.status_code, error_code(refused)) == (401, "error.step-up-required")
    assert api.delete(file, by=admin).status_code == 200


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
    if rule.endswith("/exports"):
        # They have rows of plugins.
        upgrade(api.container.database.engine, api.container.selection.plugins.tables)
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
