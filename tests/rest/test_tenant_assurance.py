"""A tenant that demands a stronger or newer login refuses all others, on each of its routes."""

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sqlalchemy import text
from tests.support.api import PASSWORD, Answer, Api, Json, Person, error_code
from tests.support.config import lifted

from strongroom.content.files.service import FileService
from strongroom.content.nodes.models import Permission
from strongroom.content.tenants.service import TenantService
from strongroom.foundation.caller import DelegatedLimits, Identity
from strongroom.foundation.database.upgrade import read_schema
from strongroom.foundation.errors import Forbidden, StepUpRequired
from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.login import MULTI_FACTOR, PHISHING_RESISTANT, SINGLE_FACTOR
from strongroom.testing.clock import MINUTE
from strongroom.web.http.routing import Operation

PHR: Json = {"acr": "phr"}
METADATA = f"filename {b64encode(b'new').decode()}"
UNKNOWN = "0190a1b2-0000-7000-8000-000000000000"
TUS = {"Tus-Resumable": "1.0.0"}

SENT: dict[str, Json] = {
    "bundles.download_files": {"json": {"fileIds": ["{file_id}"]}},
    "file changes.copy_file": {"json": {"parentId": None}},
    "file changes.move_file": {"json": {"parentId": None}},
    "file changes.rename_file": {"json": {"name": "other"}},
    "file changes.replace_content": {"data": b"new"},
    "files_batches.change_files": {
        "json": {"items": [{"operation": "copy", "fileId": "{file_id}", "parentId": None}]}
    },
    "files.create_folder": {"json": {"name": "new"}},
    "files.create_folder_in_folder": {"json": {"name": "new"}},
    "files.upload_file": {
        "data": b"x",
        "headers": {
            "Content-Disposition": "attachment; filename=new",
            "Content-Type": "application/octet-stream",
        },
    },
    "groups.create_group": {"json": {"name": "new"}},
    "groups.rename_group": {"json": {"name": "other"}},
    "permissions.put_group_grant": {"json": {"groupId": "{group_id}", "permission": "read"}},
    "invitations.create_invitation": {"json": {"email": "new@example.com"}},
    "search.search_files": {"query_string": {"query": "a.txt"}},
    "tenants.transfer_tenant": {"json": {"toUserId": "{user_id}"}},
    "transfers.transfer_member": {"json": {"toUserId": "{owner_id}"}},
    "retention.put_hold": {"json": {"reason": "case"}},
    "retention.put_retention": {"json": {}},
    "trash.restore_from_trash": {"json": {}},
    "versions.change_version": {"json": {"label": "first"}},
    "versions.restore_version": {"json": {}},
    "permissions.explain_access": {"query_string": {"userId": "{user_id}"}},
    "permissions.put_grant": {"json": {"ownerId": "{user_id}", "permission": "read"}},
    "service accounts.create_service_account": {"json": {"name": "robot"}},
    "service accounts.create_service_account_key": {
        "json": {"name": "key", "scopes": ["files:read"], "currentPassword": PASSWORD}
    },
    "service accounts.rotate_service_account_key": {"json": {"currentPassword": PASSWORD}},
    "tenants.put_member": {"json": {"role": "member"}},
    "tenants.update_tenant": {"json": {"name": "other"}},
    "uploads.append_to_upload": {
        "headers": {**TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    },
    "uploads.change_upload": {"headers": {**TUS, "X-HTTP-Method-Override": "DELETE"}},
    "uploads.create_upload": {"headers": {**TUS, "Upload-Length": "3", "Upload-Metadata": METADATA}},
    "uploads.get_upload": {"headers": TUS},
    "uploads.terminate_upload": {"headers": TUS},
}
"""What a request of an operation needs to get as far as its service; a new operation may need a row."""
SENT["files.upload_file_into_folder"] = SENT["files.upload_file"]

ELSEWHERE = {
    "direct_uploads.begin_direct_upload",
    "direct_uploads.complete_direct_upload",
    "uploads.describe_uploads",
}
"""Operations that are refused for another reason here, or that describe the server only."""


pytestmark = pytest.mark.config(lifted(), {"plugins": {"enabled": ["storage_local", "webhooks"]}})


@dataclass(frozen=True)
class Site:
    """A tenant with an administrator, and the ids for the paths of its routes."""

    api: Api
    admin: Person
    path: str
    values: Json

    @property
    def id(self) -> str:
        return self.path.rpartition("/")[2]

    def demand(self, assurance: Json | None) -> None:
        """Have an administrator of the server set what the tenant demands."""
        operator = self.api.person(admin=True)
        answer = self.api.patch(self.path, {"assurance": assurance}, by=operator)
        assert answer.status_code == 200, answer.text

    def prove(self, acr: str, age: int = 0) -> None:
        """Change how strongly the administrator's login is proven, and when (in milliseconds)."""
        proven = {"acr": acr, "at": self.api.clock.now() - age, "id": self.admin.id}
        changed = "UPDATE authorizations SET acr = :acr, auth_time = :at WHERE user_id = :id"
        with self.api.container.database.engine.begin() as connection:
            connection.execute(text(changed), proven)

    def operations(self) -> Iterator[tuple[str, str, str]]:
        """Yield the endpoint, the method and the path of each operation with a tenant in its path."""
        for rule in self.api.app.url_map.iter_rules():
            view = self.api.app.view_functions[rule.endpoint]
            if isinstance(view, Operation) and "tenant_id" in rule.arguments:
                (method,) = (rule.methods or set()) - {"HEAD", "OPTIONS"} or {"OPTIONS"}
                built = rule.build({name: self.values.get(name, UNKNOWN) for name in rule.arguments})
                assert built is not None
                yield rule.endpoint, method, built[1]

    def call(self, endpoint: str, method: str, path: str, by: Person) -> Answer:
        """Send a well-formed request of an operation."""
        return self.api.request(method, path, by=by, **_filled(SENT.get(endpoint, {}), self.values))


def _filled(value: Any, ids: Json) -> Any:
    if isinstance(value, dict):
        return {name: _filled(item, ids) for name, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, ids) for item in value]
    return value.format(**ids) if isinstance(value, str) else value


@pytest.fixture
def site(api: Api) -> Site:
    admin, member = api.person(), api.person()
    path = api.tenant(admin)
    api.join(path, admin, member)
    folder = api.folder(path, admin, "folder")["id"]
    file = api.upload(path, admin, "a.txt", b"content", folder)["id"]
    # The content before becomes version 1.
    api.request("PUT", f"{path}/files/{file}/content", by=admin, data=b"newer")
    account = api.post(f"{path}/service-accounts", {"name": "robot"}, by=admin).json["id"]
    key_body: Json = {"name": "key", "scopes": ["files:read"], "currentPassword": PASSWORD}
    key = api.post(f"{path}/service-accounts/{account}/access-keys", key_body, by=admin).json["id"]
    headers = {**TUS, "Upload-Length": "3", "Upload-Metadata": METADATA}
    upload = api.request("POST", f"{path}/uploads", by=admin, headers=headers)
    bundle = api.post(f"{path}/multi-files-download", {"fileIds": [file]}, by=admin)
    values = {
        "tenant_id": path.rpartition("/")[2],
        "file_id": file,
        "parent_id": folder,
        "owner_id": admin.id,
        "user_id": member.id,
        "account_id": account,
        "key_id": key,
        "upload_id": upload.headers["Location"].rpartition("/")[2],
        "group_id": api.post(f"{path}/groups", {"name": "group"}, by=admin).json["id"],
        "number": "1",
        "bundle_id": bundle.headers["Content-Location"].rpartition("/")[2],
    }
    return Site(api, admin, path, values)


def require_step_up(answer: Answer, *parameters: str) -> None:
    assert (answer.status_code, error_code(answer)) == (401, "error.step-up-required"), answer.text
    challenge = answer.headers["WWW-Authenticate"]
    assert 'error="insufficient_user_authentication"' in challenge
    for parameter in parameters:
        assert parameter in challenge


@pytest.mark.parametrize("acr", [SINGLE_FACTOR, MULTI_FACTOR, "unknown"])
def test_no_route_of_the_tenant_answers_a_weaker_login(site: Site, acr: str) -> None:
    site.demand(PHR)
    site.prove(acr)
    called = [row for row in site.operations() if row[0] not in ELSEWHERE]
    assert len(called) >= 40
    for endpoint, method, path in called:
        answer = site.call(endpoint, method, path, site.admin)
        assert (answer.status_code, endpoint) == (401, endpoint), answer.text
        require_step_up(answer, 'acr_values="phr"')


@pytest.mark.parametrize("acr", [PHISHING_RESISTANT, "phrh"])
def test_each_route_of_the_tenant_answers_a_login_that_is_strong_enough(site: Site, acr: str) -> None:
    site.demand(PHR)
    site.prove(acr)
    for endpoint, method, path in site.operations():
        if method == "GET":
            answer = site.call(endpoint, method, path, site.admin)
            is_unknown = UNKNOWN in path and answer.status_code == 404
            # The upload that was begun has no bytes yet.
            assert is_unknown or answer.status_code in (200, 204), (endpoint, answer.text)


def test_no_access_key_reaches_the_tenant(site: Site) -> None:
    scopes = ["files:read", "files:write", "files:share", "tenants:write"]
    body: Json = {"name": "robot", "scopes": scopes, "currentPassword": PASSWORD}
    key = site.api.post("/users/me/access-keys", body, by=site.admin).json["key"]
    robot = replace(site.admin, token=key)
    site.demand({"maxAgeSeconds": 600})
    for endpoint, method, path in site.operations():
        if endpoint not in ELSEWHERE:
            answer = site.call(endpoint, method, path, robot)
            assert (answer.status_code, endpoint) == (403, endpoint), answer.text
            assert error_code(answer) == "error.key-not-accepted", endpoint


def test_a_proof_must_be_young_enough(site: Site) -> None:
    site.demand({"maxAgeSeconds": 600})
    site.prove(SINGLE_FACTOR, 10 * MINUTE)
    require_step_up(site.api.get(site.path, by=site.admin), 'max_age="600"')
    body = {"currentPassword": PASSWORD}
    renewed = site.api.post("/authorizations/current/step-up", body, by=site.admin)
    fresh = replace(site.admin, token=renewed.json["accessToken"])
    file = f"{site.path}/files/{site.values['file_id']}"
    assert site.api.get(file, by=fresh).status_code == 200
    site.api.clock.advance(10 * MINUTE - 1)
    assert site.api.get(file, by=fresh).status_code == 200
    site.api.clock.advance(1)
    require_step_up(site.api.get(file, by=fresh), 'max_age="600"')


def test_both_are_demanded_and_others_learn_nothing(site: Site) -> None:
    site.demand({"acr": "urn:strongroom:mfa", "maxAgeSeconds": 60})
    site.prove(MULTI_FACTOR, MINUTE)
    both = ('acr_values="urn:strongroom:mfa"', 'max_age="60"')
    require_step_up(site.api.get(site.path, by=site.admin), *both)
    site.prove(SINGLE_FACTOR)
    require_step_up(site.api.get(site.path, by=site.admin), *both)
    site.prove(MULTI_FACTOR)
    shown = site.api.get(site.path, by=site.admin)
    assert shown.json["assurance"] == {"acr": "urn:strongroom:mfa", "maxAgeSeconds": 60}
    stranger = site.api.person()
    assert error_code(site.api.get(site.path, by=stranger)) == "error.forbidden"
    file = f"{site.path}/files/{site.values['file_id']}"
    assert error_code(site.api.get(file, by=stranger)) == "error.forbidden"


def test_code_that_knows_no_demands_is_refused_from_the_first_demand_on(site: Site) -> None:
    site.demand({"maxAgeSeconds": 600})
    assert read_schema(site.api.container.database.engine).oldest_code == "0016"


def test_other_tenants_and_the_list_of_tenants_demand_nothing(site: Site) -> None:
    site.demand(PHR)
    other = site.api.tenant(site.admin)
    assert site.api.get(other, by=site.admin).json["assurance"] is None
    records = site.api.get("/api/v1/tenants", by=site.admin).json["data"]
    demanded = {record["id"]: record["assurance"] for record in records}
    assert demanded[site.id] == {"acr": "phr", "maxAgeSeconds": None}


def test_an_administrator_sets_only_what_the_own_login_meets(site: Site) -> None:
    refused = site.api.patch(site.path, {"assurance": PHR}, by=site.admin)
    require_step_up(refused, 'acr_values="phr"')
    site.prove(PHISHING_RESISTANT)
    assert site.api.patch(site.path, {"assurance": PHR}, by=site.admin).status_code == 200
    site.prove(MULTI_FACTOR)
    require_step_up(site.api.patch(site.path, {"assurance": None}, by=site.admin))
    site.prove(PHISHING_RESISTANT)
    removed = site.api.patch(site.path, {"assurance": None}, by=site.admin)
    assert (removed.status_code, removed.json["assurance"]) == (200, None)


@pytest.mark.parametrize(
    "assurance",
    [
        {"acr": "urn:strongroom:single"},
        {"acr": "none"},
        {"maxAgeSeconds": 59},
        {"maxAgeSeconds": True},
        {"maxAgeSeconds": 2**70},
        {"other": 1},
        "phr",
    ],
)
def test_a_malformed_demand_is_refused(site: Site, assurance: Any) -> None:
    refused = site.api.patch(site.path, {"assurance": assurance}, by=site.admin)
    assert (refused.status_code, error_code(refused)) == (400, "error.validation-failed")


def test_a_member_leaves_only_with_a_login_that_the_tenant_accepts(site: Site) -> None:
    member = site.api.person()
    site.api.join(site.path, site.admin, member)
    site.demand(PHR)
    require_step_up(site.api.delete(f"{site.path}/members/{member.id}", by=member))
    site.demand(None)
    assert site.api.delete(f"{site.path}/members/{member.id}", by=member).status_code == 200


def test_a_plugin_reaches_the_tenant_only_with_the_login_of_its_caller(site: Site) -> None:
    site.demand(PHR)
    files = site.api.container.get(FileService)
    acting = Identity(site.admin.id, "USER", "")
    with pytest.raises(StepUpRequired):
        files.get(acting, site.id, site.values["file_id"])
    with pytest.raises(StepUpRequired):
        site.api.container.get(TenantService).role(acting, site.id)
    file, read = site.values["file_id"], int(Permission.READ)
    limits = DelegatedLimits("", frozenset(Scope), site.id, file, read, required_permission=read)
    visitor = replace(acting, key=limits)
    with pytest.raises(Forbidden, match="demands a login"):
        files.get(visitor, site.id, file)
    site.demand(None)
    assert files.get(visitor, site.id, file).node.id == file
    stranger = Identity(site.values["user_id"][::-1], "USER", "")
    with pytest.raises(Forbidden):
        files.get(stranger, site.id, site.values["file_id"])


def test_webhooks_of_the_tenant_need_the_login_that_it_demands(site: Site) -> None:
    body = {"url": "https://example.com/hook", "eventTypes": ["*"], "tenantId": site.id}
    site.demand(PHR)
    require_step_up(site.api.post("/api/v1/webhook-endpoints", body, by=site.admin))
    query = {"tenantId": site.id}
    require_step_up(site.api.get("/api/v1/webhook-endpoints", by=site.admin, query_string=query))


def test_a_demand_that_is_set_during_an_upload_stops_it(site: Site) -> None:
    upload, path = site.values["upload_id"], f"{site.path}/uploads"
    headers = {**TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    site.demand(PHR)
    answer = site.api.request("PATCH", f"{path}/{upload}", by=site.admin, headers=headers, data=b"new")
    require_step_up(answer)
    site.prove(PHISHING_RESISTANT)
    answer = site.api.request("PATCH", f"{path}/{upload}", by=site.admin, headers=headers, data=b"new")
    assert answer.status_code == 204
