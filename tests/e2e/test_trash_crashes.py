"""Processes die while they replace, trash, restore, copy and remove files: no byte is lost."""

import json
import multiprocessing
import os
import random
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from strongroom.assembly.container import Container
from strongroom.content.files.copying import Copy, CopyingService
from strongroom.content.files.paths import PathLookup
from strongroom.content.files.replacing import ReplacingService
from strongroom.content.files.service import FileService
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.models import node_versions, nodes
from strongroom.content.tenants.service import TenantService
from strongroom.extensions.batches import service as batch_service
from strongroom.extensions.batches.service import BatchItem, BatchService, Deletion
from strongroom.extensions.storage_maintenance.fsck import StorageCheck
from strongroom.extensions.trash import removal as trash_removal
from strongroom.extensions.trash.removal import TrashRemoval
from strongroom.extensions.trash.service import RestoreRequest, TrashService
from strongroom.extensions.versions.service import VersionService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.errors import NotFound
from strongroom.identity.users.service import UserService
from tests.e2e.offline import collect_abandoned, services
from tests.support.campaign import campaign_size
from tests.support.upload_fixtures import IncomingBytes
from tests.support.waiting import wait_until

KILLS = campaign_size("TRASH_KILLS", 12)
PATIENCE = 120
FILES = 3
"""Files in the folder of a round."""


@dataclass
class Folder:
    """What a folder with files must have: a model of the actions that were acknowledged.

    Args:
        contents: all contents of each file, the current one last; indexes are version numbers.
        state: ``live``, ``trash`` or ``gone``.
        copies: the contents of each copy of the folder or of a file, by its name at the top level. A
            copy outlives the folder.
    """

    id: str
    files: list[str]
    contents: dict[str, list[bytes]] = field(default_factory=dict)
    state: str = "live"
    copies: dict[str, list[bytes]] = field(default_factory=dict)

    def apply(self, action: list[Any]) -> None:
        """Do an action in the model."""
        kind, *arguments = action
        if kind == "replace":
            self.contents[arguments[0]].append(arguments[1].encode())
        elif kind == "restore version":
            self.contents[arguments[0]].append(self.contents[arguments[0]][arguments[1] - 1])
        elif kind in ("copy", "batch"):
            self.copies[arguments[0]] = sorted(found[-1] for found in self.contents.values())
        elif kind == "copies":
            file, names = arguments
            self.copies |= {name: [self.contents[file][-1]] for name in names}
        else:
            self.state = {"trash": "trash", "restore": "live", "purge": "gone"}[kind]

    def outcomes(self, action: list[Any]) -> "list[Folder]":
        """Return the folder as it may be once a process has begun an action."""
        kind, *arguments = action
        steps = [action]
        if kind == "copies":
            # Each item is applied on its own, so a killed process leaves the first ones.
            file, names = arguments
            steps = [["copies", file, names[: count + 1]] for count in range(len(names))]
        found = [deepcopy(self) for _ in steps]
        for folder, step in zip(found, steps, strict=True):
            folder.apply(step)
        return found

    def seen(self, container: Container, tenant: str, me: Identity, names: set[str]) -> "Folder":
        """Return the folder as it is, and those of its copies whose names are given."""
        trash = container.get(TrashService)
        found = Folder(self.id, self.files, {}, "gone")
        with container.database.read() as connection:
            is_trashed = trash._trash.find(connection, tenant, self.id) is not None
        try:
            container.get(FileService).get(me, tenant, self.id)
            found.state = "live"
        except NotFound:
            found.state = "trash" if is_trashed else "gone"
        if found.state == "live":
            found.contents = {file: contents_of(container, tenant, me, file) for file in self.files}
        copies = {name: contents_of_copy(container, tenant, me, name) for name in names}
        found.copies = {name: content for name, content in copies.items() if content is not None}
        return found

    def is_like(self, seen: "Folder") -> bool:
        """Return whether a folder is as this one; content in the trash is not read."""
        is_same = self.state != "live" or self.contents == seen.contents
        return is_same and (self.state, self.copies) == (seen.state, seen.copies)


def contents_of(container: Container, tenant: str, me: Identity, file: str) -> list[bytes]:
    """Read all versions of a file, and its content."""
    files, versions = container.get(FileService), container.get(VersionService)
    node, location = files.locate(me, tenant, file)
    found = []
    for number in range(1, (node.versions or 0) + 1):
        old, place = versions.locate(me, tenant, file, number)
        with files.open(old, 0, old.size, place) as chunks:
            found.append(b"".join(chunks))
    with files.open(node, 0, node.size, location) as chunks:
        return [*found, b"".join(chunks)]


def contents_of_copy(container: Container, tenant: str, me: Identity, name: str) -> list[bytes] | None:
    """Read the content of the files of a copy; ``None``: there is no such copy."""
    try:
        node = container.get(PathLookup).resolve(me, tenant, [name]).node
    except NotFound:
        return None
    children = select(nodes.c.id).where(nodes.c.parent_id == node.id)
    with container.database.read() as connection:
        files = [row.id for row in connection.execute(children)] if node.blob_key is None else [node.id]
    return sorted(contents_of(container, tenant, me, file)[-1] for file in files)


def batch(folder: str, name: str) -> list[BatchItem]:
    """Return the items of an atomic batch that copies a folder, and trashes and restores it."""
    return [
        BatchItem(folder, Copy(None, name)),
        BatchItem(folder, Deletion()),
        BatchItem(folder, RestoreRequest()),
    ]


def act(container: Container, tenant: str, me: Identity, folder: str, action: list[Any]) -> None:
    """Do an action."""
    services = container
    match action:
        case ["replace", file, content]:
            services.get(ReplacingService).replace_content(
                me, tenant, file, IncomingBytes("ignored", content.encode()), None
            )
        case ["restore version", file, number]:
            services.get(VersionService).restore(me, tenant, file, number, None)
        case ["copy", name]:
            services.get(CopyingService).copy(me, tenant, folder, Copy(None, name))
        case ["batch", name]:
            services.get(BatchService).apply_all(me, tenant, batch(folder, name), Origin())
        case ["copies", file, names]:
            items = [BatchItem(file, Copy(None, name)) for name in names]
            services.get(BatchService).apply_each(me, tenant, items, Origin())
        case ["trash"]:
            services.get(FileService).delete(me, tenant, folder)
        case ["restore"]:
            services.get(TrashService).restore(me, tenant, folder, RestoreRequest())
        case _:
            services.get(TrashRemoval).delete(me, tenant, folder)


def make(container: Container, tenant: str, me: Identity, number: int) -> Folder:
    """Make a folder with files."""
    files, fail = container.get(FileService), OnConflict.FAIL
    folder = files.create_folder(me, tenant, None, str(number), fail).node.id
    contents = {}
    for name in map(str, range(FILES)):
        content = f"{number} {name}".encode()
        made = files.upload(me, tenant, folder, IncomingBytes(name, content), fail)
        contents[made.node.id] = [content]
    return Folder(folder, [*contents], contents)


def choose(folder: Folder, random_: random.Random, number: int) -> list[Any]:
    """Return the next action on a folder."""
    if folder.state == "trash":
        return random_.choice([["restore"], ["restore"], ["restore"], ["purge"]])
    file = random_.choice(folder.files)
    versions = len(folder.contents[file]) - 1
    actions: list[list[Any]] = [["replace", file, f"{file} {number}"], ["trash"]]
    name = f"copy of {folder.id} {number}"
    copies = [f"{name} {index}" for index in range(5)]
    actions += [["copy", name], ["batch", name], ["copies", file, copies]]
    if versions:
        actions.append(["restore version", file, random_.randint(1, versions)])
    return random_.choice(actions)


def suffer(config: Path, tenant: str, me: Identity, number: int, journal: int) -> None:
    """Change a new folder until the process is killed; report each action before and after it."""
    # Few nodes at once, so that a removal takes several transactions, and so does a batch.
    trash_removal.NODES_AT_ONCE = 2
    batch_service.ITEMS_AT_ONCE = 2
    random_ = random.Random(number)
    with services(config) as container:
        while True:
            folder = make(container, tenant, me, random_.getrandbits(60))
            report(journal, "made", [folder.id, {k: v[0].decode() for k, v in folder.contents.items()}])
            step = 0
            while folder.state != "gone" and step < 8:
                step += 1
                action = choose(folder, random_, step)
                report(journal, "wanted", action)
                act(container, tenant, me, folder.id, action)
                report(journal, "done", action)
                folder.apply(action)


def report(journal: int, kind: str, value: Any) -> None:
    os.write(journal, (json.dumps([kind, value]) + "\n").encode())


def read(journal: Path) -> Iterator[tuple[Folder, list[Folder]]]:
    """Yield each folder as acknowledged, and as it may be if the last action was done nevertheless."""
    folder: Folder | None = None
    wanted: list[Folder] = []
    for kind, value in map(json.loads, journal.read_text().splitlines()):
        if kind == "made":
            if folder is not None:
                yield folder, wanted
            contents = {file: [content.encode()] for file, content in value[1].items()}
            folder, wanted = Folder(value[0], [*contents], contents), []
        elif folder is not None and kind == "wanted":
            wanted = folder.outcomes(value)
        elif wanted:
            folder, wanted = wanted[-1], []
    if folder is not None:
        yield folder, wanted


pytestmark = [pytest.mark.config({"files": {"versions": {"keep": 1000}}}), pytest.mark.extended]


def test_no_version_and_no_byte_is_lost_when_processes_die(server_config: Path, tmp_path: Path) -> None:
    with services(server_config) as container:
        with container.database.write() as connection:
            me = Identity(container.get(UserService).create(connection, "Alice").id, "USER", "login")
        tenant = container.get(TenantService).create(me, "Acme", Origin()).id
    journals = []
    fork, random_ = multiprocessing.get_context("fork"), random.Random(0)
    for number in range(KILLS):
        path = tmp_path / f"{number}.journal"
        journal = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        process = fork.Process(target=suffer, args=(server_config, tenant, me, number, journal))
        process.start()
        lines = random_.randint(2, 25)
        wait_until(partial(has_lines, path, lines), PATIENCE)
        # At any moment of what follows.
        time.sleep(random_.random() * 0.02)
        process.kill()
        process.join()
        os.close(journal)
        journals.append(path)
    check(server_config, tenant, me, journals)


def has_lines(journal: Path, count: int) -> bool:
    return journal.read_bytes().count(b"\n") >= count


def check(config: Path, tenant: str, me: Identity, journals: list[Path]) -> None:
    """Compare all folders with the journals, and the store with the database after a collection."""
    with services(config) as container:
        for path in journals:
            for acknowledged, wanted in read(path):
                check_folder(container, tenant, me, [acknowledged, *wanted])
        container.get(TrashRemoval).purge()
    collect_abandoned(config)
    with services(config) as container:
        assert not any(found.is_fault for found in container.get(StorageCheck).run(checksums=True))
        usage = container.get(TenantService).usage(me, tenant)
        with container.database.read() as connection:
            sizes = [
                connection.execute(select(func.coalesce(func.sum(table.c.size), 0))).scalar_one()
                for table in (nodes, node_versions)
            ]
        assert (usage.used_bytes, usage.trash_bytes) == (sum(sizes), 0)


def check_folder(container: Container, tenant: str, me: Identity, expected: list[Folder]) -> None:
    """Check that a folder is as one of those that it may be, and restore it from the trash."""
    names = {name for each in expected for name in each.copies}
    seen = expected[0].seen(container, tenant, me, names)
    found = [each for each in expected if each.is_like(seen)]
    assert found, (expected, seen)
    if seen.state == "trash":
        # It comes back with all its versions.
        container.get(TrashService).restore(me, tenant, seen.id, RestoreRequest())
        back = seen.seen(container, tenant, me, names)
        assert back.contents == found[0].contents
