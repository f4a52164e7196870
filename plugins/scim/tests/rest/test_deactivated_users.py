"""A user whom the directory deactivates: every secret of before is refused, on another instance too."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.api import PASSWORD, Api, Json, Person
from tests.support.config import lifted, merged
from tests.support.directories import Company

from strongroom.identity.users.credential_changes import note_exempt
from strongroom.identity.users.passwords import UserPasswords

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.config(merged(lifted(), {"plugins": {"enabled": ["storage_local", "scim"]}})),
]


@pytest.fixture
def company(api: Api) -> Company:
    return Company.made(api)


@pytest.fixture
def other(config: Path, api: Api) -> Iterator[Api]:
    with Api.running(config, api.clock) as other:
        yield other


def by_patch(company: Company, user: Json) -> int:
    operation = {"op": "Replace", "path": "active", "value": "False"}
    return company.patch(f"/Users/{user['id']}", operation).status_code


def by_put(company: Company, user: Json) -> int:
    body = {**user, "active": False}
    return company.scim("PUT", f"/Users/{user['id']}", body).status_code


def by_deletion(company: Company, user: Json) -> int:
    return company.scim("DELETE", f"/Users/{user['id']}").status_code


def by_bulk(company: Company, user: Json) -> int:
    operation = {"method": "PUT", "path": f"/Users/{user['id']}", "data": {**user, "active": False}}
    body = {
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],
        "Operations": [operation],
    }
    answer = company.scim("POST", "/Bulk", body)
    return int(answer.json["Operations"][0]["status"])


ENDS: dict[str, Callable[[Company, Json], int]] = {
    "PATCH": by_patch,
    "PUT": by_put,
    "DELETE": by_deletion,
    "bulk": by_bulk,
}


@pytest.mark.parametrize("end", ENDS)
def test_every_secret_of_before_is_refused_on_both_instances(
    company: Company, other: Api, end: str
) -> None:
    api = company.api
    user = company.scim_user(emails=[{"value": "ann@acme.example", "primary": True}])
    passwords = api.container.get(UserPasswords)
    password = passwords.hash_password(PASSWORD)
    with api.container.database.write() as connection:
        note_exempt(connection, user["id"])
        passwords.set_password(connection, user["id"], password)
    login = api.log_in("ann@acme.example")
    assert login.status_code == 200, login.text
    person = Person(user["id"], "ann@acme.example", login.json["accessToken"])
    tokens = {"access": person.token}
    for name, limits in {"key": {}, "tenant key": {"tenantId": company.tenant}}.items():
        body = {"name": name, "scopes": ["files:read"], **limits}
        made = api.post("/users/me/access-keys", body, by=person)
        assert made.status_code == 201, made.text
        tokens[name] = made.json["key"]
    folder = f"{company.path}/owners/me/files"

    def statuses() -> set[int]:
        return {
            node.get(folder, by=replace(person, token=token)).status_code
            for node in (api, other)
            for token in tokens.values()
        }

    assert statuses() == {200}
    assert ENDS[end](company, user) in (200, 204)
    assert statuses() == {401}
    refresh = {"refreshToken": login.json["refreshToken"]}
    for node in (api, other):
        assert node.post("/authorizations/refresh", refresh).status_code == 401
    if end == "DELETE":
        return
    active = {"op": "replace", "value": {"active": True}}
    assert company.patch(f"/Users/{user['id']}", active).json["active"] is True
    # The membership is back, and no secret is.
    assert company.role(company.user(user["id"])) == "member"
    assert statuses() == {401}
