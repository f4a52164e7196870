"""Service accounts of the server: machines that administer users and tenants within their scopes."""

from dataclasses import replace

import pytest
from tests.support.api import PASSWORD, Answer, Api, Json, Person, error_code

from strongroom.foundation.caller import SERVER_SCOPES

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.config({"users": {"link_url": "https://app.example.com/password#"}}),
]

PATH = "/api/v1/service-accounts"


@pytest.fixture
def admin(api: Api) -> Person:
    return api.person(admin=True)


@pytest.fixture
def account(api: Api, admin: Person) -> Json:
    answer = api.post(PATH, {"name": "Provisioning"}, by=admin)
    assert answer.status_code == 201, answer.text
    created: Json = answer.json
    assert api.get(answer.headers["Location"], by=admin).json == created
    return created


def request_key(api: Api, by: Person, user_id: str, *scopes: str, **limits: str) -> Answer:
    body: Json = {"name": "key", "scopes": list(scopes), "currentPassword": PASSWORD, **limits}
    return api.post(f"/users/{user_id}/access-keys", body, by=by)


def robot_of(api: Api, by: Person, user_id: str, *scopes: str) -> Person:
    answer = request_key(api, by, user_id, *scopes)
    assert answer.status_code == 201, answer.text
    return Person(user_id, "", answer.json["key"])


def test_only_administrators_without_a_key_manage_the_accounts(
    api: Api, admin: Person, account: Json
) -> None:
    robot = robot_of(api, admin, account["id"], *SERVER_SCOPES)
    for caller in (api.person(), robot):
        for method, path in (
            ("GET", PATH),
            ("POST", PATH),
            ("GET", f"{PATH}/{account['id']}"),
            ("PATCH", f"{PATH}/{account['id']}"),
            ("DELETE", f"{PATH}/{account['id']}"),
        ):
            assert api.request(method, path, json={"name": "x"}, by=caller).status_code == 403
    assert request_key(api, robot, account["id"], "users:read").status_code == 403
    assert request_key(api, api.person(), account["id"], "users:read").status_code == 403


def test_it_is_listed_renamed_and_deleted_with_its_keys(api: Api, admin: Person, account: Json) -> None:
    path = f"{PATH}/{account['id']}"
    robot = robot_of(api, admin, account["id"], "users:read")
    assert api.get("/users", by=robot).status_code == 200
    renamed = api.patch(path, {"name": "SCIM"}, by=admin).json
    assert renamed == {**account, "name": "SCIM"}
    assert api.get(PATH, by=admin).json["data"] == [renamed]
    assert api.delete(path, by=admin).status_code == 200
    assert api.get(PATH, by=admin).json["data"] == []
    assert api.get(path, by=admin).status_code == 404
    assert api.get("/users", by=robot).status_code == 401


def test_a_suspension_ends_its_rights_at_once(api: Api, admin: Person, account: Json) -> None:
    robot = robot_of(api, admin, account["id"], "users:read")
    assert api.post(f"/users/{account['id']}/suspension", by=admin).status_code == 200
    assert api.get("/users", by=robot).status_code == 401


def test_administrators_rotate_and_rename_its_keys_but_not_those_of_each_other(
    api: Api, admin: Person, account: Json
) -> None:
    key = request_key(api, admin, account["id"], "users:read").json
    path = f"/users/{account['id']}/access-keys/{key['id']}"
    other = api.person(admin=True)
    rotated = api.post(f"{path}/rotate", {"currentPassword": PASSWORD}, by=other).json
    assert api.get("/users", by=replace(admin, token=key["key"])).status_code == 401
    assert api.get("/users", by=replace(admin, token=rotated["key"])).status_code == 200
    assert api.patch(path, {"name": "new"}, by=other).json["name"] == "new"
    assert request_key(api, other, admin.id, "users:read").status_code == 403


def test_its_keys_have_scopes_of_the_server_and_no_tenant(
    api: Api, admin: Person, account: Json
) -> None:
    tenant_id = api.tenant(admin).rpartition("/")[2]
    refused = request_key(api, admin, account["id"], "users:read", "files:read")
    assert error_code(refused) == "error.validation-failed"
    limited = request_key(api, admin, account["id"], "tenants:read", tenantId=tenant_id)
    assert error_code(limited) == "error.validation-failed"


def test_it_never_logs_in_and_no_administrator_changes_its_type(
    api: Api, admin: Person, account: Json
) -> None:
    path = f"/users/{account['id']}"
    assert api.get(path, by=admin).json["type"] == "SERVICE"
    assert api.patch(path, {"type": "ADMIN"}, by=admin).status_code == 403
    assert api.patch(path, {"type": "USER"}, by=admin).status_code == 403


@pytest.mark.parametrize("is_own", [False, True])
def test_a_key_administers_users_within_its_scope_only(
    api: Api, admin: Person, account: Json, *, is_own: bool
) -> None:
    owner = admin.id if is_own else account["id"]
    reader, writer = (robot_of(api, admin, owner, f"users:{kind}") for kind in ("read", "write"))
    user = api.person()
    path = f"/users/{user.id}"
    for robot in (reader, writer):
        assert api.get(path, by=robot).status_code == 200
        assert api.get("/users", by=robot).status_code == 200
        assert error_code(api.get("/audit-events", by=robot)) == "error.insufficient-scope"
        assert error_code(api.get(f"{path}/access-keys", by=robot)) == "error.key-not-accepted"
    for method, changed in (("PATCH", path), ("POST", f"{path}/suspension"), ("DELETE", path)):
        body = {"name": "New"} if method == "PATCH" else None
        refused = api.request(method, changed, json=body, by=reader)
        assert error_code(refused) == "error.insufficient-scope"
        assert api.request(method, changed, json=body, by=writer).status_code == 200, changed


@pytest.mark.parametrize("is_own", [False, True])
def test_a_key_neither_changes_nor_makes_administrators_or_service_accounts(
    api: Api, admin: Person, account: Json, *, is_own: bool
) -> None:
    robot = robot_of(api, admin, admin.id if is_own else account["id"], "users:write")
    user, second = api.person(), api.person(admin=True)
    assert api.patch(f"/users/{user.id}", {"type": "ADMIN"}, by=robot).status_code == 403
    for target in (admin.id, second.id, account["id"]):
        path = f"/users/{target}"
        assert api.patch(path, {"name": "x"}, by=robot).status_code == 403
        assert api.post(f"{path}/suspension", by=robot).status_code == 403
        assert api.delete(f"{path}/suspension", by=robot).status_code == 403
        assert api.patch(f"{path}/metadata", {"plan": "x"}, by=robot).status_code == 403
        assert api.patch(f"{path}/server-metadata", {"plan": "x"}, by=robot).status_code == 403
        assert api.get(f"{path}/server-metadata", by=admin).json == {}
        link = api.post(f"{path}/links", {"kind": "reset"}, by=robot)
        assert error_code(link) == "error.forbidden"
        assert api.delete(path, by=robot).status_code == 403


def test_a_key_of_an_ordinary_user_with_all_scopes_is_that_user_only(api: Api, admin: Person) -> None:
    user = api.person()
    robot = robot_of(api, user, "me", *SERVER_SCOPES)
    assert api.get("/users", by=robot).status_code == 403
    assert api.get("/audit-events", by=robot).status_code == 403
    assert api.get("/api/v1/tenants?all=true", by=robot).status_code == 403
    assert api.get(f"/users/{admin.id}", by=robot).status_code == 403
    assert api.patch(f"/users/{admin.id}", {"name": "x"}, by=robot).status_code == 403
    assert api.patch("/users/me", {"type": "ADMIN"}, by=robot).status_code == 403
    assert api.patch("/users/me", {"name": "x"}, by=robot).status_code == 200
    assert api.delete("/users/me", by=robot).status_code == 403


def test_it_creates_tenants_and_manages_their_members_and_groups(
    api: Api, admin: Person, account: Json
) -> None:
    robot = robot_of(api, admin, account["id"], "tenants:write")
    user = api.person()
    tenant = api.tenant(robot)
    assert api.put(f"{tenant}/members/{user.id}", {"role": "admin"}, by=robot).status_code == 200
    group = api.post(f"{tenant}/groups", {"name": "Staff"}, by=robot)
    assert group.status_code == 201, group.text
    member = f"{tenant}/groups/{group.json['id']}/members/{user.id}"
    assert api.put(member, by=robot).status_code == 200
    assert error_code(api.get(f"{tenant}/owners/me/files", by=robot)) == "error.insufficient-scope"
    other = api.tenant(admin)
    listed = [item["id"] for item in api.get("/api/v1/tenants?all=true", by=robot).json["data"]]
    assert {tenant.rpartition("/")[2], other.rpartition("/")[2]} == set(listed)
    assert api.get(f"{other}/usage", by=robot).status_code == 200
    # As administrators of the server, it does not enter tenants of which it is no member.
    assert api.put(f"{other}/members/{user.id}", {"role": "member"}, by=robot).status_code == 403


def test_a_service_account_of_a_tenant_never_administers_the_server(api: Api, admin: Person) -> None:
    tenant = api.tenant(admin)
    robot_id = api.post(f"{tenant}/service-accounts", {"name": "Robot"}, by=admin).json["id"]
    keys = f"{tenant}/service-accounts/{robot_id}/access-keys"
    body: Json = {"name": "key", "currentPassword": PASSWORD}
    for scope in SERVER_SCOPES - {"tenants:read", "users:read", "users:write"}:
        answer = api.post(keys, {**body, "scopes": [scope]}, by=admin)
        assert error_code(answer) == "error.validation-failed", scope
    key = api.post(keys, {**body, "scopes": ["tenants:read"]}, by=admin).json["key"]
    robot = Person(robot_id, "", key)
    assert api.get("/api/v1/tenants?all=true", by=robot).status_code == 403
    # Directories of the tenant have these scopes, which open no route of the server.
    key = api.post(keys, {**body, "scopes": ["users:read", "users:write"]}, by=admin).json["key"]
    directory = Person(robot_id, "", key)
    for path in ("/users", f"/users/{admin.id}", "/users/me", "/api/v1/server-info"):
        assert api.get(path, by=directory).status_code in (403, 404), path
    body = {"name": "Eve", "email": "eve@example.com"}
    assert api.post("/users", body, by=directory).status_code in (400, 403)
    assert api.patch(f"/users/{admin.id}", {"name": "Eve"}, by=directory).status_code == 403
    assert request_key(api, admin, robot_id, "users:read").status_code == 403
    assert api.get(f"{PATH}/{robot_id}", by=admin).status_code == 404


def test_codes_are_sent_for_it_without_the_limit_per_device(
    api: Api, admin: Person, account: Json
) -> None:
    robot = robot_of(api, admin, account["id"], "users:write")
    device = {"X-Device-Id": "backend"}

    def request_code(recipient: str, by: Person | None) -> int:
        return api.request_code(recipient, "register", by=by, headers=device).status_code

    assert request_code("a@example.com", None) == 201
    assert request_code("b@example.com", None) == 429
    assert request_code("b@example.com", robot) == 201
    assert request_code("c@example.com", robot) == 201
    assert request_code("c@example.com", robot) == 429, "the limit of the recipient stands"
    own = robot_of(api, api.person(), "me", "users:write")
    assert request_code("d@example.com", own) == 429
    reader = robot_of(api, admin, account["id"], "users:read")
    assert request_code("d@example.com", reader) == 403
    assert request_code("d@example.com", replace(admin, token=f"{robot.token}x")) == 401
    assert request_code("d@example.com", replace(admin, token="expired")) == 429


def test_it_creates_users_without_codes_and_without_a_limit_of_registrations(
    api: Api, admin: Person, account: Json
) -> None:
    robot = robot_of(api, admin, account["id"], "users:write")
    body = {"name": "Ada", "email": "ada@example.com", "emailVerified": True, "externalId": "7"}
    created = api.post("/users", body, by=robot)
    assert created.status_code == 201, created.text
    assert api.get(f"/users/{created.json['id']}", by=robot).json["externalId"] == "7"
    reader = robot_of(api, admin, account["id"], "users:read")
    assert error_code(api.post("/users", body, by=reader)) == "error.insufficient-scope"
    own = robot_of(api, api.person(), "me", "users:write")
    assert error_code(api.post("/users", body, by=own)) == "error.validation-failed"
