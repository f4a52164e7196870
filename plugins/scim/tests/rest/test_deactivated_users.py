"""Users that the directory deactivates: every earlier secret is refused, on another instance too."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.api import PASSWORD, Api, Json, Person
from tests.support.config import lifted, merged
from tests.support.directories import Company
from tests.support.shares import Visitor
from tests.support.webdav import Drive

from strongroom.foundation.database.upgrade import upgrade
from strongroom.identity.users.credential_changes import note_exempt
from strongroom.identity.users.passwords import UserPasswords
from strongroom.plugin_api.events import Event
from strongroom_share_links.plugin import register_tables as share_tables
from strongroom_webhooks.plugin import register_tables as webhook_tables
from strongroom_webhooks.service import Webhooks

PLUGINS = {
    "enabled": ["storage_local", "scim", "webdav", "share_links", "webhooks"],
    "webhooks": {"allow_hosts": ["127.0.0.1:9"]},
}

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.config(merged(lifted(), {"plugins": PLUGINS})),
]


@pytest.fixture
def company(api: Api) -> Company:
    tables = {"share_links": share_tables(), "webhooks": webhook_tables()}
    upgrade(api.container.database.engine, tables)
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


def log_in(company: Company, user: Json) -> tuple[Person, Json]:
    """Return the user, whose password the test has set, and the tokens of the login."""
    api, passwords = company.api, company.api.container.get(UserPasswords)
    password = passwords.hash_password(PASSWORD)
    with api.container.database.write() as connection:
        note_exempt(connection, user["id"])
        passwords.set_password(connection, user["id"], password)
    login = api.log_in("ann@acme.example")
    assert login.status_code == 200, login.text
    return Person(user["id"], "ann@acme.example", login.json["accessToken"]), login.json


@pytest.mark.parametrize("end", ENDS)
def test_every_secret_of_before_is_refused_on_both_instances(
    company: Company, other: Api, end: str
) -> None:
    api = company.api
    user = company.scim_user(emails=[{"value": "ann@acme.example", "primary": True}])
    person, login = log_in(company, user)
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
    refresh = {"refreshToken": login["refreshToken"]}
    for node in (api, other):
        assert node.post("/authorizations/refresh", refresh).status_code == 401
    if end == "DELETE":
        return
    active = {"op": "replace", "value": {"active": True}}
    assert company.patch(f"/Users/{user['id']}", active).json["active"] is True
    # The membership is back, and no secret is.
    assert company.role(company.user(user["id"])) == "member"
    assert statuses() == {401}


@pytest.mark.parametrize("end", ENDS)
def test_drives_links_and_webhooks_of_before_end_on_both_instances(
    company: Company, other: Api, end: str
) -> None:
    api, owner = company.api, company.owner
    user = company.scim_user(emails=[{"value": "ann@acme.example", "primary": True}])
    person, _ = log_in(company, user)
    # Webhooks are made by administrators; the owner of the space is another one.
    api.join(company.path, owner, person, "admin")
    drives = [Drive.of_person(api, person), Drive.of_person(api, person, tenantId=company.tenant)]
    folder = api.folder(company.path, person, "Shared")["id"]
    made = api.post(f"{company.path}/files/{folder}/shares", {"kind": "read"}, by=person)
    assert made.status_code == 201, made.text
    share = made.json
    body = {
        "url": "https://127.0.0.1:9/hook",
        "eventTypes": ["file.*"],
        "tenantId": company.tenant,
    }
    endpoint = api.post("/api/v1/webhook-endpoints", body, by=person)
    assert endpoint.status_code == 201, endpoint.text

    def mounted() -> set[int]:
        return {
            replace(drive, api=node).send("PROPFIND", Depth=0).status_code
            for drive in drives
            for node in (api, other)
        }

    def opened() -> set[int]:
        return {Visitor(node, share).get().status_code for node in (api, other)}

    def webhook() -> str:
        webhooks: Webhooks = api.container.hosts.get("webhooks").get_service(Webhooks)
        event = Event("1", "file.created", company.tenant, 1, "f", company.tenant, api.clock.now(), {})
        webhooks.queue.append([event])
        # Nothing is sent, because the owner of the endpoint has no rights.
        assert webhooks.sender().send_due() == 0
        path = f"/api/v1/webhook-endpoints/{endpoint.json['id']}"
        return str(api.get(path, by=owner).json["status"])

    assert (mounted(), opened(), endpoint.json["status"]) == ({207}, {200}, "enabled")
    assert ENDS[end](company, user) in (200, 204)
    assert mounted() == {401}
    assert opened() == {404}
    assert webhook() == "disabled"
    if end == "DELETE":
        return
    active = {"op": "replace", "value": {"active": True}}
    assert company.patch(f"/Users/{user['id']}", active).json["active"] is True
    # The user is a plain member again. What a link opens and a webhook sends is for others to decide.
    assert company.role(company.user(user["id"])) == "member"
    assert mounted() == {401}
    assert opened() == {404}
    assert webhook() == "disabled"
