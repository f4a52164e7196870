"""Pages of the audit record, and the rows that the database reads for one."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import event, insert
from tests.support.statements import plan_of
from tests.unit.activity.audit.conftest import Record

from strongroom.activity.audit.models import audit_events
from strongroom.activity.audit.service import AuditFilter, AuditListing
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Paging
from strongroom.identity.users.service import UserService
from strongroom.testing.clock import SECOND, ManualClock

Statement = tuple[str, Any]

OTHERS = 5000


@pytest.fixture
def listing(database: Database, clock: ManualClock) -> AuditListing:
    return AuditListing(database, UserService(clock))


@pytest.fixture
def statements(database: Database) -> Iterator[list[Statement]]:
    """The statements sent to the database."""
    statements: list[Statement] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        statements.append((statement, parameters))

    event.listen(database.engine, "before_cursor_execute", note)
    yield statements
    event.remove(database.engine, "before_cursor_execute", note)


def add_others(database: Database, first: int, at: int) -> None:
    """Add as many records as make it worth while to look for an index, none before a time."""
    alike = {"action": "login", "outcome": "success", "details": {}, "hash": "0" * 64}
    rows = [{"sequence": first + n, "at": at + n * SECOND, **alike} for n in range(OTHERS)]
    with database.write() as connection:
        connection.execute(insert(audit_events), rows)
        connection.exec_driver_sql("ANALYZE audit_events")


def joined_plan(database: Database, statement: Statement) -> str:
    """Return how the database finds it."""
    with database.read() as connection:
        return "\n".join(plan_of(connection, *statement))


def test_a_page_of_a_time_is_read_off_one_index_in_its_order(
    listing: AuditListing,
    record: Record,
    database: Database,
    clock: ManualClock,
    statements: list[Statement],
) -> None:
    began = clock.now()
    record(20)
    add_others(database, 21, clock.now())
    wanted = AuditFilter(since=began + 5 * SECOND, until=began + 15 * SECOND)
    statements.clear()
    page, _ = listing.page(wanted, Paging(number=2, size=4))
    assert ([item.sequence for item in page.items], page.total) == ([11, 10, 9, 8], 10)
    count, sequences = [item for item in statements if " at >= " in item[0] or ".at >= " in item[0]]
    for statement in (count, sequences):
        assert "ix_audit_events_at_sequence" in joined_plan(database, statement)
    sorting = joined_plan(database, sequences)
    assert "Sort" not in sorting
    assert "TEMP B-TREE" not in sorting


def test_records_of_a_time_are_sorted_by_number_with_any_clock(
    listing: AuditListing, record: Record, clock: ManualClock
) -> None:
    began = clock.now()
    record(2)
    clock.advance(-10 * SECOND)
    record(1)
    everything, _ = listing.page(AuditFilter(), Paging(1, 10))
    of_the_time, _ = listing.page(AuditFilter(since=began - 60 * SECOND), Paging(1, 10))
    assert [item.sequence for item in everything.items] == [3, 2, 1]
    assert [item.sequence for item in of_the_time.items] == [2, 1, 3]
