"""A check of storages that was killed continues where its last batch was stored."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import select
from tests.support.stored_blobs import Bench

from strongroom.content.storage.models import BLOB_ROW, blobs
from strongroom.content.storage.stores import Store
from strongroom.extensions.storage_maintenance import check_task, fsck
from strongroom.extensions.storage_maintenance.check_task import StorageCheckTask, checking
from strongroom.extensions.storage_maintenance.fsck import FindingKind
from strongroom.foundation.database.key_ranges import LEASE, KeyRanges
from strongroom.foundation.database.range_work import RangePages, RangeWorker
from strongroom.plugin_api.storage import StorageUnavailable


@pytest.fixture
def bench(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr(check_task, "_BATCH", 2)
    pages = RangePages(blobs.c.key, select(blobs), 2, BLOB_ROW)
    monkeypatch.setattr(check_task, "_NEXT", pages)
    with closing(Bench(database_url, tmp_path / "files")) as bench:
        yield bench


class Run:
    """One process of a check."""

    def __init__(self, bench: Bench, task: StorageCheckTask) -> None:
        self.ranges = KeyRanges(bench.database, bench.clock, task.name)
        self.task = task
        self.run = self.ranges.begin(task.split).run
        self.stop = Event()

    def work(self, batches: int | None = None) -> bool:
        left = iter(range(batches - 1 if batches else 1000))

        def count() -> None:
            if next(left, None) is None:
                self.stop.set()

        return RangeWorker(self.ranges, self.task, self.stop).run(self.run, count)

    def finish(self) -> list[tuple[FindingKind, str]]:
        self.task.finish(self.ranges.all())
        self.ranges.end()
        return [(finding.kind, finding.key) for finding in self.task.findings]


@contextmanager
def running(bench: Bench, *, checksums: bool = False, repair: bool = False) -> Iterator[Run]:
    task = checking(
        bench.database,
        bench.check,
        checksums=checksums,
        repair=repair,
        jobs=2,
        progress=lambda _: None,
    )
    with task as made:
        yield Run(bench, made)


def damage(bench: Bench, count: int) -> list[str]:
    """Store blobs, and change the bytes of each second one; return the keys of the changed ones."""
    keys = sorted(bench.keep(b"hello") for _ in range(count))
    for key in keys[::2]:
        bench.storage.local_path(key).write_bytes(b"hullo")
    return keys[::2]


def test_a_continued_check_reads_no_object_twice_and_reports_all_findings(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong, reads, checksum = damage(bench, 9), [], fsck._checksum

    def count(store: Store, key: str) -> str:
        reads.append(key)
        return checksum(store, key)

    monkeypatch.setattr(fsck, "_checksum", count)
    with running(bench, checksums=True) as first:
        assert not first.work(batches=2)
    assert len(reads) == 4
    stray = bench.put_stray(b"stray")
    with running(bench, checksums=True) as second:
        assert second.run == first.run
        assert second.work()
        findings = second.finish()
    assert len(reads) == len(set(reads)) == 9
    assert findings == [*((FindingKind.WRONG_CONTENT, key) for key in wrong), (FindingKind.STRAY, stray)]
    assert second.task.unlisted == 0
    assert second.ranges.progress() is None


def test_a_check_whose_process_was_killed_is_continued_after_its_lease(bench: Bench) -> None:
    wrong = damage(bench, 5)
    with running(bench, checksums=True) as first:
        key_range = first.ranges.claim(first.run)
        assert key_range is not None
        first.ranges.save(key_range, first.task.read(key_range, lambda: None))
    bench.clock.advance(LEASE + 1)
    with running(bench, checksums=True) as second:
        assert second.work()
        assert [key for _, key in second.finish()] == wrong


def test_the_kinds_of_checks_continue_only_their_own_runs(bench: Bench) -> None:
    names = set()
    for checksums in (False, True):
        for repair in (False, True):
            with running(bench, checksums=checksums, repair=repair) as run:
                names.add(run.task.name)
    assert len(names) == 4


def test_findings_that_find_no_room_are_counted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = damage(bench, 8)
    monkeypatch.setattr(check_task, "_STATE", 500)
    with running(bench, checksums=True) as first:
        first.work(batches=3)
    with running(bench, checksums=True) as second:
        second.work()
        findings = [key for _, key in second.finish()]
    assert second.task.unlisted > 0
    assert len(findings) + second.task.unlisted == len(wrong)
    assert findings[-1] == wrong[-1]


def test_a_batch_of_checksums_ends_after_many_bytes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(bench, 4)
    monkeypatch.setattr(check_task, "_BYTES", 5)
    with running(bench, checksums=True) as run:
        key_range = run.ranges.claim(run.run)
        assert key_range is not None
        batch = run.task.read(key_range, lambda: None)
    assert (batch.rows, batch.is_last) == (1, False)


def test_the_lease_is_renewed_while_a_large_object_is_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.keep(b"hello")
    renewed, checksum = Event(), fsck._checksum

    def read_slowly(store: Store, key: str) -> str:
        assert renewed.wait(60)
        return checksum(store, key)

    monkeypatch.setattr(fsck, "_checksum", read_slowly)
    monkeypatch.setattr(fsck, "_WAIT_SECONDS", 0.01)
    with running(bench, checksums=True) as run:
        key_range = run.ranges.claim(run.run)
        assert key_range is not None
        run.task.read(key_range, renewed.set)
    assert renewed.is_set()


def test_a_store_that_fails_leaves_the_progress(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    damage(bench, 5)

    def fail(_store: Store, _key: str) -> str:
        raise StorageUnavailable("down", retry_after=1)

    with running(bench, checksums=True) as first:
        first.work(batches=1)
        monkeypatch.setattr(fsck, "_checksum", fail)
        first.stop.clear()
        with pytest.raises(StorageUnavailable):
            first.work()
    progress = first.ranges.progress()
    assert progress is not None
    assert (progress.rows, progress.done) == (2, 0)
