"""Tricks against holds and compliance mode: each by its real entrance, and none removes a byte.

The cases share a tenant, because refused attempts change nothing that another case needs. After each,
all contents must still be in the store, and a file or a version must still refer to them.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, union
from tests.support.api import PASSWORD, Answer, Api, Json, Person, creation_headers, error_code
from tests.support.commands import run_command
from tests.support.config import Table, change_config, lifted, write_api_config, write_toml
from tests.support.config import read_toml as read_config
from tests.support.databases import SqliteDatabases
from tests.support.features import needs

from strongroom.clock import iso_format
from strongroom.content.nodes.models import node_versions, nodes
from strongroom.content.nodes.retention_clock import RetentionClock
from strongroom.content.storage.service import BlobService
from strongroom.extensions.retention.feature import RetentionFeature
from strongroom.extensions.trash.removal import TrashRemoval
from strongroom.extensions.versions.service import VersionService
from strongroom.testing.clock import HOUR, ManualClock

pytestmark = needs(RetentionFeature)

DAY = 24 * HOUR
YEAR = 365 * DAY
PROOF = {"X-Current-Password": PASSWORD}
EVIDENCE = (b"the first statement", b"the second statement")
RETAINED, TRASHED, BINNED = b"an invoice", b"a deleted invoice", b"a held file in the trash"
OTHERS = 50
"""More files than the tricks add, because a repair removes nothing if most objects are unknown."""


@dataclass
class World:
    """A tenant in compliance mode, with a held folder and with retained files."""

    api: Api
    config: Path
    folder: Path
    databases: SqliteDatabases
    admin: Person
    records: Person
    clerk: Person
    server_admin: Person
    path: str
    archive: Path
    nodes: dict[str, Json] = field(default_factory=dict)

    @property
    def evidence(self) -> str:
        """The path of the file in the held folder."""
        return f"{self.path}/files/{self.nodes['evidence']['id']}"

    @property
    def case(self) -> str:
        """The path of the held folder."""
        return f"{self.path}/files/{self.nodes['case']['id']}"

    def delete(self, path: str, by: Person | None = None) -> Answer:
        """Send a DELETE with a fresh proof."""
        return self.api.delete(path, by=by or self.admin, headers=PROOF)

    def command(self, *arguments: str, config: Path | None = None) -> str:
        """Run a command, whose clock is ahead of the server's by months."""
        result = run_command("--config", str(config or self.config), *arguments)
        return f"{result.returncode} {result.stdout} {result.stderr}"

    def replace(self, content: bytes) -> Answer:
        """Replace the evidence."""
        return self.api.request("PUT", f"{self.evidence}/content", by=self.clerk, data=content)

    def file(self, name: str, parent: str | None = None, content: bytes = b"other") -> Json:
        """Upload a file that is not held."""
        return self.api.upload(self.path, self.admin, name, content, parent)

    def lost(self) -> set[bytes]:
        """Return the contents that are not in the store, or that nothing refers to."""
        blobs, database = self.api.container.get(BlobService), self.api.container.database
        query = union(
            select(nodes.c.blob_key, nodes.c.size),
            select(node_versions.c.blob_key, node_versions.c.size),
        )
        with database.read() as connection:
            rows = [row for row in connection.execute(query) if row[0] is not None]
        found = set()
        for key, size in rows:
            with blobs.open(key, 0, size) as chunks:
                found.add(b"".join(chunks))
        return {*EVIDENCE, RETAINED, TRASHED, BINNED} - found


def is_refused(answer: Answer, code: str = "error.held") -> None:
    """Check the answer of an attempt."""
    expected = 403 if code == "error.forbidden" else 409
    assert (answer.status_code, error_code(answer)) == (expected, code), answer.text


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    databases = request.getfixturevalue(f"{request.param}_databases")
    folder = tmp_path_factory.mktemp("compliance")
    changes: Table = {
        "files": {"versions": {"keep": 1}},
        "storages": {"spare": {"backend": "local", "root": f"{folder}/spare"}},
    }
    with databases.create() as url:
        config = write_api_config(folder, url, lifted(), changes)
        with Api.running(config) as api:
            yield make_world(api, config, folder, request.getfixturevalue("sqlite_databases"))


def make_world(api: Api, config: Path, folder: Path, databases: SqliteDatabases) -> World:
    admin, records, clerk = (api.person(name=name) for name in ("Admin", "Records", "Clerk"))
    server_admin, path = api.person(admin=True), api.tenant(admin)
    api.join(path, admin, records, "records")
    api.join(path, admin, clerk)
    archive = folder / "before.tar"
    world = World(api, config, folder, databases, admin, records, clerk, server_admin, path, archive)
    for number in range(OTHERS):
        world.file(f"other {number}", content=b"other %d" % number)
    assert world.command("backup", "create", str(archive)).startswith("0 ")
    world.nodes["case"] = api.folder(path, clerk, "case")
    case = world.nodes["case"]["id"]
    world.nodes["evidence"] = api.upload(path, clerk, "evidence.txt", EVIDENCE[0], case)
    assert world.replace(EVIDENCE[1]).status_code == 200
    world.nodes["retained"] = world.file("retained", content=RETAINED)
    for name, content in (("trashed", TRASHED), ("binned", BINNED)):
        world.nodes[name] = world.file(name, content=content)
        assert api.delete(f"{path}/files/{world.nodes[name]['id']}", by=admin).status_code == 200
    until = iso_format(api.clock.now() + YEAR)
    for node in ("case", "binned"):
        body = {"reason": "Case 7", "until": until}
        held = f"{path}/files/{world.nodes[node]['id']}/hold"
        assert api.put(held, body, by=records).status_code == 200
    settings = {"minimumDays": 300, "mode": "compliance", "trashDays": 0}
    answer = api.put(f"{path}/retention", settings, by=admin, headers=PROOF)
    assert answer.status_code == 200, answer.text
    return world


Trick = Callable[[World], Any]


def to_the_trash(world: World) -> None:
    answer = world.api.delete(world.evidence, by=world.clerk)
    is_refused(answer)
    assert answer.json["hold"]["reason"] == "Case 7"
    assert answer.json["hold"]["until"] == iso_format(world.api.clock.now() + YEAR)


def permanently(world: World) -> None:
    is_refused(world.delete(f"{world.evidence}?permanently=true"))


def with_its_folder(world: World) -> None:
    is_refused(world.delete(world.case))
    is_refused(world.delete(f"{world.case}?permanently=true&overrideReason=space"))


def within_another_folder(world: World) -> None:
    outer = world.api.folder(world.path, world.admin, "outer")
    body = {"parentId": outer["id"]}
    assert world.api.put(f"{world.case}/directory", body, by=world.admin).status_code == 200
    is_refused(world.delete(f"{world.path}/files/{outer['id']}"))
    is_refused(world.delete(f"{world.path}/files/{outer['id']}?permanently=true"))


def out_of_the_held_folder(world: World) -> None:
    is_refused(world.api.put(f"{world.evidence}/directory", {"parentId": None}, by=world.admin))


def a_retained_file(world: World) -> None:
    path = f"{world.path}/files/{world.nodes['retained']['id']}?permanently=true"
    answer = world.delete(path)
    is_refused(answer, "error.retained")
    assert answer.json["retainedUntil"] == iso_format(world.api.clock.now() + 300 * DAY)


def with_an_override(world: World) -> None:
    node = f"{world.path}/files/{world.nodes['retained']['id']}"
    is_refused(world.delete(f"{node}?permanently=true&overrideReason=space"), "error.retained")
    trashed = f"{world.path}/trash/{world.nodes['trashed']['id']}?overrideReason=space"
    is_refused(world.delete(trashed), "error.retained")


def by_the_content(world: World) -> None:
    for number in range(3):
        assert world.replace(b"innocent %d" % number).status_code == 200


def by_an_upload(world: World) -> None:
    api, case = world.api, world.nodes["case"]["id"]
    query = "?onConflict=replace"
    for number in range(3):
        content = b"uploaded %d" % number
        answer = api.send(world.path, world.admin, "evidence.txt", content, case, query)
        assert answer.status_code == 201, answer.text


def by_a_resumable_upload(world: World) -> None:
    values = {"filename": "evidence.txt", "parentId": world.nodes["case"]["id"], "onConflict": "replace"}
    headers = {**creation_headers(4, **values), "Content-Type": "application/offset+octet-stream"}
    path = f"{world.path}/uploads"
    answer = world.api.request("POST", path, by=world.admin, headers=headers, data=b"tus!")
    assert answer.status_code == 201, answer.text


def by_a_move_onto_it(world: World) -> None:
    other = world.file("evidence.txt")
    path = f"{world.path}/files/{other['id']}/directory?onConflict=replace"
    is_refused(world.api.put(path, {"parentId": world.nodes["case"]["id"]}, by=world.admin))


def by_a_rename_onto_it(world: World) -> None:
    other = world.file("renamed.txt", world.nodes["case"]["id"])
    path = f"{world.path}/files/{other['id']}?onConflict=replace"
    is_refused(world.api.patch(path, {"name": "evidence.txt"}, by=world.admin))


def by_a_restoration_onto_it(world: World) -> None:
    other = world.file("restorable.txt")
    path = f"{world.path}/files/{other['id']}"
    assert world.api.delete(path, by=world.admin).status_code == 200
    held = world.api.upload(world.path, world.admin, "restorable.txt", b"x", world.nodes["case"]["id"])
    body = {"parentId": held["parentId"], "onConflict": "replace"}
    is_refused(world.api.post(f"{world.path}/trash/{other['id']}/restore", body, by=world.admin))


def the_version(world: World) -> None:
    listed = world.api.get(f"{world.evidence}/versions", by=world.admin).json["data"]
    assert listed
    for version in listed:
        is_refused(world.delete(f"{world.evidence}/versions/{version['number']}?overrideReason=space"))


def by_restoring_versions(world: World) -> None:
    for _ in range(3):
        listed = world.api.get(f"{world.evidence}/versions", by=world.admin).json["data"]
        path = f"{world.evidence}/versions/{listed[-1]['number']}/restore"
        assert world.api.post(path, by=world.clerk).status_code == 200


def by_emptying_the_trash(world: World) -> None:
    assert world.delete(f"{world.path}/trash").status_code == 200
    listed = world.api.get(f"{world.path}/trash", by=world.admin).json["data"]
    assert {"trashed", "binned"} <= {entry["name"] for entry in listed}


def from_the_trash(world: World) -> None:
    trash = f"{world.path}/trash"
    is_refused(world.delete(f"{trash}/{world.nodes['trashed']['id']}"), "error.retained")
    is_refused(world.delete(f"{trash}/{world.nodes['binned']['id']}"))


def a_shorter_hold(world: World) -> None:
    soon = iso_format(world.api.clock.now() + HOUR)
    for until in (soon, None):
        body = {"reason": "over", "until": until}
        answer = world.api.put(f"{world.case}/hold", body, by=world.records)
        is_refused(answer, "error.retention-locked")


def a_released_hold(world: World) -> None:
    path = f"{world.case}/hold"
    is_refused(world.delete(path, by=world.records), "error.retention-locked")
    is_refused(world.delete(f"{path}?overrideReason=space"), "error.forbidden")
    is_refused(world.delete(f"{path}?overrideReason=space", by=world.server_admin), "error.forbidden")


def a_weaker_retention(world: World) -> None:
    strict = {"minimumDays": 300, "mode": "compliance", "trashDays": 0}
    for change in (
        {"mode": "governance"},
        {"minimumDays": 299},
        {"minimumDays": 0},
        {"keepVersions": 0},
    ):
        answer = world.api.put(f"{world.path}/retention", strict | change, by=world.admin, headers=PROOF)
        is_refused(answer, "error.retention-locked")


def the_tenant(world: World) -> None:
    for by in (world.admin, world.server_admin):
        is_refused(world.delete(world.path, by=by))
        is_refused(world.delete(f"{world.path}?overrideReason=space", by=by))


def the_user(world: World) -> None:
    assert world.delete(f"/users/{world.clerk.id}", by=world.server_admin).status_code == 200


def the_member(world: World) -> None:
    path = f"{world.path}/members/{world.clerk.id}"
    assert world.delete(path).status_code == 200
    body = {"toUserId": world.admin.id}
    assert world.api.post(f"{path}/transfer", body, by=world.admin).status_code == 200


def by_pressure_on_the_quota(world: World) -> None:
    body = {"quotaBytes": 0}
    assert world.api.patch(world.path, body, by=world.server_admin).status_code == 200
    assert world.api.send(world.path, world.admin, "more", b"more").status_code == 507
    world.api.patch(world.path, {"quotaBytes": None}, by=world.server_admin)


def by_garbage_collection(world: World) -> None:
    assert world.command("storage", "gc").startswith("0 ")


def by_repair(world: World) -> None:
    assert world.command("storage", "fsck", "--repair", "--checksums").startswith("0 ")


def by_migration(world: World) -> None:
    for move in (("main", "spare"), ("spare", "main")):
        assert world.command("storage", "migrate", *move, "--grace", "0").startswith("0 ")
        world.command("storage", "gc")


def by_the_command_prune(world: World) -> None:
    assert world.command("prune").startswith("0 ")


def by_a_clock_set_forward(world: World) -> None:
    with Api.running(world.config, ManualClock(world.api.clock.now() + 50 * YEAR)) as later:
        later.container.get(RetentionClock).tick()
        assert list(later.container.prune_job().run())
        later.container.get(RetentionClock).tick()
        later.container.get(VersionService).purge()
        assert later.container.get(TrashRemoval).purge() == 0


def by_a_clock_set_back(world: World) -> None:
    with Api.running(world.config, ManualClock(1000 * DAY)) as earlier:
        earlier.container.get(RetentionClock).tick()
        list(earlier.container.prune_job().run())


def by_the_configuration(world: World) -> None:
    path = world.folder / "loose.toml"
    loose: Table = {
        "files": {"trash": {"enabled": False, "days": 0}, "versions": {"keep": 0, "days": 1}}
    }
    write_toml(path, read_config(world.config), loose)
    with Api.running(path, ManualClock(world.api.clock.now())) as server:
        by = world.admin
        is_refused(server.delete(world.evidence, by=by))
        answer = server.delete(f"{world.path}/files/{world.nodes['retained']['id']}", by=by)
        is_refused(answer, "error.retained")
        assert server.request("PUT", f"{world.evidence}/content", by=by, data=b"bare").status_code == 200
    world.command("prune", config=path)


def by_another_database(world: World) -> None:
    """Restore an old backup, claim the store with it, and have the unknown objects repaired away."""
    store = world.folder / "files"
    for file in store.rglob("*"):
        if file.is_file():
            os.utime(file, (time.time() - 3 * 24 * 3600,) * 2)
    folder = world.folder / "other"
    folder.mkdir()
    with world.databases.create() as url:
        config = write_api_config(folder, url, lifted())
        spare: Table = {"storages": {"spare": {"backend": "local", "root": f"{folder}/spare"}}}
        change_config(config, spare)
        restored = world.command("backup", "restore", str(world.archive), config=config)
        assert restored.startswith("0 "), restored
        change_config(config, {"storages": {"main": {"root": str(store)}}})
        refused = world.command("rescue", "claim-storage", "main", config=config)
        owner = refused.partition("belongs to the database ")[2].partition(",")[0]
        claimed = world.command("rescue", "claim-storage", "main", "--from", owner, config=config)
        assert claimed.startswith("0 "), claimed
        found = world.command("storage", "fsck", "--repair", config=config)
        assert "stray main:" in found
        world.command("storage", "gc", config=config)
    back = world.command("rescue", "claim-storage", "main")
    owner = back.partition("belongs to the database ")[2].partition(",")[0]
    assert world.command("rescue", "claim-storage", "main", "--from", owner).startswith("0 ")


TRICKS: dict[str, Trick] = {
    "delete the file": to_the_trash,
    "delete it permanently": permanently,
    "delete its folder": with_its_folder,
    "delete a folder around it": within_another_folder,
    "move it out of the hold": out_of_the_held_folder,
    "delete a retained file": a_retained_file,
    "override": with_an_override,
    "replace the content": by_the_content,
    "replace it by an upload": by_an_upload,
    "replace it by a resumable upload": by_a_resumable_upload,
    "move a file onto it": by_a_move_onto_it,
    "rename a file onto it": by_a_rename_onto_it,
    "restore a file onto it": by_a_restoration_onto_it,
    "delete the version": the_version,
    "restore versions": by_restoring_versions,
    "empty the trash": by_emptying_the_trash,
    "delete from the trash": from_the_trash,
    "shorten the hold": a_shorter_hold,
    "release the hold": a_released_hold,
    "weaken the retention": a_weaker_retention,
    "delete the tenant": the_tenant,
    "fill the quota": by_pressure_on_the_quota,
    "storage gc": by_garbage_collection,
    "storage fsck --repair": by_repair,
    "restore an old backup and claim the store": by_another_database,
    "storage migrate": by_migration,
    "remove the member": the_member,
    "delete the user": the_user,
    "configure less": by_the_configuration,
    "prune": by_the_command_prune,
    "set the clock forward": by_a_clock_set_forward,
    "set the clock back": by_a_clock_set_back,
}


@pytest.mark.parametrize("trick", TRICKS)
def test_no_trick_removes_a_byte(world: World, trick: str) -> None:
    TRICKS[trick](world)
    assert world.lost() == set()
