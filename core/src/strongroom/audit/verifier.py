"""Walks along the chain, and finds the first record that does not fit."""

import json
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, RowMapping, Text, cast, select, text

from strongroom.audit.chain import GENESIS, Link, chain_hash
from strongroom.audit.models import audit_events
from strongroom.audit.retention import PRUNE, THROUGH
from strongroom.database import Database

_ROWS_IN_MEMORY: Final = 1000

# As text, since what stands there now may be no JSON at all.
_DETAILS: Final = cast(audit_events.c.details, Text).label("details")
_RECORDS: Final = (
    select(*(column for column in audit_events.c if column.name != "details"), _DETAILS)
    .order_by(audit_events.c.sequence)
    .execution_options(yield_per=_ROWS_IN_MEMORY)
)
_NEWEST_REMOVAL: Final = (
    select(audit_events.c.sequence, _DETAILS)
    .where(audit_events.c.action == PRUNE)
    .order_by(audit_events.c.sequence.desc())
    .limit(1)
)


class ChainBroken(Exception):
    """The chain is not as it was written; ``sequence`` is the first place that does not fit."""

    def __init__(self, sequence: int, reason: str) -> None:
        super().__init__(f"record {sequence} {reason}")
        self.sequence = sequence


@dataclass(frozen=True, slots=True)
class Verified:
    """A chain that fits: how many records it has, and its last link."""

    records: int
    last: Link


class AuditVerifier:
    """Checks the chain as it is at one moment, in constant memory, while others go on writing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def verify(self, expected: Link | None = None) -> Verified:
        """Recompute every hash from the record and the hash before it.

        Args:
            expected: a link that was read earlier and kept elsewhere. Only with one does it show that
                the last records were removed, or a whole chain computed anew.

        Raises:
            ChainBroken: a record was changed, removed or inserted, or the expected link is not there.
        """
        with self._database.read() as connection:
            _stand_still(connection)
            last = beginning = _beginning(connection)
            _compare(last, expected)
            with connection.execute(_RECORDS) as records:
                for record in records.mappings():
                    last = _follow(last, record)
                    _compare(last, expected)
        _require_reached(beginning, last, expected)
        return Verified(last.sequence - beginning.sequence, last)


def _stand_still(connection: Connection) -> None:
    # On SQLite a transaction sees one state of the database anyway.
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))


def _beginning(connection: Connection) -> Link:
    removal = connection.execute(_NEWEST_REMOVAL).first()
    if removal is None:
        return GENESIS
    try:
        return Link.parse(json.loads(removal.details)[THROUGH])
    except (KeyError, TypeError, ValueError) as error:
        raise ChainBroken(removal.sequence, "was changed") from error


def _follow(previous: Link, record: RowMapping) -> Link:
    sequence, expected = record["sequence"], previous.sequence + 1
    if sequence > expected:
        raise ChainBroken(expected, "was removed")
    if sequence < expected:
        raise ChainBroken(sequence, "stands where retention has removed all")
    link = Link(sequence, record["hash"])
    if link.hash != _recomputed_hash(previous, record):
        raise ChainBroken(sequence, "was changed, or does not follow the one before")
    return link


def _recomputed_hash(previous: Link, record: RowMapping) -> str | None:
    content = {name: value for name, value in record.items() if name != "hash"}
    try:
        content["details"] = json.loads(content["details"])
        return chain_hash(previous.hash, content)
    except (TypeError, ValueError):
        return None


def _compare(link: Link, expected: Link | None) -> None:
    if expected and link.sequence == expected.sequence and link != expected:
        raise ChainBroken(link.sequence, "is not the one expected")


def _require_reached(beginning: Link, last: Link, expected: Link | None) -> None:
    if expected and expected.sequence < beginning.sequence:
        raise ChainBroken(expected.sequence, "was removed by retention; expect a newer one")
    if expected and expected.sequence > last.sequence:
        raise ChainBroken(last.sequence + 1, "was removed, and all that followed")
