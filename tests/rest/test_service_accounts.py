"""Service accounts: machines of a tenant, which act by access keys only."""

from dataclasses import replace

import pytest
from tests.support.api import PASSWORD, Api, Json, Person, error_code

from strongroom.foundation.caller import Origin
from strongroom.identity.accounts.registration import Registration, RegistrationService
from strongroom.identity.users.models import UserType


@pytest.fixture
def admin(api: Api) -> Person:
    return api.person()


@pytest.fixture
def tenant(api: Api, admin: Person) -> str:
    return api.tenant(admin)


@pytest.fixture
def account(api: Api, admin: Person, tenant: str) -> Json:
    answer = api.post(f"{tenant}/service-accounts", {"name": "Robot"}, by=admin)
    assert answer.status_code == 201, answer.text
    created: Json = answer.json
    assert api.get(answer.headers["Location"], by=admin).json == created
    return created


def make_key(api: Api, admin: Person, path: str, *scopes: str, **limits: str) -> Json:
    body: Json = {"name": "key", "scopes": list(scopes), "currentPassword": PASSWORD, **limits}
    answer = api.post(f"{path}/access-keys", body, by=admin)
    assert answer.status_code == 201, answer.text
    key: Json = answer.json
    return key


def test_it_acts_by_its_keys(api: Api, admin: Person, tenant: str, account: Json) -> None:
    path = f"{tenant}/service-accounts/{account['id']}"
    key = make_key(api, admin, path, "files:write")
    assert key["tenantId"] == tenant.rpartition("/")[2]
    robot = replace(admin, id=account["id"], token=key.pop("key"))
    file = api.upload(tenant, robot, "file", b"content")
    assert file["owner"] == {"$ref": account["id"]}
    assert api.get(f"{path}/access-keys", by=admin).json["data"][0]["id"] == key["id"]
    rotation = f"{path}/access-keys/{key['id']}/rotate"
    rotated = api.post(rotation, {"currentPassword": PASSWORD}, by=admin).json
    details = f"{tenant}/files/{file['id']}"
    assert api.get(details, by=robot).status_code == 401
    robot = replace(robot, token=rotated["key"])
    assert api.get(details, by=robot).status_code == 200
    assert api.delete(f"{path}/access-keys/{key['id']}", by=admin).status_code == 200
    assert api.get(details, by=robot).status_code == 401


def test_it_is_a_member_of_the_type_service(api: Api, admin: Person, tenant: str, account: Json) -> None:
    assert api.get(f"{tenant}/service-accounts", by=admin).json["data"] == [account]
    members = api.get(f"{tenant}/members", by=admin).json
    assert account["id"] in members["included"]
    root = api.person(admin=True)
    found = api.get("/users?type=SERVICE", by=root).json["data"]
    assert [user["id"] for user in found] == [account["id"]]


def test_only_administrators_of_its_tenant_manage_it(
    api: Api, admin: Person, tenant: str, account: Json
) -> None:
    member, stranger = api.person(), api.person()
    api.join(tenant, admin, member)
    other = api.tenant(stranger)
    path = f"{tenant}/service-accounts"
    for person in (member, stranger, api.person(admin=True)):
        for method, url in (
            ("POST", path),
            ("GET", path),
            ("GET", f"{path}/{account['id']}"),
            ("DELETE", f"{path}/{account['id']}"),
            ("GET", f"{path}/{account['id']}/access-keys"),
            ("DELETE", f"{path}/{account['id']}/access-keys/x"),
        ):
            body = {"json": {"name": "x"}} if method == "POST" else {}
            assert api.request(method, url, by=person, **body).status_code == 403, url
    foreign = f"{other}/service-accounts/{account['id']}"
    assert api.get(foreign, by=stranger).status_code == 404
    assert api.delete(foreign, by=stranger).status_code == 404


def test_its_deletion_ends_its_keys(api: Api, admin: Person, tenant: str, account: Json) -> None:
    path = f"{tenant}/service-accounts/{account['id']}"
    key = make_key(api, admin, path, "files:write")
    robot = replace(admin, token=key["key"])
    file = api.upload(tenant, robot, "file", b"content")
    assert api.delete(path, by=admin).status_code == 200
    assert api.get(f"{tenant}/files/{file['id']}", by=robot).status_code == 401
    assert api.get(f"{tenant}/files/{file['id']}", by=admin).status_code == 200
    assert api.get(path, by=admin).status_code == 404


def test_a_key_cannot_manage_accounts(api: Api, admin: Person, tenant: str, account: Json) -> None:
    path = f"{tenant}/service-accounts/{account['id']}"
    body: Json = {"name": "key", "scopes": ["files:share"], "currentPassword": PASSWORD}
    key = api.post("/users/me/access-keys", body, by=admin).json["key"]
    answer = api.post(f"{path}/access-keys", body, by=replace(admin, token=key))
    assert error_code(answer) == "error.key-not-accepted"


def test_the_type_of_users_is_not_changed_to_or_from_it(api: Api, admin: Person, account: Json) -> None:
    root = api.person(admin=True)
    for user, kind in ((account["id"], "USER"), (account["id"], "ADMIN"), (admin.id, "SERVICE")):
        assert api.patch(f"/users/{user}", {"type": kind}, by=root).status_code in (400, 403), kind


def test_it_cannot_log_in(api: Api) -> None:
    # No operation gives it a credential; even with one, it is refused.
    robot = Registration(
        name="Robot", password=PASSWORD, email="robot@example.com", kind=UserType.SERVICE
    )
    api.container.get(RegistrationService).create(robot, Origin())
    assert error_code(api.log_in("robot@example.com")) == "error.invalid-credentials"
