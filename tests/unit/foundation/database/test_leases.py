"""Leases of rows: one owner at a time, until it ends the lease or another one claims the row."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, insert, update
from tests.support.databases import on_postgresql
from tests.support.http import at_once

from strongroom.foundation.database import Database
from strongroom.foundation.database.leases import RowLease
from strongroom.foundation.database.statements import Statement

pytestmark = pytest.mark.both_databases

TERM: Final = 1_000
NOW: Final = 5_000
OWNERS: Final = 8
ERRANDS: Final = Table(
    "errands",
    MetaData(),
    Column("name", String(16), primary_key=True),
    Column("owner_id", String(16)),
    Column("ends_at", Integer, nullable=False),
)
ROW: Final = RowLease(
    ERRANDS.c.name, owner=ERRANDS.c.owner_id, until=ERRANDS.c.ends_at, milliseconds=TERM
)
CLAIM: Final = Statement(ROW.claim())
RENEW: Final = Statement(ROW.renew())
END: Final = Statement(ROW.end())
CLAIMABLE: Final = Statement(ROW.claimable(ERRANDS.c.name).where(ROW.is_free).order_by(ERRANDS.c.name))


@pytest.fixture(autouse=True)
def table(database: Database) -> Iterator[None]:
    with database.write() as connection:
        ERRANDS.create(connection)
        connection.execute(insert(ERRANDS), [{"name": name, "ends_at": 0} for name in ("shop", "walk")])
    yield
    with database.write() as connection:
        ERRANDS.drop(connection)


def is_done(
    database: Database, statement: Statement[object], owner: str, at: int = NOW, name: str = "walk"
) -> bool:
    """Return whether a statement changed the row."""
    with database.write() as connection:
        changes = statement.execute(connection, {"of_name": name, "owner": owner, **ROW.term(at)})
    return changes == 1


def test_of_several_processes_one_claims_a_row(database: Database) -> None:
    claims = [partial(is_done, database, CLAIM, f"node {number}") for number in range(OWNERS)]
    assert Counter(at_once(claims)) == {True: 1, False: OWNERS - 1}


def test_a_lease_blocks_others_until_its_last_millisecond(database: Database) -> None:
    assert is_done(database, CLAIM, "a")
    assert is_done(database, RENEW, "a", NOW + 500)
    assert not is_done(database, CLAIM, "b", NOW + 500 + TERM - 1)
    assert is_done(database, CLAIM, "b", NOW + 500 + TERM)


def test_an_owner_renews_a_lease_that_is_over_and_not_one_that_was_claimed(database: Database) -> None:
    assert is_done(database, CLAIM, "a")
    assert is_done(database, RENEW, "a", NOW + 2 * TERM)
    assert is_done(database, CLAIM, "b", NOW + 3 * TERM)
    assert not is_done(database, RENEW, "a", NOW + 3 * TERM)
    assert not is_done(database, END, "a", NOW + 3 * TERM)
    assert not is_done(database, CLAIM, "c", NOW + 3 * TERM)


def test_a_lease_that_was_ended_is_free_and_cannot_be_renewed(database: Database) -> None:
    assert is_done(database, CLAIM, "a")
    assert is_done(database, END, "a")
    assert not is_done(database, RENEW, "a")
    assert is_done(database, CLAIM, "b")


def test_a_row_without_an_owner_is_free_whatever_its_end_is(database: Database) -> None:
    with database.write() as connection:
        connection.execute(update(ERRANDS).values(ends_at=NOW + TERM))
    assert is_done(database, CLAIM, "a")


@on_postgresql
def test_a_row_that_another_process_claims_is_skipped(database: Database) -> None:
    def names() -> list[str]:
        with database.write() as connection:
            return CLAIMABLE.scalars(connection, {"now": NOW})

    with ThreadPoolExecutor(1) as other, database.write() as connection:
        assert CLAIMABLE.scalars(connection, {"now": NOW}) == ["shop", "walk"]
        assert other.submit(names).result() == []
    assert names() == ["shop", "walk"]
