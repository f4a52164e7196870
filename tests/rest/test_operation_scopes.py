"""Each operation states whether it accepts access keys, and by which scope."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.support.api import PASSWORD, Api, Json, Person, error_code
from tests.support.features import LEFT_OUT_ENDPOINTS, LEFT_OUT_RULES

from strongroom.assembly.operations import TABLES
from strongroom.foundation.operations import collect_rows
from strongroom.foundation.scopes import TENANT_SCOPES, with_included
from strongroom.plugin_api.authentication import Scope
from strongroom.web.http.access import Access
from strongroom.web.http.routing import Operation

OF_PLUGINS = {"change attributes"}
"""The operations that only plugins offer, by ``host.files``."""

SCOPES = {
    "files:read": {
        "business_files.download_business_file",
        "bundles.download_files",
        "bundles.download_files_again",
        "changes.list_changes",
        "file events.list_file_events",
        "files.download_file",
        "files.get_file",
        "files.list_files",
        "files.list_files_in_folder",
        "locks.list_locks",
        "trash.list_trash",
        "search.search_files",
        "versions.download_version",
        "versions.list_versions",
    },
    "files:write": {
        "business_files.upload_avatar",
        "business_files.upload_business_file",
        "business_files.upload_cover",
        "business_files.upload_figure",
        "business_files.upload_photo",
        "direct_uploads.begin_direct_upload",
        "direct_uploads.complete_direct_upload",
        "file changes.copy_file",
        # A rename; see x-access-key-scope-if for a move.
        "file changes.move_file",
        "file changes.rename_file",
        "file changes.replace_content",
        "files_batches.change_files",
        "files.create_folder",
        "files.create_folder_in_folder",
        "files.upload_file",
        "files.upload_file_into_folder",
        # Own ones; see x-access-key-scope-if for the locks of others.
        "locks.release_lock",
        "locks.renew_lock",
        "locks.take_lock",
        "uploads.append_to_upload",
        "uploads.change_upload",
        "uploads.create_upload",
        "uploads.get_upload",
        "uploads.terminate_upload",
        "versions.change_version",
        "versions.restore_version",
    },
    "files:share": {
        "business_files.delete_business_file",
        "files.delete_file",
        "permissions.delete_grant",
        "permissions.delete_group_grant",
        "permissions.explain_access",
        "permissions.list_grants",
        "permissions.list_group_grants",
        "permissions.put_grant",
        "permissions.put_group_grant",
        "trash.restore_from_trash",
    },
    "tenants:read": {
        "groups.get_group",
        "groups.list_group_members",
        "groups.list_groups",
        "retention.get_retention",
        "retention.list_holds",
        "tenants.get_tenant",
        "tenants.get_usage",
        "tenants.list_members",
        "tenants.list_tenants",
    },
    "tenants:write": {
        "groups.rename_group",
        "groups.create_group",
        "groups.delete_group",
        "groups.put_group_member",
        "groups.delete_group_member",
        "tenants.create_tenant",
        "tenants.delete_member",
        "tenants.put_member",
    },
    "users:read": {
        "managed-users.get_metadata",
        "managed-users.get_server_metadata",
        "user exports.export_users",
        "user imports.get_user_import",
        "user imports.list_user_import_errors",
        "user imports.list_user_imports",
        "users.get_user",
        "users.list_users",
    },
    "users:write": {
        "user imports.cancel_user_import",
        "user imports.create_user_import",
        "managed-users.change_metadata",
        "managed-users.change_server_metadata",
        "managed-users.create_password_link",
        "managed-users.give_temporary_password",
        "managed-users.remove_contact",
        "managed-users.set_contact",
        "user-management.create_user",
        "users.change_user",
        "users.delete_user",
        "users.reinstate_user",
        "users.suspend_user",
    },
    "users:impersonate": {"impersonation.impersonate_user"},
    "audit:read": {"audit.list_audit_events"},
}
"""The operations that accept access keys. A new one is added here only after its limits were tested."""

for endpoints in SCOPES.values():
    endpoints.difference_update(LEFT_OUT_ENDPOINTS)


def operations(api: Api) -> Iterator[tuple[str, str, str, Operation]]:
    """Yield the endpoint, the method and the path of each operation."""
    for rule in api.app.url_map.iter_rules():
        view = api.app.view_functions[rule.endpoint]
        if isinstance(view, Operation):
            (method,) = (rule.methods or set()) - {"HEAD", "OPTIONS"} or {"OPTIONS"}
            yield rule.endpoint, method, rule.rule, view


def key_of(api: Api, user: Person, scopes: list[str], **limits: str) -> Person:
    body: Json = {"name": "robot", "scopes": scopes, "currentPassword": PASSWORD, **limits}
    return replace(user, token=api.post("/users/me/access-keys", body, by=user).json["key"])


def test_the_operations_that_accept_keys_are_those_of_the_table(api: Api) -> None:
    found: dict[str, set[str]] = {}
    for endpoint, _, _, view in operations(api):
        if view.scope is not None:
            found.setdefault(view.scope.value, set()).add(endpoint)
    assert found == SCOPES
    assert set(SCOPES) == set(Scope)


def test_the_description_names_the_scope_of_each_operation(api: Api) -> None:
    paths = api.get("/openapi.json").json["paths"]
    named = {
        operation["x-access-key-scope"]
        for item in paths.values()
        for operation in item.values()
        if "x-access-key-scope" in operation
    }
    assert named == set(SCOPES)


def test_each_route_of_files_and_tenants_has_a_row_and_the_description_states_its_scope(
    api: Api,
) -> None:
    paths = api.get("/openapi.json").json["paths"]
    members = [member for path in paths.values() for member in path.values()]
    described = {member["operationId"]: member for member in members if "operationId" in member}
    rows = {id(row) for row in collect_rows(TABLES)}
    for _, method, path, view in operations(api):
        if path.startswith(("/api/v1/files", "/api/v1/tenants")) and view.access is not Access.PUBLIC:
            assert id(view.rule) in rows, (method, path)
        if view.scope or view.sensitive:
            assert {id(row) for row in (view.rule, *view.also) if row.name} <= rows, (method, path)
        first, *others = view.__name__.split("_")
        operation = described["".join([first, *map(str.capitalize, others)])]
        assert operation.get("x-access-key-scope") == view.rule.scope, (method, path)
        assert operation.get("x-strongroom-sensitive") == view.sensitive, (method, path)


def test_each_row_is_that_of_a_route(api: Api) -> None:
    used = {id(row) for *_, view in operations(api) for row in (view.rule, *view.also)}
    rows = collect_rows(TABLES)
    assert {row.name for row in rows if id(row) not in used} - LEFT_OUT_RULES == OF_PLUGINS
    assert len({row.name for row in rows}) == len(rows)


def test_the_description_names_the_scopes_that_only_some_requests_need(api: Api) -> None:
    paths = api.get("/openapi.json").json["paths"]
    moved = paths["/api/v1/tenants/{tenantId}/files/{fileId}/directory"]["put"]
    assert moved["x-access-key-scope"] == "files:write"
    assert moved["x-access-key-scope-if"] == {"files:share": "`parentId` is another folder"}


def test_every_other_operation_refuses_a_key_of_an_administrator_with_all_scopes(api: Api) -> None:
    robot = key_of(api, api.person(admin=True), sorted(SCOPES))
    for endpoint, method, path, view in operations(api):
        if view.scope is None and view.access is not Access.PUBLIC:
            answer = api.request(method, path, by=robot)
            assert error_code(answer) == "error.key-not-accepted", endpoint


@pytest.mark.parametrize("scope", SCOPES)
def test_a_key_reaches_only_the_operations_of_its_scope(api: Api, scope: str) -> None:
    robot = key_of(api, api.person(admin=True), [scope])
    included = with_included(frozenset({Scope(scope)}))
    for endpoint, method, path, view in operations(api):
        if view.scope is None:
            continue
        answer = api.request(method, path, by=robot)
        refused = method != "HEAD" and (answer.json or {}).get("error", {}).get("code")
        assert (refused == "error.insufficient-scope") == (view.scope not in included), endpoint


def test_a_key_of_a_tenant_is_refused_where_the_path_names_no_tenant_or_another(api: Api) -> None:
    admin = api.person(admin=True)
    own, other = api.tenant(admin), api.tenant(admin)
    scopes = ["files:share", "tenants:read"]
    robot = key_of(api, admin, scopes, tenantId=own.rpartition("/")[2])
    for endpoint, method, path, view in operations(api):
        if view.scope is None or view.scope not in TENANT_SCOPES:
            continue
        if "<tenant_id>" in path:
            called = path.replace("/api/v1/tenants/<tenant_id>", other)
            assert api.request(method, called, by=robot).status_code == 403, endpoint
        elif endpoint != "tenants.list_tenants":
            assert api.request(method, path, by=robot).status_code == 403, endpoint
    assert [tenant["id"] for tenant in api.get("/api/v1/tenants", by=robot).json["data"]] == [
        own.rpartition("/")[2]
    ]
    assert api.get(f"{own}/usage", by=robot).status_code == 200
    assert api.get(f"{own}/members", by=robot).status_code == 200
