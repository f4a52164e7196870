"""Checks of the audit chain."""

import pytest

from strongroom.activity.audit.service import Link
from strongroom.activity.audit.verifier import AuditVerifier, ChainBroken
from strongroom.foundation.database import Database


def first_misfit(database: Database, expected: Link | None = None) -> int:
    """Return the first sequence that does not fit."""
    with pytest.raises(ChainBroken) as broken:
        AuditVerifier(database).verify(expected)
    assert str(broken.value).startswith(f"record {broken.value.sequence} ")
    return broken.value.sequence
