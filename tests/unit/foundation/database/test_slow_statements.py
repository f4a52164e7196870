"""A statement that takes too long, on a PostgreSQL that responds to others."""

import pytest
from tests.support.databases import on_postgresql

from strongroom.foundation.database.hanging import HangingCircuit
from strongroom.foundation.database.postgresql import BoundedConnection, ServerHangs

OPENED = "The database hangs"


@on_postgresql
def test_a_slow_statement_does_not_refuse_others(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = database_url.replace("+psycopg", "")
    with BoundedConnection.connect(url, autocommit=True) as connection:
        connection.seconds, connection.circuit = 1.5, HangingCircuit(lambda: True)
        with pytest.raises(ServerHangs):
            connection.execute("SELECT pg_sleep(5)")
    assert OPENED not in caplog.text
