"""Deleted tenants: hidden immediately, restorable for a while, then purged with all their files."""

import pytest
from sqlalchemy import Table, func, select
from tests.support.api import Api, error_code
from tests.support.scene import Scene

from strongroom.content.nodes.models import folder_counts, grants, nodes
from strongroom.content.storage.models import blobs
from strongroom.content.storage.service import BlobService
from strongroom.content.tenants.models import tenant_members, tenants
from strongroom.content.tenants.tenant_deletions import TenantDeletion
from strongroom.extensions.bundles.service import bundles
from strongroom.extensions.uploads.repository import upload_parts, uploads
from strongroom.foundation.caller import Origin
from strongroom.foundation.errors import NotFound
from strongroom.testing.clock import HOUR

DAY = 24 * HOUR
ALL = (tenants, tenant_members, nodes, grants, folder_counts, blobs, bundles, uploads, upload_parts)


def rows(api: Api) -> dict[str, int]:
    def count(table: Table) -> int:
        with api.container.database.read() as connection:
            return connection.execute(select(func.count()).select_from(table)).scalar_one()

    # Deletes the rows that are reserved for later uploads.
    api.container.get(BlobService).close()
    return {table.name: count(table) for table in ALL}


def prune(api: Api) -> int:
    return dict(api.container.prune_job().run())["deleted tenants"]


def fill(scene: Scene) -> None:
    """Give the tenant some of all that it may hold."""
    folder = scene.folder("folder", by=scene.alice)
    file = scene.file("file", scene.folder("inner", folder, by=scene.alice), by=scene.alice)
    scene.grant(folder, scene.bob, "write", by=scene.alice)
    scene.upload_by_tus(scene.bob, folder)
    begun = {"Tus-Resumable": "1.0.0", "Upload-Length": "9", "Upload-Metadata": "filename eA=="}
    piece = {"Content-Type": "application/offset+octet-stream"}
    created = scene.api.request(
        "POST", f"{scene.path}/uploads", by=scene.bob, headers=begun | piece, data=b"part"
    )
    assert created.status_code == 201
    bundle = {"fileIds": [file["id"]]}
    made = scene.api.post(f"{scene.path}/multi-files-download", bundle, by=scene.alice)
    assert made.status_code == 200


def requests(scene: Scene, file_id: str) -> list[tuple[str, str]]:
    return [
        ("GET", ""),
        ("GET", "/usage"),
        ("GET", "/members"),
        ("GET", "/owners/me/files"),
        ("GET", f"/owners/{scene.alice.id}/files"),
        ("GET", f"/files/{file_id}"),
        ("GET", f"/files/{file_id}/download"),
        ("GET", f"/files/{file_id}/owners"),
        ("DELETE", f"/files/{file_id}"),
        ("DELETE", f"/members/{scene.bob.id}"),
    ]


def test_a_deleted_tenant_answers_its_members_like_an_unknown_one(scene: Scene) -> None:
    file, api = scene.file("file", by=scene.alice), scene.api
    assert api.delete(scene.path, by=scene.admin).status_code == 200
    unknown = "/api/v1/tenants/01a1fd35-41a4-7159-832d-f9df39268981"
    for user in (scene.admin, scene.alice):
        assert api.get("/api/v1/tenants", by=user).json["data"] == []
        for method, path in requests(scene, file["id"]):
            gone, never = (api.request(method, root + path, by=user) for root in (scene.path, unknown))
            assert (gone.status_code, error_code(gone)) == (403, "error.forbidden"), (method, path)
            assert gone.json["error"]["message"] == never.json["error"]["message"]
        assert api.send(scene.path, user, "new", b"x").status_code == 403
        assert api.patch(scene.path, {"name": "New"}, by=user).status_code == 403


def test_only_administrators_delete_and_only_once(scene: Scene) -> None:
    api, server_admin = scene.api, scene.api.person(admin=True)
    stranger = api.person()
    for user in (scene.alice, stranger):
        assert api.delete(scene.path, by=user).status_code == 403
    assert api.delete(scene.path, by=scene.admin).status_code == 200
    assert api.delete(scene.path, by=scene.admin).status_code == 404
    assert api.delete(scene.path, by=server_admin).status_code == 404
    assert api.delete(scene.path, by=stranger).status_code == 403
    assert api.get(f"{scene.path}/usage", by=server_admin).status_code == 404
    events = api.get("/audit-events?action=tenant.delete", by=server_admin).json["data"]
    assert [event["target"]["id"] for event in events] == [scene.path.rpartition("/")[2]]
    assert api.delete(api.tenant(stranger), by=server_admin).status_code == 200


def test_within_the_grace_period_it_is_restored_as_it_was(scene: Scene) -> None:
    api, deletion = scene.api, scene.api.container.get(TenantDeletion)
    fill(scene)
    before, tenant_id = rows(api), scene.path.rpartition("/")[2]
    api.delete(scene.path, by=scene.admin)
    assert [tenant.id for tenant in deletion.deleted()] == [tenant_id]
    api.clock.advance(DAY)
    prune(api)
    deletion.restore(tenant_id, Origin())
    assert deletion.deleted() == []
    assert {**rows(api), "bundles": before["bundles"]} == {**before, **uploads_of(api)}
    for user in (scene.alice, scene.bob):
        scene.token_of(user)
    assert scene.top(scene.alice) == ["folder"]
    assert scene.top(scene.bob) == ["folder"]
    with pytest.raises(NotFound):
        deletion.restore(tenant_id, Origin())


def uploads_of(api: Api) -> dict[str, int]:
    return {name: count for name, count in rows(api).items() if name in ("uploads", "upload_parts")}


def test_after_it_pruning_removes_all_that_it_kept(scene: Scene) -> None:
    api, deletion = scene.api, scene.api.container.get(TenantDeletion)
    other = api.tenant(scene.admin, "Other")
    kept = api.upload(other, scene.admin, "kept", b"kept")
    before = rows(api)
    fill(scene)
    tenant_id = scene.path.rpartition("/")[2]
    api.delete(scene.path, by=scene.admin)
    api.clock.advance(30 * DAY - 1)
    assert prune(api) == 0
    api.clock.advance(1)
    with pytest.raises(NotFound):
        deletion.restore(tenant_id, Origin())
    assert prune(api) == 1
    assert prune(api) == 0
    api.container.get(BlobService).collect()
    api.clock.advance(DAY)
    api.container.get(BlobService).collect()
    gone = {"tenants": 1, "tenant_members": 3}
    assert rows(api) == {name: count - gone.get(name, 0) for name, count in before.items()}
    scene.token_of(scene.admin)
    assert api.get(f"{other}/files/{kept['id']}/download", by=scene.admin).data == b"kept"
    assert api.delete(scene.path, by=scene.admin).status_code == 403


def test_the_command_line_lists_and_restores(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    from click.testing import CliRunner

    from strongroom.cli.context import CommandContext
    from strongroom.cli.users import tenants_group

    class Context(CommandContext):
        def container(self) -> object:  # type: ignore[override]
            from contextlib import nullcontext

            return nullcontext(scene.api.container)

    tenant_id = scene.path.rpartition("/")[2]
    scene.api.delete(scene.path, by=scene.admin)
    run = CliRunner().invoke
    listed = run(tenants_group, ["deleted"], obj=Context(None))
    assert listed.output.startswith(tenant_id)
    assert listed.output.endswith("Acme\n")
    restored = run(tenants_group, ["restore", tenant_id], obj=Context(None))
    assert restored.output == f"{tenant_id} restored\n"
    again = run(tenants_group, ["restore", tenant_id], obj=Context(None))
    assert again.exit_code == 1
    assert again.output == f"Error: No deleted tenant {tenant_id} can be restored.\n"
    assert scene.api.get(scene.path, by=scene.admin).status_code == 200
