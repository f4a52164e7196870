"""A failover behind poolers, which report the role that their server had at their first connection."""

from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest
from sqlalchemy import URL, func, make_url, select
from tests.support.poolers import Pooler, needs_pgbouncer
from tests.support.replicas import Pair
from tests.support.waiting import wait_until

from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import Unavailable

pytestmark = needs_pgbouncer

IS_STANDBY = Statement(select(func.pg_is_in_recovery()))


@pytest.fixture
def pair() -> Iterator[Pair]:
    with Pair.serving() as pair:
        yield pair


def is_of_standby(database: Database) -> bool:
    with database.write() as connection:
        return bool(IS_STANDBY.scalar(connection))


def is_served(database: Database) -> bool:
    try:
        return not is_of_standby(database)
    except Unavailable:
        return False


def both(first: Pooler, second: Pooler, database: str) -> str:
    query = {"host": "127.0.0.1,127.0.0.1", "port": f"{first.port},{second.port}"}
    return URL.create(
        "postgresql+psycopg", "postgres", database=database, query=query
    ).render_as_string()


@pytest.mark.parametrize("is_new_process", [False, True], ids=["same-process", "new-process"])
def test_the_promoted_standby_behind_a_pooler_is_found(pair: Pair, is_new_process: bool) -> None:
    primary_url = pair.create("pooled")
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(Pooler.serving(url, "transaction"))
            for url in (primary_url, pair.standby_url(primary_url))
        )
        for pooler in (first, second):
            # The pooler remembers the role of its server.
            direct = make_url(pooler.url(primary_url)).set(drivername="postgresql")
            with psycopg.connect(direct.render_as_string()) as connection:
                connection.execute("SELECT 1")
        url = both(second, first, "pooled")
        database = Database(url, timeout_seconds=10)
        stack.callback(database.close)
        assert is_served(database)
        pair.stop_primary()
        pair.promote()
        if is_new_process:
            database = Database(url, timeout_seconds=10)
            stack.callback(database.close)
        wait_until(lambda: is_served(database))
