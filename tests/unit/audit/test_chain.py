"""The chain of audit events."""

from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import select

from strongroom.audit.chain import chain_hash
from strongroom.audit.models import audit_events
from strongroom.audit.service import AuditEvent, AuditService
from strongroom.database import Database
from strongroom.testing.clock import ManualClock

WRITERS = 8
EVENTS = 5


def test_each_record_carries_the_hash_of_the_one_before_even_under_a_rush(database_url: str) -> None:
    database = Database(database_url)
    audit = AuditService(ManualClock())

    def write(number: int) -> None:
        for event in range(EVENTS):
            with database.write() as connection:
                audit.record(connection, AuditEvent("test", details={"by": f"{number}.{event}"}))

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    with database.read() as connection:
        rows = (
            connection.execute(select(audit_events).order_by(audit_events.c.sequence)).mappings().all()
        )
    assert [row["sequence"] for row in rows] == list(range(1, WRITERS * EVENTS + 1))
    previous = "0" * 64
    for row in rows:
        content = dict(row)
        assert content.pop("hash") == chain_hash(previous, content)
        previous = row["hash"]
    database.close()


def test_a_record_goes_with_the_transaction_it_tells_of(database_url: str) -> None:
    database = Database(database_url)
    audit = AuditService(ManualClock())
    with database.write() as connection:
        audit.record(connection, AuditEvent("test"))
        connection.rollback()
    with database.read() as connection:
        assert connection.execute(select(audit_events)).all() == []
    database.close()
