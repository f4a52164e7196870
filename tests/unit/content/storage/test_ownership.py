"""The owner marker: one owner for each store, however many databases claim it concurrently."""

import io
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import pytest
from tests.support.databases import SqliteDatabases

from strongroom.content.storage.models import new_key
from strongroom.content.storage.ownership import (
    FRESH,
    OWNER_KEY,
    StorageNotOwned,
    StorageOwnership,
    read_owner,
)
from strongroom.content.storage.service import BlobService
from strongroom.extensions.storage_maintenance.fsck import StorageCheck
from strongroom.foundation.database import Database
from strongroom.foundation.database.installation import database_id, set_restored_at
from strongroom.plugin_api.storage import ByteSource
from strongroom.testing.clock import ManualClock
from strongroom_storage_local.backend import LocalBackend
from strongroom_storage_local.options import LocalOptions

CLAIMANTS = 4


class PausingBackend(LocalBackend):
    """A folder that lets every claimant find no marker before one of them writes it."""

    barrier: Barrier

    def put(self, key: str, source: ByteSource, *, size: int | None = None) -> int:
        if key == OWNER_KEY:
            with suppress(BrokenBarrierError):
                self.barrier.wait(timeout=5)
        return super().put(key, source, size=size)


@pytest.fixture
def make_database(sqlite_databases: SqliteDatabases) -> Iterator[Callable[[], Database]]:
    with ExitStack() as stack:

        def make() -> Database:
            database = Database(stack.enter_context(sqlite_databases.create()))
            stack.callback(database.close)
            return database

        yield make


def folder(path: Path) -> LocalBackend:
    return LocalBackend(LocalOptions(root=path))


def service(database: Database, clock: ManualClock, path: Path) -> BlobService:
    return BlobService(database, clock, {"main": folder(path)}, "main")


def test_databases_that_claim_a_store_at_once_agree_on_one_owner(
    make_database: Callable[[], Database], tmp_path: Path, clock: ManualClock
) -> None:
    barrier, databases = Barrier(CLAIMANTS), [make_database() for _ in range(CLAIMANTS)]

    def claim(database: Database) -> str | None:
        backend = PausingBackend(LocalOptions(root=tmp_path))
        backend.barrier = barrier
        return StorageOwnership(database, clock).verify("main", backend)

    with ThreadPoolExecutor(CLAIMANTS) as pool:
        faults = list(pool.map(claim, databases))
    owner = read_owner(folder(tmp_path))
    assert owner is not None
    winners = [database for database, fault in zip(databases, faults, strict=True) if fault is None]
    assert [database_id(database) for database in winners] == [owner.database]
    assert all(fault is None or owner.database in fault for fault in faults)
    assert [item.key for item in folder(tmp_path).scan()] == [OWNER_KEY]


def test_a_claimant_that_died_is_not_waited_for_more_than_a_moment(
    make_database: Callable[[], Database], tmp_path: Path, clock: ManualClock
) -> None:
    backend, slept = folder(tmp_path), list[float]()
    backend.put("00/01/" + 32 * "a", io.BytesIO(b"{}"))
    assert StorageOwnership(make_database(), clock, slept.append).verify("main", backend) is None
    assert sum(slept) == pytest.approx(5)
    assert [item.key for item in backend.scan()] == [OWNER_KEY]


def test_nothing_is_written_to_or_removed_from_a_store_of_another_database(
    make_database: Callable[[], Database], tmp_path: Path, clock: ManualClock
) -> None:
    service(make_database(), clock, tmp_path).storages["main"].put("aa/" + 32 * "a", io.BytesIO(b"1"))
    store = service(make_database(), clock, tmp_path).storages["main"]
    for _ in range(10):
        with pytest.raises(StorageNotOwned, match="belongs to the database"):
            store.put(new_key(), io.BytesIO(b"2"))
        with pytest.raises(StorageNotOwned, match="strongroom rescue claim-storage main --from "):
            store.delete("aa/" + 32 * "a")
    assert [item.key for item in store.scan()] == ["aa/" + 32 * "a"]


def test_a_store_that_was_taken_over_is_left_alone_within_a_minute(
    make_database: Callable[[], Database], tmp_path: Path, clock: ManualClock
) -> None:
    old, new = (service(make_database(), clock, tmp_path) for _ in range(2))
    old.storages["main"].put(new_key(), io.BytesIO(b"1"))
    new.ownership.take("main", folder(tmp_path))
    clock.advance(FRESH)
    with pytest.raises(StorageNotOwned):
        old.storages["main"].put(new_key(), io.BytesIO(b"2"))
    new.storages["main"].put(new_key(), io.BytesIO(b"3"))


def test_two_storages_of_one_database_do_not_share_a_store(
    make_database: Callable[[], Database], tmp_path: Path, clock: ManualClock
) -> None:
    backends = {"main": folder(tmp_path), "more": folder(tmp_path)}
    stores = BlobService(make_database(), clock, backends, "main").storages
    stores["main"].put(new_key(), io.BytesIO(b"1"))
    with pytest.raises(StorageNotOwned, match=r"is the store of \[storages.main\] of this database"):
        stores["more"].put(new_key(), io.BytesIO(b"2"))


def test_a_restored_database_does_not_claim_files_without_a_marker(
    make_database: Callable[[], Database], tmp_path: Path, clock: ManualClock
) -> None:
    database = make_database()
    blobs = service(database, clock, tmp_path)
    received = blobs.receive(io.BytesIO(b"kept"), size=None, max_bytes=100)
    with database.write() as connection:
        blobs.commit(connection, received.blob)
        set_restored_at(connection, clock.now())
    folder(tmp_path).delete(OWNER_KEY)
    clock.advance(FRESH)
    fault = blobs.storages["main"].ownership_fault()
    assert fault is not None
    assert "the database was restored from a backup" in fault
    assert read_owner(folder(tmp_path)) is None


def test_the_marker_is_no_debris(
    make_database: Callable[[], Database], tmp_path: Path, clock: ManualClock
) -> None:
    database = make_database()
    blobs = service(database, clock, tmp_path)
    blobs.storages["main"].require_ownership()
    clock.advance(4_000_000_000_000)
    assert list(StorageCheck(database, clock, blobs).run(repair=True)) == []
    assert blobs.collect() == 0
    assert read_owner(folder(tmp_path)) is not None


def test_a_damaged_marker_names_the_way_out(
    make_database: Callable[[], Database], tmp_path: Path, clock: ManualClock
) -> None:
    backend = folder(tmp_path)
    backend.put(OWNER_KEY, io.BytesIO(b"{"))
    fault = StorageOwnership(make_database(), clock).verify("main", backend)
    assert fault is not None
    assert "strongroom rescue claim-storage main --from unreadable" in fault
