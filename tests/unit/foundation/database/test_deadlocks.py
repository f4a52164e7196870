"""Two transactions that wait for each other: one is aborted, and the log names the deadlock."""

import logging
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import text
from tests.support.databases import on_postgresql

from strongroom.foundation.database import Database, failures
from strongroom.foundation.errors import Unavailable

pytestmark = pytest.mark.both_databases

_LOCK = text("SELECT pg_advisory_xact_lock(:number)")


@on_postgresql
def test_one_gives_way_and_may_try_again(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    both = Barrier(2, timeout=60)

    def take(first: int, second: int) -> bool:
        try:
            with database.write() as connection:
                connection.execute(_LOCK, {"number": first})
                both.wait()
                connection.execute(_LOCK, {"number": second})
        except Unavailable:
            return False
        return True

    with caplog.at_level(logging.ERROR), ThreadPoolExecutor(2) as pool:
        outcomes = sorted(pool.map(take, (1, 2), (2, 1)))
    assert outcomes == [False, True]
    (record,) = (record for record in caplog.records if record.name == failures.__name__)
    assert record.message == "Two transactions waited for each other"
