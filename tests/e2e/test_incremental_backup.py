"""Incremental backups: exact, small, and refused unless every archive that they continue is whole."""

import json
import os
import random
import time
from contextlib import closing
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from strongroom.assembly.commands import assemble_backups
from strongroom.content.nodes.models import nodes
from strongroom.content.storage.models import blobs, new_key
from strongroom.content.storage.service import BlobService
from strongroom.extensions.backup.archive import BackupError, Manifest
from strongroom.extensions.backup.chain import ArchiveChain
from strongroom.foundation.database import metadata
from strongroom.foundation.ids import new_id
from strongroom.plugin_api.storage import LocalPaths
from tests.e2e.archives import Writers, assert_whole, back_up, place
from tests.support.api import Api
from tests.support.campaign import campaign_size
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.databases import PostgresqlDatabases, SqliteDatabases, on_sqlite
from tests.support.disks import fill, small_disk
from tests.support.server import Server

FILES = campaign_size("BACKUP_FILES", 3000)
CHANGED = 100
FLIPS = campaign_size("BACKUP_FLIPS", 50)
ROWS_PER_CHANGE = 3 * 256
"""A changed row is in a segment of about 256 rows, and may divide or join two."""


def create(api: Api, path: Path, since: Path | None = None) -> Manifest:
    """Write an archive in this process."""
    return assemble_backups(api.container).create(path, since=since)


def state(archive: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the rows of each table, and the digest of each blob, that an archive describes."""
    chain = ArchiveChain.open(archive)
    rows = {table: b"\n".join(chain.rows(table)) for table in chain.manifest.tables}
    with closing(chain.verify()) as index:
        content = {key: sha256(file.read()).hexdigest() for _, key, file, _ in chain.blobs(index)}
    return rows, content


def included(archive: Path) -> int:
    """Return how many blobs an archive contains itself."""
    return sum(1 for _ in ArchiveChain.open(archive).head.blobs())


def test_increments_under_writes_are_each_of_one_moment(
    server: Server, client: Client, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    databases: SqliteDatabases | PostgresqlDatabases = request.getfixturevalue("sqlite_databases")
    writers = Writers(client, client.make_tenant("Acme"))
    archives = [tmp_path / f"{number}.tar" for number in range(3)]
    back_up(server, archives[0])
    with writers.at_work():
        for base, archive in pairwise(archives):
            gone, there_before = set(writers.deleted), writers.surely_there()
            server.command("backup", "create", "--since", str(base), str(archive))
    with databases.create() as url, place(tmp_path, url, "place") as there:
        there.restore(archives[-1])
        restored = assert_whole(there)
        assert there_before - writers.deleting <= restored
        assert not restored & gone


def test_an_increment_describes_what_a_complete_archive_contains(api: Api, tmp_path: Path) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    ids = [api.upload(tenant, alice, f"{number}", os.urandom(99))["id"] for number in range(12)]
    create(api, tmp_path / "sunday.tar")
    for number, archive in enumerate(("monday.tar", "tuesday.tar")):
        base = tmp_path / ("monday.tar" if number else "sunday.tar")
        api.upload(tenant, alice, f"new {number}", os.urandom(99))
        path = f"{tenant}/files/{ids[number]}?permanently=true"
        assert api.delete(path, by=alice).status_code == 200
        create(api, tmp_path / archive, base)
        assert included(tmp_path / archive) == 1
    create(api, tmp_path / "complete.tar")
    assert state(tmp_path / "tuesday.tar") == state(tmp_path / "complete.tar")
    assert len(state(tmp_path / "tuesday.tar")[1]) == 12


def object_path(api: Api, key: str) -> Path:
    """Return the file of an object."""
    store = api.container.get(BlobService).storages["main"].capability(LocalPaths)
    assert store is not None
    return store.local_path(key)


def plant(api: Api, files: int) -> None:
    """Multiply the file that a tenant has, each with bytes of its own."""
    with api.container.database.write() as connection:
        node = dict(connection.execute(select(nodes).where(nodes.c.type == "file")).one()._mapping)
        blob = dict(connection.execute(select(blobs)).one()._mapping)
        for start in range(0, files, 1000):
            batch = range(start, min(start + 1000, files))
            keys = [new_key() for _ in batch]
            rows = [blob | {"key": key, "object_key": key} for key in keys]
            connection.execute(insert(blobs), rows)
            copies = [
                node | {"id": new_id(), "name": f"{number}.txt", "sort_key": "", "blob_key": key}
                for number, key in zip(batch, keys, strict=True)
            ]
            connection.execute(insert(nodes), copies)
            for key in keys:
                path = object_path(api, key)
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(b"small")


def test_few_changes_of_many_files(api: Api, tmp_path: Path) -> None:
    """``STRONGROOM_TEST_BACKUP_FILES=1000000`` measures the seconds of a large server."""
    alice = api.person()
    tenant = api.tenant(alice)
    api.upload(tenant, alice, "small.txt", b"small")
    plant(api, FILES)
    figures = []
    started = time.perf_counter()
    create(api, tmp_path / "sunday.tar")
    figures.append(time.perf_counter() - started)
    for number in range(CHANGED):
        api.upload(tenant, alice, f"new {number}", os.urandom(50))
    started = time.perf_counter()
    manifest = create(api, tmp_path / "monday.tar", tmp_path / "sunday.tar")
    figures.append(time.perf_counter() - started)
    sizes = [(tmp_path / name).stat().st_size for name in ("sunday.tar", "monday.tar")]
    print(  # noqa: T201  the figures of a large campaign
        f"\n{FILES} files: seconds {figures}, bytes {sizes}"
    )
    assert included(tmp_path / "monday.tar") == CHANGED
    assert manifest.tables["nodes"] == FILES + CHANGED + 2
    listed = ArchiveChain.open(tmp_path / "monday.tar").segments("nodes")
    assert sum(item.rows for item in listed if item.is_included) <= CHANGED * ROWS_PER_CHANGE
    if FILES > 100 * ROWS_PER_CHANGE:
        assert sizes[1] < sizes[0] / 10


@pytest.fixture
def chain(api: Api, tmp_path: Path) -> list[Path]:
    """Three archives, each of which continues the one before it."""
    alice = api.person()
    tenant = api.tenant(alice)
    archives: list[Path] = []
    for name in ("sunday", "monday", "tuesday"):
        api.upload(tenant, alice, name, os.urandom(2000))
        create(api, tmp_path / f"{name}.tar", archives[-1] if archives else None)
        archives.append(tmp_path / f"{name}.tar")
    return archives


def fault(archive: Path, *bases: Path) -> str:
    """Return why an archive is refused; empty if it is accepted."""
    options = [text for base in bases for text in ("--base", str(base))]
    result = run_command("backup", "verify", str(archive), *options)
    assert result.returncode == bool(result.stderr)
    return result.stderr


@on_sqlite
def test_a_missing_or_wrong_base_is_refused(chain: list[Path], tmp_path: Path) -> None:
    sunday, monday, tuesday = chain
    assert fault(tuesday) == ""
    moved = tmp_path / "elsewhere.tar"
    monday.rename(moved)
    assert f"{tuesday} continues monday.tar of" in fault(tuesday)
    assert "is missing: put it next to the archive, or name it by --base" in fault(tuesday)
    assert fault(tuesday, moved) == ""
    sunday.rename(monday)
    assert f"which is another archive than {monday}" in fault(tuesday)
    moved.rename(sunday)
    assert f"which is another archive than {monday}" in fault(tuesday)


@on_sqlite
def test_a_flipped_bit_in_any_archive_is_refused_or_changes_nothing(chain: list[Path]) -> None:
    expected = state(chain[-1])
    choice = random.Random(7)
    refusals = 0
    for _ in range(FLIPS):
        archive = choice.choice(chain)
        content = archive.read_bytes()
        damaged = bytearray(content)
        damaged[choice.randrange(len(damaged))] ^= 1 << choice.randrange(8)
        archive.write_bytes(damaged)
        try:
            # The padding between members has no meaning.
            assert state(chain[-1]) == expected
        except BackupError:
            refusals += 1
        archive.write_bytes(content)
    assert refusals > FLIPS / 4


@on_sqlite
def test_an_archive_of_another_database_is_no_base(
    api: Api, chain: list[Path], config: Path, tmp_path: Path, sqlite_databases: SqliteDatabases
) -> None:
    with sqlite_databases.create() as url, place(tmp_path, url, "place") as there:
        there.restore(chain[-1])
        arguments = ["backup", "create", "--since", str(chain[-1]), str(tmp_path / "new.tar")]
        result = run_command("--config", str(there.config), *arguments)
    assert result.returncode == 1
    assert f"{chain[-1]} is of the database" in result.stderr
    assert not (tmp_path / "new.tar").exists()


@on_sqlite
def test_a_full_disk_leaves_nothing(api: Api, chain: list[Path]) -> None:
    alice = api.person()
    api.upload(api.tenant(alice), alice, "large", os.urandom(300_000))
    with small_disk(256 * 1024) as disk:
        for since in (None, chain[-1]):
            with pytest.raises(BackupError, match="No space left"):
                create(api, disk / "new.tar", since)
            assert list(disk.iterdir()) == []
        filler = fill(disk)
        with pytest.raises(BackupError, match="No space left"):
            create(api, disk / "new.tar", chain[-1])
        assert list(disk.iterdir()) == [filler]


@on_sqlite
def test_bytes_that_the_base_lacks_are_tried_again(api: Api, tmp_path: Path) -> None:
    alice = api.person()
    api.upload(api.tenant(alice), alice, "note", b"kept")
    with api.container.database.read() as connection:
        key = connection.execute(select(blobs.c.object_key)).scalar_one()
    path = object_path(api, key)
    path.rename(tmp_path / "away")
    assert len(create(api, tmp_path / "sunday.tar").faults) == 1
    assert len(create(api, tmp_path / "monday.tar", tmp_path / "sunday.tar").faults) == 1
    (tmp_path / "away").rename(path)
    assert create(api, tmp_path / "tuesday.tar", tmp_path / "monday.tar").faults == {}
    assert state(tmp_path / "tuesday.tar")[1] == {key: sha256(b"kept").hexdigest()}


def test_the_database_writes_each_value_as_json(api: Api, tmp_path: Path) -> None:
    api.person(name='"quoted"\\ 你好')
    create(api, tmp_path / "one.tar")
    chain = ArchiveChain.open(tmp_path / "one.tar")
    with api.container.database.read() as connection:
        for name in chain.manifest.tables:
            if (table := metadata.tables.get(name)) is not None:
                query = select(table).order_by(*table.primary_key)
                rows = [dict(row._mapping) for row in connection.execute(query)]
                assert list(chain.records(name)) == json.loads(json.dumps(rows)), name
