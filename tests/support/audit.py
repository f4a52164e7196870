"""Reads and checks the audit chain."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection

from strongroom.activity.audit.chain import Link
from strongroom.activity.audit.sealing import seal
from strongroom.activity.audit.verifier import AuditVerifier, ChainBroken
from strongroom.foundation.database import Database


@contextmanager
def reading_sealed(database: Database) -> Iterator[Connection]:
    """Open a reading transaction that finds all audit events in the chain, as the server's do."""
    seal(database)
    with database.read() as connection:
        yield connection


def first_misfit(database: Database, expected: Link | None = None) -> int:
    """Return the first sequence that does not fit."""
    with pytest.raises(ChainBroken) as broken:
        AuditVerifier(database).verify(expected)
    assert str(broken.value).startswith(f"record {broken.value.sequence} ")
    return broken.value.sequence
