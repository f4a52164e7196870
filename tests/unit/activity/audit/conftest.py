"""A chain of audit events on either database."""

from collections.abc import Callable

import pytest

from strongroom.activity.audit.sealing import seal
from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.foundation.database import Database
from strongroom.testing.clock import SECOND, ManualClock

Record = Callable[[int], None]


@pytest.fixture
def audit(clock: ManualClock) -> AuditService:
    return AuditService(clock)


@pytest.fixture
def record(database: Database, audit: AuditService, clock: ManualClock) -> Record:
    """Records this many events, a second apart, and gives them their places in the chain."""

    def record_events(count: int) -> None:
        for number in range(count):
            event = AuditEvent("test.happen", actor_id="someone", details={"number": str(number)})
            with database.write() as connection:
                audit.record(connection, event)
            clock.advance(SECOND)
        seal(database)

    return record_events
