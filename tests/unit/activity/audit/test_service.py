"""The chain of audit events."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from strongroom.activity.audit.chain import GENESIS, Link, chain_hash
from strongroom.activity.audit.models import audit_events
from strongroom.activity.audit.sealing import seal
from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.activity.audit.verifier import AuditVerifier
from strongroom.foundation.database import Database

pytestmark = pytest.mark.both_databases

WRITERS = 8
EVENTS = 5


def test_each_record_carries_the_hash_of_the_one_before_even_under_a_rush(
    database: Database, audit: AuditService
) -> None:
    def write(number: int) -> None:
        for event in range(EVENTS):
            with database.write() as connection:
                audit.record(connection, AuditEvent("test", details={"by": f"{number}.{event}"}))

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    seal(database)
    with database.read() as connection:
        rows = (
            connection.execute(select(audit_events).order_by(audit_events.c.sequence)).mappings().all()
        )
    assert [row["sequence"] for row in rows] == list(range(1, WRITERS * EVENTS + 1))
    previous = GENESIS.hash
    for row in rows:
        content = dict(row)
        assert content.pop("hash") == chain_hash(previous, content)
        previous = row["hash"]


def test_a_record_is_part_of_the_transaction_that_it_describes(
    database: Database, audit: AuditService
) -> None:
    with database.write() as connection:
        audit.record(connection, AuditEvent("test"))
        connection.rollback()
    seal(database)
    with database.read() as connection:
        assert connection.execute(select(audit_events)).all() == []


@pytest.mark.parametrize(
    "text",
    ["", " padded ", "é and e\u0301", "用户改名", "👩‍👩‍👧", "שלום", "\u2028\ufeff\uffff", "\0\x1f\x7f",
     '"\\/\b', "half a pair: \ud83d", "\U0010ffff", "x" * 100_000],
)  # fmt: skip
def test_details_of_any_text_are_read_back_with_the_hash_they_were_written_with(
    database: Database, audit: AuditService, text: str
) -> None:
    with database.write() as connection:
        audit.record(connection, AuditEvent("test", details={"text": text, f"key {text}": ""}))
    seal(database)
    with database.read() as connection:
        assert connection.execute(select(audit_events.c.details)).scalar_one()["text"] == text
    assert AuditVerifier(database).verify().records == 1


def test_a_link_is_read_back_from_its_text() -> None:
    link = Link(12, "0123456789abcdef" * 4)
    assert Link.parse(str(link)) == link


@pytest.mark.parametrize(
    "text", ["", "12", "12:", f"x:{'0' * 64}", f"1:{'0' * 63}", f"1:{'G' * 64}", f"-1:{'0' * 64}"]
)
def test_an_invalid_link_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a sequence, a colon"):
        Link.parse(text)
