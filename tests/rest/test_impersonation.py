"""Impersonation: an administrator reads as a user, for a limited time, and changes nothing."""

import re

import pytest
from sqlalchemy import select
from tests.support.api import PASSWORD, Api, Json, Person, claims_of, error_code
from tests.support.config import lifted
from tests.support.scene import Scene

from strongroom.content.nodes.events import DownloadRecorder, FileAction, FileEvents
from strongroom.content.nodes.models import Node, nodes
from strongroom.foundation.caller import Identity
from strongroom.plugin_api.events import SERVER
from strongroom.testing.clock import MINUTE
from strongroom.web.http.access import SAFE_METHODS, Access
from strongroom.web.http.routing import Operation

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.config(
        lifted(), {"plugins": {"enabled": ["storage_local", "factor_totp", "webhooks", "share_links"]}}
    ),
]

REASON: Json = {"reason": "Ticket 7", "minutes": 60}
ALLOWED_CHANGES = {
    ("DELETE", "/authorizations/<reference>"),
    ("POST", "/api/v1/tenants/<tenant_id>/multi-files-download"),
}
"""The end of the impersonation, and a download with a body."""


@pytest.fixture
def admin(api: Api) -> Person:
    return api.person(admin=True, name="Ada")


@pytest.fixture
def user(api: Api) -> Person:
    return api.person()


def impersonate(api: Api, by: Person, user: Person, minutes: int = 60) -> Person:
    answer = api.post(f"/users/{user.id}/impersonation", {**REASON, "minutes": minutes}, by=by)
    assert answer.status_code == 201, answer.text
    assert "refreshToken" not in answer.json
    assert not {"X-Access-Token", "X-Refresh-Token"} & set(answer.headers.keys())
    return Person(user.id, user.email, answer.json["accessToken"])


def machine(api: Api, admin: Person, *scopes: str) -> Json:
    account = api.post("/api/v1/service-accounts", {"name": "Support"}, by=admin).json
    body = {"name": "key", "scopes": list(scopes), "currentPassword": PASSWORD}
    created: Json = api.post(f"/users/{account['id']}/access-keys", body, by=admin).json
    return {**created, "userId": account["id"]}


def test_it_reads_as_the_user_and_its_token_names_the_administrator(
    api: Api, admin: Person, user: Person
) -> None:
    tenant = api.tenant(user)
    acting = impersonate(api, admin, user, minutes=30)
    assert acting.token is not None
    claims = claims_of(acting.token)
    assert (claims["sub"], claims["act"], claims["amr"]) == (
        user.id,
        {"sub": admin.id},
        ["impersonation"],
    )
    assert claims["exp"] == api.clock.now() // 1000 + 30 * 60
    assert api.get("/users/me", by=acting).json["id"] == user.id
    assert [item["id"] for item in api.get("/api/v1/tenants", by=acting).json["data"]] == [
        tenant.rpartition("/")[2]
    ]
    api.clock.advance(29 * MINUTE)
    assert api.get("/users/me", by=acting).status_code == 200
    api.clock.advance(MINUTE)
    assert api.get("/users/me", by=acting).status_code == 401


def test_each_route_that_changes_something_refuses_it(api: Api, admin: Person, user: Person) -> None:
    acting = impersonate(api, admin, user)
    allowed, checked = set(), 0
    for rule in api.app.url_map.iter_rules():
        view = api.app.view_functions[rule.endpoint]
        if not isinstance(view, Operation) or view.access is Access.PUBLIC:
            continue
        (method,) = (rule.methods or set()) - {"HEAD", "OPTIONS"} or {"OPTIONS"}
        if view.accepts_impersonation:
            assert view.sensitive is None, rule.rule
            allowed |= set() if method in SAFE_METHODS else {(method, rule.rule)}
            continue
        answer = api.request(method, re.sub("<[^>]*>", "me", rule.rule), by=acting)
        assert error_code(answer) == "error.impersonation-refused", (method, rule.rule)
        checked += 1
    assert allowed == ALLOWED_CHANGES
    assert checked > 80


def test_it_is_no_administrator_and_impersonates_nobody(api: Api, admin: Person, user: Person) -> None:
    acting, other = impersonate(api, admin, user), api.person()
    assert api.get("/users", by=acting).status_code == 403
    nested = api.post(f"/users/{other.id}/impersonation", REASON, by=acting)
    assert error_code(nested) == "error.impersonation-refused"


def test_only_ordinary_active_users_are_impersonated_by_administrators_only(
    api: Api, admin: Person, user: Person
) -> None:
    second, suspended = api.person(admin=True), api.person()
    robot = machine(api, admin, "users:write")["userId"]
    api.post(f"/users/{suspended.id}/suspension", by=admin)
    for target, status in (
        (admin.id, 403),
        (second.id, 403),
        (robot, 403),
        (suspended.id, 403),
        ("0190a1b2-0000-7000-8000-000000000000", 404),
    ):
        answer = api.post(f"/users/{target}/impersonation", REASON, by=admin)
        assert answer.status_code == status, target
    for caller in (user, api.person()):
        assert api.post(f"/users/{user.id}/impersonation", REASON, by=caller).status_code == 403
    for body in ({"reason": "x", "minutes": 61}, {"reason": "x", "minutes": 0}, {"minutes": 5}):
        answer = api.post(f"/users/{user.id}/impersonation", body, by=admin)
        assert error_code(answer) == "error.validation-failed"


def test_the_user_sees_it_and_ends_it(api: Api, admin: Person, user: Person) -> None:
    acting = impersonate(api, admin, user)
    listed = api.get("/users/me/authorizations", by=user).json
    (shown,) = [item for item in listed["data"] if item["actor"]]
    assert shown["actor"] == {"$ref": admin.id}
    assert listed["included"][admin.id]["name"] == "Ada"
    assert api.delete(f"/authorizations/{shown['id']}", by=user).status_code == 200
    assert api.get("/users/me", by=acting).status_code == 401
    assert api.get("/users/me", by=user).status_code == 200


def test_it_ends_itself_and_no_other_login_of_the_user(api: Api, admin: Person, user: Person) -> None:
    acting = impersonate(api, admin, user)
    logins = api.get("/users/me/authorizations", by=acting).json["data"]
    (own,) = [item["id"] for item in logins if not item["actor"]]
    refused = api.delete(f"/authorizations/{own}", by=acting)
    assert error_code(refused) == "error.impersonation-refused"
    assert api.delete("/authorizations/current", by=acting).status_code == 200
    assert api.get("/users/me", by=acting).status_code == 401
    assert api.get("/users/me", by=user).status_code == 200


def test_the_audit_log_and_the_events_have_both(api: Api, admin: Person, user: Person) -> None:
    acting = impersonate(api, admin, user)
    api.delete("/authorizations/current", by=acting)
    events = api.get("/audit-events", by=admin).json["data"]
    (started,) = [event for event in events if event["action"] == "impersonation.start"]
    assert (started["actor"]["$ref"], started["target"]["id"]) == (admin.id, user.id)
    assert started["details"]["reason"] == "Ticket 7"
    (ended,) = [event for event in events if event["action"] == "impersonation.end"]
    assert ended["actor"]["$ref"] == admin.id
    assert ended["details"] == {
        "userId": user.id,
        "administratorId": admin.id,
        "onBehalfOf": user.id,
    }


def test_a_download_is_recorded_with_the_administrator_and_the_user(
    api: Api, admin: Person, scene: Scene
) -> None:
    file = scene.file("read")
    acting = impersonate(api, admin, scene.admin)
    url = f"{scene.path}/files/{file['id']}/download"
    assert api.get(url, by=scene.admin).status_code == 200
    assert api.get(url, by=acting).status_code == 200
    api.container.get(DownloadRecorder).flush()
    path = f"{scene.path}/file-events?action=file.downloaded"
    listed = api.get(path, by=scene.admin).json
    pairs = {
        (event["actor"]["$ref"], (event["onBehalfOf"] or {}).get("$ref")) for event in listed["data"]
    }
    assert pairs == {(scene.admin.id, None), (admin.id, scene.admin.id)}
    assert {admin.id, scene.admin.id} <= listed["included"].keys()
    assert len(api.get(f"{path}&actorId={admin.id}", by=scene.admin).json["data"]) == 1


def test_a_change_is_published_with_the_administrator_and_the_user(api: Api, scene: Scene) -> None:
    administrator, files = api.person(admin=True), api.container.get(FileEvents)
    file = scene.file("read")
    tenant_id = scene.path.rpartition("/")[2]
    feed = f"{scene.path}/changes"
    cursor = api.get(feed, by=scene.admin).json["meta"]["cursor"]
    caller = Identity(scene.alice.id, "USER", "", actor_id=administrator.id)
    # No route lets an impersonated user change a file.
    with api.container.database.write() as connection:
        row = connection.execute(select(nodes).where(nodes.c.id == file["id"])).one()
        node = Node(**{name: getattr(row, name) for name in Node._fields})
        files.record(connection, FileAction.RENAMED, caller, node)
    (change,) = api.get(f"{feed}?cursor={cursor}", by=scene.admin).json["data"]
    (event,) = api.container.events.log.read(tenant_id, change["sequence"] - 1, 10)
    both = {"actor": {"$ref": administrator.id}, "onBehalfOf": {"$ref": scene.alice.id}}
    assert {name: change[name] for name in both} == both
    assert {name: event.data[name] for name in both} == both


def test_an_event_of_the_server_has_the_administrator_and_the_user(
    api: Api, admin: Person, user: Person
) -> None:
    acting = impersonate(api, admin, user)
    before = api.container.events.log.newest(SERVER)
    api.delete("/authorizations/current", by=acting)
    (event,) = api.container.events.log.read(SERVER, before, 10)
    assert event.data["actor"] == {"$ref": admin.id}
    assert event.data["onBehalfOf"] == {"$ref": user.id}


@pytest.mark.parametrize("change", ["suspended", "deleted", "demoted", "logged out", "all ended"])
def test_it_ends_at_once_with_its_administrator(
    api: Api, admin: Person, user: Person, change: str
) -> None:
    second = api.person(admin=True)
    acting = impersonate(api, second, user)
    path = f"/users/{second.id}"
    answer = {
        "suspended": lambda: api.post(f"{path}/suspension", by=admin),
        "deleted": lambda: api.delete(path, by=admin),
        "demoted": lambda: api.patch(path, {"type": "USER"}, by=admin),
        "logged out": lambda: api.delete("/authorizations/current", by=second),
        "all ended": lambda: api.delete(f"{path}/authorizations", by=admin),
    }[change]()
    assert answer.status_code == 200, answer.text
    assert api.get("/users/me", by=acting).status_code == 401
    assert api.get("/users/me", by=user).status_code == 200


def test_it_ends_at_once_with_the_user(api: Api, admin: Person, user: Person) -> None:
    acting = impersonate(api, admin, user)
    assert api.post(f"/users/{user.id}/suspension", by=admin).status_code == 200
    assert api.get("/users/me", by=acting).status_code == 401


def test_a_service_account_impersonates_by_its_scope_and_until_its_key_is_revoked(
    api: Api, admin: Person, user: Person
) -> None:
    key = machine(api, admin, "users:impersonate")
    robot = Person(key["userId"], "", key["key"])
    acting = impersonate(api, robot, user)
    assert acting.token is not None
    assert claims_of(acting.token)["act"] == {"sub": robot.id}
    writer = machine(api, admin, "users:write")
    refused = api.post(
        f"/users/{user.id}/impersonation", REASON, by=Person(writer["userId"], "", writer["key"])
    )
    assert error_code(refused) == "error.insufficient-scope"
    revoked = api.delete(f"/users/{robot.id}/access-keys/{key['id']}", by=admin)
    assert revoked.status_code == 200, revoked.text
    assert api.get("/users/me", by=acting).status_code == 401


def test_it_does_not_enter_a_tenant_that_demands_a_second_factor(
    api: Api, admin: Person, user: Person
) -> None:
    tenant = api.tenant(user)
    assurance = {"assurance": {"acr": "urn:strongroom:mfa"}}
    answer = api.patch(tenant, assurance, by=admin)
    assert answer.status_code == 200, answer.text
    acting = impersonate(api, admin, user)
    assert error_code(api.get(tenant, by=acting)) == "error.step-up-required"
