"""Migration of bytes between storages, complete and without failed requests."""

import io
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, update

from strongroom.content.storage.blob_removal import ABANDONED_AFTER
from strongroom.content.storage.models import blobs
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import Holding, Inventory
from strongroom.content.storage.streams import BandwidthLimiter
from strongroom.extensions.storage_maintenance.migration import Migration, MigrationPlan, MigrationReport
from strongroom.foundation.database import Database
from strongroom.plugin_api.storage import ByteSource, ObjectNotFound, StorageUnavailable
from strongroom.testing.clock import MINUTE, ManualClock
from strongroom_storage_local.backend import LocalBackend
from strongroom_storage_local.options import LocalOptions

GRACE = 15 * MINUTE


class Killed(BaseException):
    """Ends a migration like SIGKILL, which no process can catch."""


class Hooked(LocalBackend):
    """A storage that does something whenever bytes come to it, or have come."""

    def __init__(self, options: LocalOptions) -> None:
        super().__init__(options)
        self.before: Callable[[], object] = lambda: None
        self.after: Callable[[], object] = lambda: None

    def put(self, key: str, source: ByteSource, *, size: int | None = None) -> int:
        self.before()
        written = super().put(key, source, size=size)
        self.after()
        return written


class Bench:
    """Two storages, and all that moves bytes between them."""

    def __init__(self, database_url: str, folder: Path) -> None:
        self.clock = ManualClock()
        self.database = Database(database_url)
        self.old = Hooked(LocalOptions(root=folder / "old"))
        self.new = Hooked(LocalOptions(root=folder / "new"))
        self.slept: list[float] = []
        self.sizes: dict[str, int] = {}
        backends = {"old": self.old, "new": self.new}
        self.service = BlobService(self.database, self.clock, backends, "old")
        self.migration = Migration(self.database, self.clock, self.service, self.slept.append)
        self.inventory = Inventory(self.database, self.service.storages)

    def store(self, content: bytes) -> str:
        received = self.service.receive(io.BytesIO(content), size=None, max_bytes=1 << 30)
        with self.database.write() as connection:
            self.service.commit(connection, received.blob)
        self.sizes[received.blob.key] = len(content)
        return received.blob.key

    def delete(self, key: str) -> None:
        with self.database.write() as connection:
            released = self.service.release(connection, [key])
        self.service.remove(released)

    def read(self, key: str) -> bytes:
        with self.service.open(key, 0, self.sizes[key]) as chunks:
            return b"".join(chunks)

    def move(self, source: str = "old", target: str = "new", *, grace: int = GRACE) -> MigrationReport:
        return self.migration.run(MigrationPlan(source, target, grace=grace, jobs=2))

    def objects(self) -> tuple[int, int]:
        stores = self.service.storages
        return len(list(stores["old"].scan())), len(list(stores["new"].scan()))

    def rows(self) -> int:
        self.service.close()
        with self.database.read() as connection:
            return len(connection.execute(select(blobs.c.key)).all())


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(database_url, tmp_path)
    yield bench
    bench.database.close()


@pytest.fixture
def contents(bench: Bench) -> dict[str, bytes]:
    return {bench.store(content): content for content in (b"", b"one", b"two" * 300_000)}


def test_all_moves_and_old_bytes_stay_for_their_grace(bench: Bench, contents: dict[str, bytes]) -> None:
    assert bench.move() == MigrationReport(moved=3)
    assert {key: bench.read(key) for key in contents} == contents
    assert bench.objects() == (3, 3)
    assert bench.service.collect() == 0
    bench.clock.advance(GRACE)
    assert bench.service.collect() == 3
    assert (bench.objects(), bench.rows()) == ((0, 3), 3)
    assert {key: bench.read(key) for key in contents} == contents


def test_it_goes_back_even_while_the_old_bytes_are_there(
    bench: Bench, contents: dict[str, bytes]
) -> None:
    bench.move()
    assert bench.move("new", "old") == MigrationReport(moved=3)
    bench.clock.advance(GRACE)
    bench.service.collect()
    assert bench.objects() == (3, 0)
    assert {key: bench.read(key) for key in contents} == contents


def test_without_a_grace_it_leaves_nothing(bench: Bench, contents: dict[str, bytes]) -> None:
    bench.move(grace=0)
    assert (bench.objects(), bench.rows()) == ((0, 3), 3)


def test_killed_at_any_point_it_goes_on_and_leaves_nothing(
    bench: Bench, contents: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def die() -> None:
        raise Killed

    # A process that is killed tidies nothing up.
    with monkeypatch.context() as patch:
        patch.setattr(bench.service, "discard", lambda _: None)
        for hook in ("before", "after"):
            setattr(bench.new, hook, die)
            with pytest.raises(Killed):
                bench.move()
            setattr(bench.new, hook, lambda: None)
    assert {key: bench.read(key) for key in contents} == contents
    assert bench.move(grace=0).moved == 3
    bench.clock.advance(ABANDONED_AFTER + 1)
    bench.service.collect()
    assert (bench.objects(), bench.rows()) == ((0, 3), 3)
    assert {key: bench.read(key) for key in contents} == contents


def test_a_reader_between_the_row_and_the_bytes_is_led_to_the_new_place(bench: Bench) -> None:
    key = bench.store(b"content")
    look = bench.service.location

    def look_and_miss(key: str) -> object:
        place = look(key)
        if place.storage == "old":
            bench.move(grace=0)
        return place

    bench.service.location = look_and_miss  # type: ignore[method-assign,assignment]
    assert bench.read(key) == b"content"


def test_a_reader_of_a_missing_object_gets_an_error(bench: Bench) -> None:
    key = bench.store(b"content")
    bench.old.delete(key)
    with pytest.raises(ObjectNotFound):
        bench.read(key)


def test_a_file_deleted_while_it_is_copied_is_gone(bench: Bench) -> None:
    key = bench.store(b"content")
    bench.new.after = lambda: bench.delete(key)
    assert bench.move() == MigrationReport()
    assert (bench.objects(), bench.rows()) == ((0, 0), 0)


def test_two_migrations_at_once_do_no_harm(bench: Bench) -> None:
    contents = {bench.store(content): content for content in (bytes([n]) * 100 for n in range(20))}
    start = threading.Barrier(2)

    def run() -> None:
        start.wait(30)
        bench.move(grace=0)

    others = [threading.Thread(target=run) for _ in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    bench.service.collect()
    assert {key: bench.read(key) for key in contents} == contents
    assert (bench.objects(), bench.rows()) == ((0, 20), 20)


def test_damaged_and_missing_bytes_are_named_and_stay(bench: Bench) -> None:
    good, damaged, missing, longer = (bench.store(b"content") for _ in range(4))
    bench.old.local_path(damaged).write_bytes(b"CONTENT")
    bench.old.local_path(longer).write_bytes(b"content and more")
    bench.old.delete(missing)
    report = bench.move(grace=0)
    assert (report.moved, sorted(report.damaged)) == (1, sorted([damaged, missing, longer]))
    assert bench.objects() == (2, 1)
    assert bench.read(good) == b"content"


def test_a_storage_that_is_away_for_a_moment_is_waited_for(bench: Bench) -> None:
    key = bench.store(b"content")
    bench.service.storages["new"].require_ownership()
    moods = iter([StorageUnavailable("away", retry_after=7), None])

    def moody() -> None:
        if error := next(moods):
            raise error

    bench.new.before = moody
    assert bench.move(grace=0) == MigrationReport(moved=1)
    assert bench.slept == [7]
    assert bench.read(key) == b"content"


def test_a_storage_that_stays_away_ends_it_and_nothing_is_lost(bench: Bench) -> None:
    def away() -> None:
        raise StorageUnavailable("away")

    key = bench.store(b"content")
    bench.new.before = away
    with pytest.raises(StorageUnavailable):
        bench.move()
    assert bench.read(key) == b"content"


def test_an_inventory_counts_the_blobs_of_each_storage_and_the_lost_ones(bench: Bench) -> None:
    bench.store(b"content")
    bench.move()
    assert bench.inventory.holdings() == [
        Holding("new", is_configured=True, files=1, size=7, leftovers=0),
        Holding("old", is_configured=True, files=0, size=0, leftovers=1),
    ]
    assert bench.inventory.lost() == []
    with bench.database.write() as connection:
        connection.execute(update(blobs).values(storage="gone"))
    assert bench.inventory.holdings()[0] == Holding("gone", False, 1, 7, 1)
    assert bench.inventory.lost() == ["gone"]
    assert bench.service.collect() == 0


def test_a_pace_lets_no_more_pass_than_its_rate() -> None:
    now, slept = [100.0], list[float]()
    pace = BandwidthLimiter(1000, lambda: now[0], slept.append)
    pace.consume(500)
    pace.consume(1000)
    now[0] += 60
    pace.consume(250)
    assert slept == [0.5, 1.5, 0.25]


def test_the_bandwidth_limit_counts_copied_bytes(bench: Bench) -> None:
    content = b"x" * 1_000_000
    bench.store(content)
    slept: list[float] = []
    bench.migration.run(
        MigrationPlan("old", "new", 0, 1, BandwidthLimiter(1_000_000, lambda: 0.0, slept.append))
    )
    assert slept[-1] == pytest.approx(1.0)
