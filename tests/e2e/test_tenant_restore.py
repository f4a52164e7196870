"""Restores of one tenant next to the living ones, which keep writing and are not changed."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from strongroom.assembly.commands import (
    assemble_backups,
    assemble_tenant_restoration,
    import_tables,
)
from strongroom.clock import DAY
from strongroom.content.nodes.models import nodes
from strongroom.content.storage.models import blobs
from strongroom.content.storage.service import BlobService
from strongroom.content.tenants.tenant_deletions import TenantDeletion
from strongroom.extensions.backup.archive import BackupError
from strongroom.extensions.backup.restore_tenant import RestoredTenant, restore_tenant
from strongroom.extensions.backup.tenant_rows import LEFT_OUT, tenant_tables
from strongroom.extensions.storage_maintenance.fsck import StorageCheck
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import metadata
from strongroom.identity.users.models import users
from strongroom.plugin_api.storage import LocalPaths
from tests.support.api import Api, Json, Person
from tests.support.databases import on_sqlite
from tests.support.scene import Scene

Tree = dict[str, tuple[Any, ...]]


class Attacked:
    """A tenant with content of each kind, and an archive of it from before it was damaged."""

    def __init__(self, api: Api, folder: Path) -> None:
        self.api = api
        self.scene = scene = Scene(api)
        self.id = scene.path.rpartition("/")[2]
        self.letters = scene.folder("Letters")
        self.old = scene.folder("Old", self.letters)
        self.note = scene.file("note.txt", self.old, content=os.urandom(3000))
        for number in range(5):
            scene.file(f"{number}.txt", self.letters, content=os.urandom(1000 + number))
        scene.file("top.txt", content=b"top", by=scene.alice)
        trashed = scene.file("trashed.txt", self.letters, content=os.urandom(700))
        api.delete(f"{scene.path}/files/{trashed['id']}", by=scene.admin)
        headers = {"Content-Type": "application/octet-stream"}
        path = f"{scene.path}/files/{self.note['id']}/content"
        answer = api.put(path, by=scene.admin, headers=headers, data=os.urandom(4000))
        assert answer.status_code == 200
        assert scene.grant(self.letters, scene.bob, "read").status_code < 300
        group = api.post(f"{scene.path}/groups", {"name": "Readers"}, by=scene.admin).json
        members = f"{scene.path}/groups/{group['id']}/members"
        assert api.put(f"{members}/{scene.alice.id}", {}, by=scene.admin).status_code < 300
        self.archive = folder / "monday.tar"
        self.before = tree(api, scene.path, scene.admin)
        self.usage = usage(api, scene.path, scene.admin)
        assemble_backups(api.container).create(self.archive)

    def damage(self) -> None:
        """Remove the files permanently, as an attacker with the rights of an administrator does."""
        for node in (
            self.letters,
            *self.api.get(f"{self.scene.path}/trash", by=self.scene.admin).json["data"],
        ):
            path = f"{self.scene.path}/files/{node['id']}?permanently=true"
            self.api.delete(path, by=self.scene.admin)
        self.scene.file("ransom.txt", content=b"pay")

    def restore(self, **options: Any) -> RestoredTenant:
        """Restore the tenant of the archive."""
        return restore_tenant(
            assemble_tenant_restoration(self.api.container), self.archive, self.id, **options
        )


def tree(api: Api, tenant: str, by: Person) -> Tree:
    """Return the size and the checksum of each file by its path, and the bytes that a download has."""

    def walk(path: str, prefix: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
        listed = api.get(f"{path}?pageSize=200", by=by).json
        assert listed["meta"]["totalCount"] == len(listed["data"])
        for item in listed["data"]:
            name = f"{prefix}/{item['name']}"
            if item["type"] == "folder":
                yield name, ()
                yield from walk(f"{tenant}/owners/me/files/{item['id']}/files", name)
            else:
                content = api.get(f"{tenant}/files/{item['id']}/download", by=by).data
                yield name, (item["size"], item["checksum"], content)

    return dict(walk(f"{tenant}/owners/me/files", ""))


def usage(api: Api, tenant: str, by: Person) -> Json:
    found: Json = api.get(f"{tenant}/usage", by=by).json
    return found


def faults(api: Api) -> list[str]:
    """Return what ``storage fsck --checksums`` reports."""
    check = api.container.get(StorageCheck)
    return [str(item) for item in check.run(checksums=True, repair=False) if item.is_fault]


def rows_about(api: Api, tenant_id: str) -> dict[str, Any]:
    """Return all rows about a tenant, with the blobs of its files."""
    import_tables()
    with api.container.database.read() as connection:
        rows = {
            table.name: connection.execute(
                select(table).where(table.c.tenant_id == tenant_id).order_by(*table.primary_key)
            ).all()
            for table in metadata.sorted_tables
            # Events are numbered some time after they are written.
            if "tenant_id" in table.columns and table.name != "file_events"
        }
        query = select(blobs).join(nodes).where(nodes.c.tenant_id == tenant_id).order_by(blobs.c.key)
        return rows | {"blobs": connection.execute(query).all()}


@contextmanager
def writing(api: Api, tenant: str, by: Person) -> Iterator[list[str]]:
    """Upload to a tenant until the block ends; yields the names of the acknowledged files."""
    stop, names, errors = threading.Event(), list[str](), list[str]()

    def write() -> None:
        for number in count():
            if stop.is_set():
                break
            answer = api.send(tenant, by, f"{number}.bin", os.urandom(500))
            (names if answer.status_code == 201 else errors).append(f"{number}.bin")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield names
    finally:
        stop.set()
        thread.join()
    assert not errors


def test_a_damaged_tenant_is_restored_next_to_the_living_ones(api: Api, tmp_path: Path) -> None:
    attacked = Attacked(api, tmp_path)
    admin = attacked.scene.admin
    quiet, busy = (api.tenant(admin, name) for name in ("Quiet", "Busy"))
    api.upload(quiet, admin, "quiet.txt", b"not changed")
    attacked.damage()
    quiet_id = quiet.rpartition("/")[2]
    before = [rows_about(api, quiet_id), rows_about(api, attacked.id)]
    with writing(api, busy, admin) as names:
        result = attacked.restore()
    assert result.name.startswith("Acme (")
    path = f"/api/v1/tenants/{result.id}"
    assert tree(api, path, admin) == attacked.before
    assert usage(api, path, admin) == attacked.usage
    for tenant_id, rows in zip((quiet_id, attacked.id), before, strict=True):
        for table, now in rows_about(api, tenant_id).items():
            assert now == rows[table], table
    assert set(tree(api, busy, admin)) == {f"/{name}" for name in names}
    assert faults(api) == []
    # It is as alive as the others: files are added, replaced and removed.
    node = api.upload(path, admin, "new.txt", b"new")
    assert api.delete(f"{path}/files/{node['id']}?permanently=true", by=admin).status_code == 200
    assert usage(api, path, admin) == attacked.usage
    found = api.get(f"{path}/search?query=note", by=admin)
    assert [item["name"] for item in found.json["data"]] == ["note.txt"]


def test_a_purged_tenant_gets_its_ids_back(api: Api, tmp_path: Path) -> None:
    attacked = Attacked(api, tmp_path)
    admin = attacked.scene.admin
    assert api.delete(attacked.scene.path, by=admin).status_code == 200
    api.clock.advance(60 * DAY)
    assert api.container.get(TenantDeletion).purge(Origin()) == 1
    assert attacked.restore().id == attacked.id
    attacked.scene.token_of(admin)
    assert tree(api, attacked.scene.path, admin) == attacked.before
    note = api.get(f"{attacked.scene.path}/files/{attacked.note['id']}", by=admin)
    assert note.json["name"] == "note.txt"
    assert faults(api) == []


def test_former_rights_are_not_restored(api: Api, tmp_path: Path) -> None:
    attacked = Attacked(api, tmp_path)
    scene = attacked.scene
    assert api.delete(f"{scene.path}/members/{scene.bob.id}", by=scene.admin).status_code == 200
    with api.container.database.write() as connection:
        is_alice = users.c.id == scene.alice.id
        connection.execute(update(users).where(is_alice).values(deleted_at=1))
    result = attacked.restore(name="Acme as of Monday")
    assert result.left_out["tenant_members"] == 2
    path = f"/api/v1/tenants/{result.id}"
    members = api.get(f"{path}/members", by=scene.admin).json["data"]
    assert [item["user"]["$ref"] for item in members] == [scene.admin.id]
    assert api.get(path, by=scene.bob).status_code in (403, 404)
    assert faults(api) == []


@on_sqlite
def test_lost_bytes_leave_out_their_files_alone(api: Api, tmp_path: Path) -> None:
    scene = Scene(api)
    folder = scene.folder("Letters")
    for name in ("kept", "lost"):
        scene.file(name, folder, content=name.encode())
    with api.container.database.read() as connection:
        query = select(blobs.c.object_key).join(nodes).where(nodes.c.name == "lost")
        key = connection.execute(query).scalar_one()
    store = api.container.get(BlobService).storages["main"].capability(LocalPaths)
    assert store is not None
    store.local_path(key).rename(tmp_path / "away")
    assemble_backups(api.container).create(tmp_path / "a.tar")
    restoration = assemble_tenant_restoration(api.container)
    result = restore_tenant(restoration, tmp_path / "a.tar", scene.path.rpartition("/")[2])
    assert (result.files, result.lost) == (1, ["lost"])
    path = f"/api/v1/tenants/{result.id}"
    assert set(tree(api, path, scene.admin)) == {"/Letters", "/Letters/kept"}
    assert usage(api, path, scene.admin)["usedBytes"] == len(b"kept")
    (tmp_path / "away").rename(store.local_path(key))
    assert faults(api) == []


@on_sqlite
def test_damaged_bytes_are_not_restored(api: Api, tmp_path: Path) -> None:
    scene = Scene(api)
    scene.file("note", content=b"right")
    with api.container.database.read() as connection:
        key = connection.execute(select(blobs.c.object_key)).scalar_one()
    store = api.container.get(BlobService).storages["main"].capability(LocalPaths)
    assert store is not None
    store.local_path(key).write_bytes(b"wrong")
    assert assemble_backups(api.container).create(tmp_path / "a.tar").faults
    restoration = assemble_tenant_restoration(api.container)
    result = restore_tenant(restoration, tmp_path / "a.tar", scene.path.rpartition("/")[2])
    assert (result.files, result.lost) == (0, ["note"])


@on_sqlite
def test_an_interrupted_restore_leaves_a_deleted_tenant(
    api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attacked = Attacked(api, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(
            "strongroom.extensions.backup.restore_tenant._TenantCopy._subtract_dropped",
            lambda _self: (_ for _ in ()).throw(BackupError("interrupted")),
        )
        with pytest.raises(BackupError, match="interrupted"):
            attacked.restore()
    names = [item["name"] for item in api.get("/api/v1/tenants", by=attacked.scene.admin).json["data"]]
    assert names == ["Acme"]
    api.clock.advance(60 * DAY)
    assert api.container.get(TenantDeletion).purge(Origin()) == 1
    api.container.get(BlobService).collect()
    assert faults(api) == []


@on_sqlite
def test_a_tenant_that_the_archive_lacks_is_refused(api: Api, tmp_path: Path) -> None:
    attacked = Attacked(api, tmp_path)
    with pytest.raises(BackupError, match="the archive has no tenant nothing"):
        restore_tenant(assemble_tenant_restoration(api.container), attacked.archive, "nothing")


def test_each_table_of_tenants_is_restored_or_left_out() -> None:
    import_tables()
    restored = {table.name for table in tenant_tables({})}
    about = {
        table.name
        for table in metadata.sorted_tables
        if any(key.column.table.name in restored | LEFT_OUT for key in table.foreign_keys)
    }
    assert about <= restored | LEFT_OUT
    assert restored == {
        "folder_counts",
        "folder_order_counts",
        "folder_runs",
        "grants",
        "group_grants",
        "group_members",
        "groups",
        "node_attributes",
        "node_holds",
        "node_versions",
        "nodes",
        "tenant_members",
        "tenant_retention",
        "tenants",
        "trash",
    }
