"""Metrics that requests leave, and those of the whole installation."""

import logging
import os
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from tests.support.api import Api
from tests.support.databases import make_unavailable, on_postgresql

from strongroom.activity.audit.sealing import seal
from strongroom.assembly.commands import assemble_backups
from strongroom.clock import SystemClock
from strongroom.content.storage.service import BlobService
from strongroom.extensions.observability.clock_skew import DATABASE, NEWEST_RECORD
from strongroom.extensions.observability.clock_skew_metric import CLOCK_SKEW, ClockSkewMetric
from strongroom.extensions.observability.disks import FREE, SIZE, Disks, disk_folders
from strongroom.extensions.observability.families import Family, Sample
from strongroom.extensions.observability.totals import (
    BACKUP,
    COUNTED_SECONDS,
    JOB_FAILED,
    JOB_SUCCEEDED,
    SINK_DEAD,
    STORED,
    TENANTS,
    USERS,
    Totals,
)
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import Unavailable
from strongroom.plugin_api.storage import ObjectNotFound, StorageError
from strongroom.testing.clock import HOUR, ManualClock
from strongroom.testing.server import free_port

FILE = {"Content-Disposition": 'attachment; filename="a.bin"'}

_WRONG = Statement(text("SELECT nothing FROM nowhere"))
_NUMBERS = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 200000)"
_SLOW = Statement(text(f"{_NUMBERS} SELECT count(*) FROM numbers WHERE n <> :secret"))


pytestmark = pytest.mark.config(
    {
        "management": {"port": free_port()},
        "database": {"slow_query_ms": 1},
        "limits": {"login_per_address": ["2/hour"]},
    }
)


def value(api: Api, name: str, **labels: str) -> float:
    """Return the value of a series, or 0 if there is none."""
    metrics = api.container.base.metrics
    assert metrics is not None
    samples = [
        sample for item in metrics.instruments for metric in item.collect() for sample in metric.samples
    ]
    return sum(s.value for s in samples if s.name == name and labels.items() <= s.labels.items())


def test_statements_and_storages_are_measured(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    node = api.post(f"{tenant}/files", by=alice, data=b"content", headers=FILE).json
    api.get(f"{tenant}/files/{node['id']}/download", by=alice)
    statement = {"statement": "nodes.tree.add_unless_there"}
    assert value(api, "strongroom_database_statement_seconds_count", **statement) > 0
    for verb in ("put", "open"):
        assert value(api, "strongroom_storage_seconds_count", storage="main", verb=verb) == 1
    assert value(api, "strongroom_storage_errors_total") == 0
    assert value(api, "strongroom_database_wait_seconds_count") > 0
    assert value(api, "strongroom_database_connections_max") >= 32
    assert value(api, "strongroom_queue_wait_seconds_count", queue="hashes") > 0


def test_a_failed_statement_counts_by_its_name(api: Api) -> None:
    with pytest.raises((DBAPIError, Unavailable)), api.container.database.write() as connection:
        _WRONG.execute(connection)
    series = "strongroom_database_statement_errors_total"
    assert value(api, series, statement="tests.rest.test_metrics.wrong") == 1


def test_a_failing_store_counts_and_an_absent_object_does_not(api: Api, tmp_path: Path) -> None:
    store = api.container.get(BlobService).storages["main"]
    with pytest.raises(ObjectNotFound):
        store.stat("absent")
    assert value(api, "strongroom_storage_seconds_count", verb="stat") == 1
    assert value(api, "strongroom_storage_errors_total") == 0
    store.ownership_fault()
    (tmp_path / "files").rename(tmp_path / "away")
    (tmp_path / "files").symlink_to(tmp_path / "files")
    with pytest.raises(StorageError):
        store.stat("absent")
    assert value(api, "strongroom_storage_errors_total", storage="main", verb="stat") == 1


def test_refusals_count_by_limit(api: Api) -> None:
    answers = [api.log_in("nobody@example.com") for _ in range(3)]
    assert answers[-1].status_code == 429
    assert value(api, "strongroom_limited_total", limit="login_per_address") == 1


def test_a_slow_statement_is_logged_without_its_values(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), api.container.database.read() as connection:
        _SLOW.all(connection, {"secret": 424242})
    (record,) = [item for item in caplog.records if "test_metrics" in item.getMessage()]
    assert record.getMessage().startswith("Slow statement tests.rest.test_metrics.slow: ")
    assert "424242" not in caplog.text


class Clock:
    """A monotonic clock."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def read(totals: Totals) -> dict[Family, list[Sample]]:
    return dict(totals())


def test_totals_are_counted_rarely_and_states_always(api: Api, tmp_path: Path) -> None:
    clock, container = Clock(), api.container
    totals = Totals(container.database, container.job_leases, container.events.positions, clock)
    assert read(totals)[USERS] == [((), 0)]
    assert read(totals)[BACKUP] == []
    alice = api.person()
    api.post(f"{api.tenant(alice)}/files", by=alice, data=b"content", headers=FILE)
    assemble_backups(container).create(tmp_path / "archive.tar")
    runner = container.job_runner(container.jobs())
    assert runner.run_now("core.prune")
    found = read(totals)
    assert found[USERS] == [((), 0)]
    assert found[BACKUP] == [((), api.clock.now() / 1000)]
    assert found[JOB_SUCCEEDED] == [(("core.prune",), api.clock.now() / 1000)]
    assert (("core.prune",), 0) in found[JOB_FAILED]
    assert found[SINK_DEAD] == []
    clock.now += COUNTED_SECONDS
    found = read(totals)
    assert (found[USERS], found[TENANTS], found[STORED]) == ([((), 1)], [((), 1)], [((), 7)])


def test_while_the_database_is_away_there_are_no_totals(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    container = api.container
    totals = Totals(container.database, container.job_leases, container.events.positions)
    make_unavailable(monkeypatch)
    assert read(totals) == {}


def test_a_clock_that_was_set_back_differs_from_the_newest_record(api: Api) -> None:
    api.person()
    # The newest record is sealed in the background.
    seal(api.container.database)
    skew = ClockSkewMetric(api.container.database, api.clock)
    assert dict(skew())[CLOCK_SKEW][-1] == ((NEWEST_RECORD,), 0)
    api.clock.advance(-HOUR)
    assert dict(skew())[CLOCK_SKEW][-1] == ((NEWEST_RECORD,), -3600)


@on_postgresql
def test_the_clock_is_compared_with_that_of_postgresql(api: Api) -> None:
    database, now = api.container.database, SystemClock().now()
    behind = dict(ClockSkewMetric(database, ManualClock(now - HOUR))())[CLOCK_SKEW]
    ((labels, seconds), _) = behind
    assert labels == (DATABASE,)
    assert -3700 < seconds < -3500


def test_without_the_database_there_is_no_skew(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    make_unavailable(monkeypatch)
    assert not list(ClockSkewMetric(api.container.database, api.clock)())


def test_the_disks_of_all_folders_are_measured(api: Api, tmp_path: Path) -> None:
    container = api.container
    folders = disk_folders(
        container.settings.server.data_dir,
        container.database.engine,
        container.get(BlobService).storages,
    )
    local = {"data_dir", "storages.main"}
    is_sqlite = container.database.engine.dialect.name == "sqlite"
    assert folders.keys() == local | ({"database"} if is_sqlite else set())
    disk = os.statvfs(tmp_path)
    disks = dict(Disks({"there": tmp_path, "not-yet": tmp_path / "new"})())
    assert [labels for labels, _ in disks[FREE]] == [("there",), ("not-yet",)]
    assert disks[SIZE][0] == (("there",), disk.f_blocks * disk.f_frsize)
    assert 0 < disks[FREE][0][1] < disks[SIZE][0][1]
