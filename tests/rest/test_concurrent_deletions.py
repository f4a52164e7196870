"""Of two concurrent deletions of one resource, the second ends as if the first had been over: 404."""

from typing import Any

import pytest
from tests.support.api import PASSWORD, Api, Json
from tests.support.config import lifted
from tests.support.databases import on_postgresql
from tests.support.interleaved_requests import PROOF, Pair, Preparation, Stage, search
from tests.support.passkeys import enrol

from strongroom.foundation.database.upgrade import upgrade
from strongroom_share_links import plugin as share_links
from strongroom_webhooks import plugin as webhooks

PLUGINS = ["storage_local", "login_passkey", "share_links", "webhooks"]


pytestmark = [
    on_postgresql,
    pytest.mark.config(
        lifted(), {"plugins": {"enabled": PLUGINS, "webhooks": {"endpoints_per_tenant": 1}}}
    ),
]


@pytest.fixture
def stage(api: Api) -> Stage:
    tables = {"share_links": share_links.register_tables(), "webhooks": webhooks.register_tables()}
    upgrade(api.container.database.engine, tables)
    return Stage(api)


def created(stage: Stage, path: str, **body: object) -> str:
    """Create a resource, and return its path."""
    answer = stage.api.post(path, body, by=stage.admin)
    assert answer.status_code == 201, answer.text
    return f"{path}/{answer.json['id']}"


def twice(stage: Stage, path: str, **options: Any) -> Pair:
    delete = stage.request("DELETE", path, **options)
    return delete, delete


def key(stage: Stage, path: str) -> str:
    limits = {"name": "key", "scopes": ["files:read"], "currentPassword": PASSWORD}
    return created(stage, f"{path}/access-keys", **limits)


def an_access_key(stage: Stage) -> Pair:
    return twice(stage, key(stage, "/users/me"))


def a_service_account(stage: Stage) -> Pair:
    return twice(stage, created(stage, f"{stage.path}/service-accounts", name="Robot"))


def an_access_key_of_a_service_account(stage: Stage) -> Pair:
    return twice(stage, key(stage, created(stage, f"{stage.path}/service-accounts", name="Robot")))


def a_group(stage: Stage) -> Pair:
    return twice(stage, created(stage, f"{stage.path}/groups", name=stage.name()))


def an_invitation(stage: Stage) -> Pair:
    return twice(stage, f"{stage.path}/{stage.invited(f'{stage.name()}@b.com')}")


def a_passkey(stage: Stage) -> Pair:
    enrol(stage.api, stage.alice)
    factor = stage.api.get("/users/me/factors", by=stage.alice).json["data"][0]
    delete = stage.request("DELETE", f"/users/me/factors/{factor['id']}", stage.alice)
    return delete, delete


def an_address(stage: Stage) -> Pair:
    user, email = stage.api.person(), f"{stage.name()}@b.com"
    assert stage.bind(user, email)() == 201
    delete = stage.request("DELETE", f"/users/{user.id}/emails/{email}", user, headers=PROOF)
    return delete, delete


def a_user(stage: Stage) -> Pair:
    delete = stage.request("DELETE", f"/users/{stage.api.person().id}", stage.root)
    return delete, delete


def a_file(stage: Stage) -> Pair:
    return twice(stage, f"{stage.path}/files/{stage.file(stage.name())['id']}")


def a_node_of_the_trash(stage: Stage) -> Pair:
    return twice(stage, f"{stage.path}/trash/{stage.trashed(stage.name())['id']}")


def a_tenant(stage: Stage) -> Pair:
    return twice(stage, stage.api.tenant(stage.admin))


def a_resumable_upload(stage: Stage) -> Pair:
    tus = {"Tus-Resumable": "1.0.0"}
    creation = {**tus, "Upload-Length": "1", "Upload-Metadata": "filename YQ=="}
    upload = stage.api.post(f"{stage.path}/uploads", by=stage.admin, headers=creation)
    return twice(stage, f"{stage.path}/uploads/{upload.json['id']}", headers=tus)


def a_business_file(stage: Stage) -> Pair:
    headers = {"Content-Disposition": "attachment; filename=a.txt", "Content-Type": "text/plain"}
    file = stage.api.post("/api/v1/files", by=stage.admin, headers=headers, data=b"x")
    return twice(stage, f"/api/v1/files/{file.json['fileName']}")


def a_share(stage: Stage) -> Pair:
    file = stage.file(stage.name())
    share = stage.api.post(f"{stage.path}/files/{file['id']}/shares", {"kind": "read"}, by=stage.admin)
    assert share.status_code == 201, share.text
    return twice(stage, f"{stage.path}/shares/{share.json['id']}")


def webhook(stage: Stage) -> Json:
    """Return the body of a new endpoint."""
    tenant_id = stage.path.rpartition("/")[2]
    return {"url": "https://example.com/", "eventTypes": ["file.*"], "tenantId": tenant_id}


def an_endpoint(stage: Stage) -> Pair:
    return twice(stage, created(stage, "/api/v1/webhook-endpoints", **webhook(stage)))


RESOURCES: list[Preparation] = [
    an_access_key,
    a_service_account,
    an_access_key_of_a_service_account,
    a_group,
    an_invitation,
    a_passkey,
    an_address,
    a_user,
    a_file,
    a_node_of_the_trash,
    a_tenant,
    a_resumable_upload,
    a_business_file,
    a_share,
    an_endpoint,
]


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.__name__)
def test_the_second_deletion_finds_none(stage: Stage, resource: Preparation) -> None:
    search(stage, resource)


def test_concurrent_endpoints_do_not_exceed_their_limit(stage: Stage) -> None:
    def prepare(stage: Stage) -> Pair:
        for endpoint in listed():
            assert stage.api.delete(f"{path}/{endpoint['id']}", by=stage.admin).status_code == 200
        create = stage.request("POST", path, json=webhook(stage))
        return create, create

    def listed() -> list[Json]:
        query = f"?tenantId={webhook(stage)['tenantId']}"
        found: list[Json] = stage.api.get(path + query, by=stage.admin).json["data"]
        return found

    path = "/api/v1/webhook-endpoints"
    search(stage, prepare)
    assert len(listed()) == 1
