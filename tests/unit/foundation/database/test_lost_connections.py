"""Connections to PostgreSQL that are lost while a transaction begins."""

from typing import Any

import pytest

from strongroom.foundation.database import Database
from strongroom.foundation.database.postgresql import BoundedConnection, ServerHangs
from strongroom.foundation.errors import Unavailable


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_connection_that_hangs_while_its_transaction_begins_is_discarded_silently(
    database_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    database, execute = Database(database_url), BoundedConnection.execute

    def hang(connection: BoundedConnection, query: Any, *arguments: Any, **options: Any) -> Any:
        if "synchronous_commit" in str(query):
            connection.close()
            raise ServerHangs("no response")
        return execute(connection, query, *arguments, **options)

    with database.write(durable=False):
        pass
    monkeypatch.setattr(BoundedConnection, "execute", hang)
    with pytest.raises(Unavailable), database.write(durable=False):
        pytest.fail("the transaction has not begun")
    assert [record.message for record in caplog.records if record.exc_info] == []
    monkeypatch.undo()
    with database.write(durable=False):
        pass
    database.close()
