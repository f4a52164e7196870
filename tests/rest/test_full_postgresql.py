"""A PostgreSQL whose disk is full: reads succeed, writes are refused, and the log says why."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import Api, Json, error_code
from tests.support.databases import PostgresqlDatabases, migrate
from tests.support.disks import fill, small_disk
from tests.support.waiting import wait_until

from strongroom.extensions.observability.readiness import DISK_FULL, FRESH
from strongroom.foundation.database import failures
from strongroom.foundation.logs import ErrorLog

CONTENT = b"kept" * 1000
DISK_BYTES = 32 * 1024 * 1024


@pytest.fixture(scope="module")
def disk() -> Iterator[Path]:
    with small_disk(DISK_BYTES) as folder:
        yield folder


@pytest.fixture
def database_url(disk: Path, postgresql_databases: PostgresqlDatabases) -> Iterator[str]:
    place = disk / "tablespace"
    place.mkdir(mode=0o700)
    server = postgresql_databases
    owner = server.data_folder.stat()
    os.chown(place, owner.st_uid, owner.st_gid)
    server.execute(f"CREATE TABLESPACE small LOCATION '{place}'")
    server.execute("CREATE DATABASE small TABLESPACE small")
    url = server.url("small")
    migrate(url)
    yield url
    server.execute("DROP DATABASE small WITH (FORCE)")
    server.execute("DROP TABLESPACE small")


def notes(api: Api) -> Json:
    """Return the notes of a new report of the readiness."""
    api.clock.advance(FRESH)
    ready = api.get("/readyz")
    assert ready.status_code == 200
    notes: Json = ready.json.get("notes", {})
    return notes


def test_a_full_disk_of_postgresql_refuses_writes_by_name_and_answers_reads(
    api: Api, disk: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another test may have logged a full disk in the last minute.
    monkeypatch.setattr(failures, "FULL_DISK", ErrorLog(failures.logger))
    person = api.person()
    tenant = api.tenant(person)
    kept = api.upload(tenant, person, "kept", CONTENT)
    assert api.get("/readyz").status_code == 200
    filler = fill(disk)
    answers = [api.send(tenant, person, f"{number:0>200}", CONTENT) for number in range(60)]
    refused = [answer for answer in answers if answer.status_code != 201]
    assert refused
    assert {(answer.status_code, error_code(answer)) for answer in refused} == {
        (507, "error.storage-full")
    }
    assert any(
        record.levelno == logging.ERROR
        and "The database has no space left on its disk: DiskFull" in record.getMessage()
        for record in caplog.records
    )
    assert api.get(f"{tenant}/files/{kept['id']}/download", by=person).data == CONTENT
    # On a busy machine, a probe exceeds its time limit, and its result counts for the next report.
    wait_until(lambda: notes(api) == {"database": DISK_FULL}, seen=lambda: notes(api))
    filler.unlink()
    wait_until(lambda: notes(api) == {}, seen=lambda: notes(api))
    assert api.send(tenant, person, "again", CONTENT).status_code == 201
