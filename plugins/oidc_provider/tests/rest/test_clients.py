"""Administrators of the server manage clients, whose secrets are stored hashed and shown once."""

from typing import Any

import pytest
from tests.support.api import Answer, Api, Json, Person, error_code

from strongroom.foundation.database.upgrade import upgrade
from strongroom_oidc_provider.clients.clients import Clients
from strongroom_oidc_provider.models import metadata
from strongroom_oidc_provider.plugin import register_tables

ROOT = "/api/v1/clients"
URI = "https://wiki.example.com/callback"

pytestmark = pytest.mark.config(
    {"plugins": {"enabled": ["storage_local", "oidc_provider"], "oidc_provider": {"max_clients": 3}}}
)


@pytest.fixture
def root(api: Api) -> Person:
    upgrade(api.container.database.engine, {"oidc_provider": register_tables()})
    return api.person(admin=True)


def create(api: Api, by: Person, **changes: Any) -> Answer:
    return api.post(ROOT, {"name": "Wiki", "redirectUris": [URI], **changes}, by=by)


def service(api: Api) -> Clients:
    clients: Clients = api.container.hosts.get("oidc_provider").get_service(Clients)
    return clients


def last_audit(api: Api, by: Person, action: str) -> Json:
    record: Json = api.get(f"/audit-events?action=oidc_provider.{action}", by=by).json["data"][0]
    return record


def test_the_secret_is_shown_once_and_stored_hashed(api: Api, root: Person) -> None:
    answer = create(api, root)
    assert answer.status_code == 201, answer.text
    created = answer.json
    assert len(created["secret"]) >= 43
    assert answer.headers["Location"].endswith(f"{ROOT}/{created['id']}")
    got = api.get(f"{ROOT}/{created['id']}", by=root).json
    assert got == {name: value for name, value in created.items() if name != "secret"}
    with api.container.hosts.get("oidc_provider").database.read() as tx:
        (row,) = tx.all(metadata.tables["oidc_provider_clients"].select())
    assert created["secret"] not in str(row)
    assert service(api).verify_secret(created["id"], created["secret"])
    assert not service(api).verify_secret(created["id"], created["secret"][:-1])
    record = last_audit(api, root, "client-create")
    assert record["target"] == {"type": "client", "id": created["id"]}
    assert record["details"] == {"name": "Wiki", "public": "false", "trusted": "false"}


def test_a_public_client_has_no_secret(api: Api, root: Person) -> None:
    created = create(api, root, public=True, redirectUris=["com.example.app:/callback"]).json
    assert created["secret"] is None
    assert not service(api).verify_secret(created["id"], "")
    rotated = api.post(f"{ROOT}/{created['id']}/rotate-secret", {}, by=root)
    assert error_code(rotated) == "error.client-public"


def test_two_secrets_are_valid_after_a_rotation(api: Api, root: Person) -> None:
    created = create(api, root).json
    path = f"{ROOT}/{created['id']}/rotate-secret"
    second = api.post(path, {"overlapSeconds": 600}, by=root).json["secret"]
    verify = service(api).verify_secret
    assert verify(created["id"], created["secret"])
    assert verify(created["id"], second)
    third = api.post(path, {"overlapSeconds": 600}, by=root).json["secret"]
    assert [verify(created["id"], each) for each in (created["secret"], second, third)] == [
        False,
        True,
        True,
    ]
    api.clock.advance(600_000)
    assert not verify(created["id"], second)
    assert verify(created["id"], third)
    last = api.post(path, {"overlapSeconds": 0}, by=root).json["secret"]
    assert (verify(created["id"], third), verify(created["id"], last)) == (False, True)
    assert last_audit(api, root, "client-rotate-secret")["details"]["overlapSeconds"] == "0"


def test_a_client_is_changed_and_deleted(api: Api, root: Person) -> None:
    created = create(api, root).json
    path = f"{ROOT}/{created['id']}"
    body = {"revision": 1, "name": "Notes", "trusted": True, "scopes": ["openid"]}
    changed = api.patch(path, body, by=root).json
    assert (changed["name"], changed["trusted"], changed["revision"]) == ("Notes", True, 2)
    assert error_code(api.patch(path, body, by=root)) == "error.client-conflict"
    assert last_audit(api, root, "client-update")["details"]["changed"] == "name scopes trusted"
    assert api.delete(path, by=root).json == {"success": True}
    assert error_code(api.get(path, by=root)) == "error.client-not-found"
    assert last_audit(api, root, "client-delete")["target"]["id"] == created["id"]


def test_the_faulty_redirect_uri_is_named(api: Api, root: Person) -> None:
    refused = create(api, root, redirectUris=[URI, "https://wiki.example.com/../callback"])
    assert error_code(refused) == "error.client-redirect-uri-refused"
    (detail,) = refused.json["error"]["details"]
    assert detail["field"] == "redirectUris.1"
    created = create(api, root).json
    body = {"revision": 1, "redirectUris": ["com.example.app:/callback"]}
    changed = api.patch(f"{ROOT}/{created['id']}", body, by=root)
    assert error_code(changed) == "error.client-redirect-uri-refused"


@pytest.mark.parametrize(
    "changes",
    [
        {"redirectUris": []},
        {"scopes": ["a b"]},
        {"scopes": ["openid\n"]},
        {"resources": ["https://files.example.com/#fragment"]},
        {"resources": ["files"]},
        {"name": ""},
    ],
)
def test_invalid_members_are_refused(api: Api, root: Person, changes: Json) -> None:
    assert create(api, root, **changes).status_code == 400


def test_a_client_with_another_way_to_tokens_needs_no_redirect_uri(api: Api, root: Person) -> None:
    path = f"{ROOT}/{create(api, root).json['id']}"
    device = {"revision": 1, "redirectUris": [], "deviceLogin": True}
    assert api.patch(path, device, by=root).json["redirectUris"] == []
    refused = api.patch(path, {"revision": 2, "deviceLogin": False}, by=root)
    assert [item["field"] for item in refused.json["error"]["details"]] == ["redirectUris"]
    assert api.get(path, by=root).json["deviceLogin"] is True


def test_only_administrators_manage_clients(api: Api, root: Person) -> None:
    created, person = create(api, root).json, api.person()
    path = f"{ROOT}/{created['id']}"
    for answer in (
        create(api, person),
        api.get(ROOT, by=person),
        api.get(path, by=person),
        api.patch(path, {"revision": 1, "name": "Mine"}, by=person),
        api.delete(path, by=person),
        api.post(f"{path}/rotate-secret", {}, by=person),
    ):
        assert answer.status_code == 403, answer.text
    assert [item["id"] for item in api.get(ROOT, by=root).json["data"]] == [created["id"]]


def test_the_number_of_clients_is_limited(api: Api, root: Person) -> None:
    for _ in range(3):
        assert create(api, root).status_code == 201
    assert error_code(create(api, root)) == "error.client-limit"
