"""What PostgreSQL lacks is named in the log, and answered by an error of its own."""

import pytest
from sqlalchemy import text
from tests.support.waiting import PATIENCE_SECONDS

from strongroom.foundation.database import Database, postgresql
from strongroom.foundation.errors import StorageFull, StrongroomError, Unavailable

pytestmark = pytest.mark.both_databases


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    ("state", "name", "error"),
    [
        ("53100", "DiskFull", StorageFull),
        ("53200", "OutOfMemory", Unavailable),
        ("53300", "TooManyConnections", Unavailable),
    ],
)
def test_a_shortage_of_the_server_is_named(
    database_url: str,
    state: str,
    name: str,
    error: type[StrongroomError],
    caplog: pytest.LogCaptureFixture,
) -> None:
    database = Database(database_url)
    statement = f"DO $$ BEGIN RAISE EXCEPTION 'no more' USING ERRCODE = '{state}'; END $$"
    with pytest.raises(error), database.write() as connection:
        connection.execute(text(statement))
    assert f"{name}: no more" in caplog.text
    database.close()


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_slow_statement_is_cancelled_by_the_server_and_its_connection_kept(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server has half a second, and the client is patient, because a busy machine delays the answer.
    monkeypatch.setattr(postgresql, "GRACE_SECONDS", PATIENCE_SECONDS - 0.5)
    database = Database(database_url, timeout_seconds=PATIENCE_SECONDS)
    backend = _backend(database)
    with pytest.raises(Unavailable), database.read() as connection:
        connection.execute(text("SELECT pg_sleep(60)"))
    assert not database.is_hanging
    assert _backend(database) == backend
    database.close()


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_long_work_of_commands_is_not_bounded(database_url: str) -> None:
    database = Database(database_url)
    with database.read() as connection:
        assert connection.execute(text("SHOW statement_timeout")).scalar() == "0"
    database.close()


def _backend(database: Database) -> object:
    with database.read() as connection:
        return connection.execute(text("SELECT pg_backend_pid()")).scalar()
