"""The check of storages: faults are reported, pending work is not, and repair is safe."""

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import delete, insert, select
from tests.support.stored_blobs import DAY_LATER, Bench
from tests.support.waiting import PATIENCE_SECONDS

from strongroom.content.storage.blob_removal import ABANDONED_AFTER
from strongroom.content.storage.models import BlobState, blobs, is_key, new_key
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import Store
from strongroom.extensions.business_files.models import business_files
from strongroom.extensions.storage_maintenance import fsck
from strongroom.extensions.storage_maintenance.fsck import FindingKind
from strongroom.plugin_api.storage import StorageUnavailable
from strongroom_storage_local.backend import LocalBackend


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(database_url, tmp_path / "files")
    yield bench
    bench.close()


def test_where_all_is_right_nothing_is_found(bench: Bench) -> None:
    for number in range(5):
        bench.keep(b"x" * number)
    bench.blobs.receive(io.BytesIO(b"on its way"), size=None, max_bytes=100)
    assert bench.run(checksums=True, repair=True) == []
    assert len(bench.objects()) == 6


def test_missing_bytes_are_reported_with_their_references(bench: Bench) -> None:
    key = bench.keep(b"hello")
    bench.storage.delete(key)
    for repair in (False, True):
        (finding,) = bench.run(repair=repair)
        assert (finding.kind, finding.key, finding.is_fault) == (FindingKind.MISSING, key, True)
        assert finding.referrers == (f"business_files {key[-8:]}.bin",)


def test_bytes_of_another_size_are_reported(bench: Bench) -> None:
    key = bench.keep(b"hello")
    bench.storage.local_path(key).write_bytes(b"hell")
    assert bench.found() == [(FindingKind.WRONG_SIZE, key)]
    bench.run(repair=True)
    assert bench.objects() == {key}


def test_changed_bytes_are_reported_only_if_all_are_read(bench: Bench) -> None:
    key = bench.keep(b"hello")
    bench.storage.local_path(key).write_bytes(b"hullo")
    assert bench.found() == []
    (finding,) = bench.run(checksums=True)
    assert finding.kind is FindingKind.WRONG_CONTENT
    assert hashlib.sha256(b"hullo").hexdigest() in finding.detail


def test_bytes_without_a_row_are_removed_once_they_are_old(bench: Bench) -> None:
    kept = {bench.keep(b"a"), bench.keep(b"b")}
    stray = bench.put_stray(b"stray")
    modified_at = bench.storage.stat(stray).modified_at or 0
    bench.clock.advance(modified_at + ABANDONED_AFTER - bench.clock.now())
    (young,) = bench.run(repair=True)
    assert (young.kind, young.key, young.repaired) == (FindingKind.STRAY, stray, False)
    bench.clock.advance(1)
    assert bench.found() == [(FindingKind.STRAY, stray)]
    (old,) = bench.run(repair=True)
    assert old.repaired
    assert not old.is_fault
    assert bench.objects() == kept
    assert bench.run() == []


def test_a_database_that_knows_less_than_half_of_the_bytes_is_not_believed(bench: Bench) -> None:
    bench.keep(b"a")
    strays = {bench.put_stray(b"stray"), bench.put_stray(b"stray")}
    assert not any(finding.repaired for finding in bench.run(repair=True))
    assert strays < bench.objects()


def test_foreign_objects_are_reported_and_kept(bench: Bench) -> None:
    bench.storage.local_path("lost+found").mkdir(parents=True)
    bench.storage.local_path("lost+found/readme").write_bytes(b"x")
    (finding,) = bench.run(repair=True)
    assert (finding.kind, finding.key) == (FindingKind.FOREIGN, "lost+found/readme")
    assert not finding.is_fault
    assert bench.objects() == {"lost+found/readme"}


def test_a_row_that_nothing_refers_to_is_released_by_repair(bench: Bench) -> None:
    kept = bench.keep(b"a")
    leaked = bench.keep(b"b", referred=False)
    assert bench.run() == []
    bench.clock.advance(ABANDONED_AFTER + 1)
    assert bench.found() == [(FindingKind.UNREFERENCED, leaked)]
    (finding,) = bench.run(repair=True)
    assert finding.repaired
    assert bench.objects() == {kept}
    assert bench.run() == []


def test_released_bytes_with_references_are_reported_and_never_collected(bench: Bench) -> None:
    key = bench.keep(b"a")
    bench.change(key, state=BlobState.DISCARDED.value)
    assert bench.blobs.collectable() == 0
    assert bench.blobs.collect() == 0
    (finding,) = bench.run(repair=True)
    assert (finding.kind, finding.referrers) == (
        FindingKind.RELEASED,
        (f"business_files {key[-8:]}.bin",),
    )
    assert bench.objects() == {key}


def test_rows_of_a_storage_that_is_not_configured_are_reported(bench: Bench) -> None:
    key = bench.keep(b"a")
    bench.change(key, storage="gone", state=BlobState.STORED.value)
    assert [finding.kind for finding in bench.run(repair=True)] == [
        FindingKind.NO_STORAGE,
        FindingKind.STRAY,
    ]
    assert bench.objects() == {key}


def test_what_happens_during_the_check_is_no_finding(bench: Bench) -> None:
    bench.keep(b"a")
    doomed = bench.keep(b"b")
    late: list[str] = []

    def meanwhile(_: int) -> None:
        if late:
            return
        late.append(bench.keep(b"c"))
        with bench.database.write() as connection:
            connection.execute(delete(business_files).where(business_files.c.blob_key == doomed))
            released = bench.blobs.release(connection, [doomed])
        bench.blobs.remove(released)

    assert list(bench.check.run(checksums=True, repair=True, progress=meanwhile)) == []
    assert late[0] in bench.objects()


def test_progress_counts_the_objects_and_the_rows(bench: Bench) -> None:
    for number in range(4):
        bench.keep(b"x" * number)
    for checksums in (False, True):
        steps: list[int] = []
        list(bench.check.run(checksums=checksums, progress=steps.append))
        assert sum(steps) == 4 + 4


def test_more_than_a_batch_is_compared_whole(bench: Bench) -> None:
    rows = [
        {
            "key": key,
            "storage": "main",
            "object_key": key,
            "state": "stored",
            "size": 1,
            "created_at": DAY_LATER,
        }
        for key in (new_key() for _ in range(1201))
    ]
    with bench.database.write() as connection:
        connection.execute(insert(blobs), rows)
    expected = {(FindingKind.MISSING, row["key"]) for row in rows}
    assert set(bench.found()) == expected


def test_keys_of_blobs_are_distinguished_from_others() -> None:
    assert is_key(new_key())
    key = new_key()
    assert not any(map(is_key, ["", key[1:], f"{key}0", key.upper() + "X", f"00/{key}", "a/b"]))


class Remote(LocalBackend):
    """A storage that, like remote ones, lists an upload only after it has ended."""

    def delete(self, key: str) -> None:
        self.local_path(key).unlink(missing_ok=True)


def test_an_upload_that_ends_after_its_collection_leaves_nothing(bench: Bench) -> None:
    storage = Remote(bench.storage.options)
    service = BlobService(bench.database, bench.clock, {"main": storage}, "main")

    class Slow(io.BytesIO):
        """A source that ends long after its upload was abandoned and collected."""

        def read(self, size: int | None = -1, /) -> bytes:
            bench.clock.advance(ABANDONED_AFTER + 1)
            service.collect()
            return super().read(size)

    received = service.receive(Slow(b"late"), size=None, max_bytes=100)
    assert bench.objects() == {received.blob.key}
    service.discard(received.blob.key)
    assert bench.objects() == set()
    with bench.database.read() as connection:
        assert connection.execute(select(blobs)).all() == []


def test_several_objects_are_read_at_the_same_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = sorted(bench.keep(b"hello") for _ in range(6))
    for key in keys[::2]:
        bench.storage.local_path(key).write_bytes(b"hullo")
    together, checksum = Barrier(3, timeout=PATIENCE_SECONDS), fsck._checksum

    def wait_for_others(store: Store, key: str) -> str:
        together.wait()
        return checksum(store, key)

    monkeypatch.setattr(fsck, "_checksum", wait_for_others)
    findings = list(bench.check.run(checksums=True, jobs=3))
    assert [finding.key for finding in findings] == keys[::2]


def test_a_store_that_fails_ends_the_check(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(20):
        bench.keep(b"hello")

    def fail(_store: Store, _key: str) -> str:
        raise StorageUnavailable("down", retry_after=1)

    monkeypatch.setattr(fsck, "_checksum", fail)
    with pytest.raises(StorageUnavailable):
        list(bench.check.run(checksums=True, jobs=3))
