"""Blobs: rows before bytes, and nothing left behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from strongroom.content.storage.blob_removal import ABANDONED_AFTER
from strongroom.content.storage.models import blobs
from strongroom.content.storage.service import BlobService
from strongroom.foundation.database import Database
from strongroom.foundation.errors import PayloadTooLarge, Unavailable
from strongroom.plugin_api.storage import ByteSource, StorageUnavailable
from strongroom.testing.clock import ManualClock
from strongroom.testing.storage import PatternSource, SourceBroke
from strongroom_storage_local.backend import LocalBackend
from strongroom_storage_local.options import LocalOptions


class Moody(LocalBackend):
    """A storage that can be unavailable for deletions."""

    away = False

    def delete(self, key: str) -> None:
        if self.away:
            raise StorageUnavailable("away")
        super().delete(key)


class Bench:
    """A blob service and all it works with."""

    def __init__(self, database_url: str, folder: Path) -> None:
        self.clock = ManualClock()
        self.database = Database(database_url)
        self.storage = Moody(LocalOptions(root=folder))
        self.service = BlobService(self.database, self.clock, {"main": self.storage}, "main")

    def states(self) -> list[str]:
        # Deletes the rows that are reserved for later blobs.
        self.service.close()
        with self.database.read() as connection:
            return list(connection.execute(select(blobs.c.state)).scalars())

    def objects(self) -> int:
        return len(list(self.service.storages["main"].scan()))

    def receive(self, source: ByteSource) -> str:
        return self.service.receive(source, size=None, max_bytes=10_000).blob.key


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(database_url, tmp_path / "files")
    yield bench
    bench.database.close()


def test_received_bytes_are_measured_and_count_once_they_are_kept(bench: Bench) -> None:
    source = PatternSource(5000)
    received = bench.service.receive(source, size=None, max_bytes=10_000)
    assert received.blob.size == 5000
    assert received.blob.checksum == source.digest.hexdigest()
    assert bench.states() == ["pending"]
    with bench.database.write() as connection:
        bench.service.commit(connection, received.blob)
    assert bench.states() == ["stored"]
    with bench.service.open(received.blob.key, 10, 20) as chunks:
        assert len(b"".join(chunks)) == 20


def test_a_source_that_breaks_or_is_too_large_leaves_neither_row_nor_bytes(bench: Bench) -> None:
    with pytest.raises(SourceBroke):
        bench.receive(PatternSource(5000, breaks=True))
    with pytest.raises(PayloadTooLarge):
        bench.receive(PatternSource(10_001))
    assert (bench.states(), bench.objects()) == ([], 0)


def test_discarding_does_not_touch_what_counts(bench: Bench) -> None:
    received = bench.service.receive(PatternSource(10), size=None, max_bytes=100)
    with bench.database.write() as connection:
        bench.service.commit(connection, received.blob)
    bench.service.discard(received.blob.key)
    assert (bench.states(), bench.objects()) == (["stored"], 1)


def test_an_upload_that_never_ended_is_collected_after_a_day(bench: Bench) -> None:
    bench.receive(PatternSource(10))
    assert bench.service.collect() == 0
    bench.clock.advance(ABANDONED_AFTER + 1)
    assert bench.service.collect() == 1
    assert (bench.states(), bench.objects()) == ([], 0)


def test_an_upload_given_up_can_no_longer_be_kept(bench: Bench) -> None:
    received = bench.service.receive(PatternSource(10), size=None, max_bytes=100)
    bench.clock.advance(ABANDONED_AFTER + 1)
    bench.service.collect()
    with pytest.raises(Unavailable), bench.database.write() as connection:
        bench.service.commit(connection, received.blob)


def test_objects_of_an_unavailable_storage_are_collected_later(bench: Bench) -> None:
    received = bench.service.receive(PatternSource(10), size=None, max_bytes=100)
    with bench.database.write() as connection:
        bench.service.commit(connection, received.blob)
    with bench.database.write() as connection:
        released = bench.service.release(connection, [received.blob.key])
    bench.storage.away = True
    bench.service.remove(released)
    assert (bench.states(), bench.objects()) == (["discarded"], 1)
    bench.storage.away = False
    assert bench.service.collect() == 1
    assert (bench.states(), bench.objects()) == ([], 0)
