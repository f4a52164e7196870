"""The gauge of connections in use stays right while the database is unavailable."""

import pytest
from prometheus_client import CollectorRegistry
from sqlalchemy import text

from strongroom.extensions.observability.metrics import Metrics
from strongroom.foundation.database import Database
from strongroom.foundation.errors import Unavailable

GAUGE = "strongroom_database_connections_in_use"


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_connections_in_use_do_not_fall_below_zero_while_the_database_is_away(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = CollectorRegistry()
    database, other = Database(database_url), Database(database_url)
    Metrics(registry).watch(database.engine)
    with database.write() as connection:
        backend = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
        assert registry.get_sample_value(GAUGE) == 1

    def refuse(*_: object, **__: object) -> None:
        raise database.engine.dialect.loaded_dbapi.OperationalError("connection refused")

    with other.write() as connection:
        connection.execute(text("SELECT pg_terminate_backend(:backend)"), {"backend": backend})
    monkeypatch.setattr("psycopg.Connection.connect", refuse)
    monkeypatch.setattr(database.engine.dialect, "connect", refuse)
    for _ in range(10):
        with pytest.raises(Unavailable), database.write():
            pytest.fail("there is no connection")
    assert registry.get_sample_value(GAUGE) == 0
    monkeypatch.undo()
    with database.write():
        assert registry.get_sample_value(GAUGE) == 1
    for opened in (database, other):
        opened.close()
