"""Appends events to the audit log, a chain of hashes.

The hashes have no key. An attacker with write access to the database can recompute the whole chain or
remove its newest records. Both are detected only by comparison with a link that was stored elsewhere.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from sqlalchemy import (
    ColumnElement,
    Connection,
    LargeBinary,
    Text,
    bindparam,
    cast,
    func,
    insert,
    select,
)
from sqlalchemy.sql.base import Executable

from strongroom.audit.models import FAILURE, SUCCESS, audit_events
from strongroom.clock import Clock
from strongroom.database.changes import AdvisoryLock, Change, execute_together
from strongroom.database.statements import Statement
from strongroom.identity import Origin

__all__ = ["FAILURE", "SUCCESS", "AuditEvent", "AuditService"]

_LOCK: Final = AdvisoryLock(0x41554454)
_SEQUENCE: Final = "sequence"
_LINK = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Link:
    """The sequence number of a record, counted from 1, and its hash; as text ``SEQUENCE:HASH``."""

    sequence: int
    hash: str

    def __str__(self) -> str:
        return f"{self.sequence}:{self.hash}"

    @classmethod
    def parse(cls, link: str) -> Self:
        """Parse ``SEQUENCE:HASH``.

        Raises:
            ValueError: the text has another format.
        """
        match = _LINK.fullmatch(link)
        if match is None:
            raise ValueError(f"{link!r} is not a sequence, a colon, and 64 hexadecimal digits")
        return cls(int(match[1]), match[2])


GENESIS: Final = Link(0, "0" * 64)
"""The link before the first record."""


def chain_hash(previous: str, row: Mapping[str, object]) -> str:
    """Return the SHA-256 of the previous hash and all columns of a record, in hexadecimal digits."""
    head, tail = _content(row)
    content = b"".join((previous.encode(), head, str(row[_SEQUENCE]).encode(), tail))
    return hashlib.sha256(content).hexdigest()


def lock_chain(connection: Connection) -> None:
    """Lock the chain until the caller's transaction ends; all other writers of events wait."""
    _LOCK.acquire(connection)


def _content(row: Mapping[str, object]) -> tuple[bytes, bytes]:
    """Return the hashed JSON of a record, without its sequence number: the text before and after it."""
    before = _spell({name: value for name, value in row.items() if name < _SEQUENCE})
    after = _spell({name: value for name, value in row.items() if name > _SEQUENCE})
    return b'\n%s,"sequence":' % before[:-1], b"," + after[1:]


def _spell(columns: Mapping[str, object]) -> bytes:
    # Sorted keys and fixed separators: the verifier must get the same bytes from the stored row.
    text = json.dumps(columns, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    # JSON text may contain a lone surrogate, which strict UTF-8 cannot encode.
    return text.encode("utf-8", "surrogatepass")


def _append(hash_of: Callable[..., ColumnElement[str]]) -> Executable:
    """Return the INSERT of a record that the database itself links to the last one.

    Reading the last link and inserting the next one are one statement, so that all other writers of
    events wait for one round trip and the commit only.
    """
    events = audit_events.c
    newest = select(events.hash).order_by(events.sequence.desc()).limit(1).scalar_subquery()
    last = select(
        func.coalesce(select(func.max(events.sequence)).scalar_subquery(), GENESIS.sequence).label("n"),
        func.coalesce(newest, GENESIS.hash).label("hash"),
    ).subquery("last")
    sequence = last.c.n + 1
    head, tail = bindparam("head", type_=LargeBinary()), bindparam("tail", type_=LargeBinary())
    values: dict[str, ColumnElement[Any]] = {
        **{column.name: bindparam(column.name, type_=column.type) for column in events},
        _SEQUENCE: sequence,
        "hash": hash_of(last.c.hash, head, sequence, tail),
    }
    return insert(audit_events).from_select(list(values), select(*values.values()))


def _hash_in_sqlite(*parts: ColumnElement[Any]) -> ColumnElement[str]:
    return func.sha256(*parts)


def _hash_in_postgresql(
    previous: ColumnElement[str],
    head: ColumnElement[bytes],
    sequence: ColumnElement[int],
    tail: ColumnElement[bytes],
) -> ColumnElement[str]:
    texts = (func.convert_to(previous, "UTF8"), func.convert_to(cast(sequence, Text), "UTF8"))
    content = texts[0].op("||")(head).op("||")(texts[1]).op("||")(tail)
    return func.encode(func.sha256(content), "hex")


_HASHES: Final[Mapping[str, Callable[..., ColumnElement[str]]]] = {
    "sqlite": _hash_in_sqlite,
    "postgresql": _hash_in_postgresql,
}
_APPEND: Final = Statement(lambda dialect: _append(_HASHES[dialect]))


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """An event to record. ``action`` is ``noun.verb``; ``details`` must not contain secrets."""

    action: str
    outcome: str = SUCCESS
    actor_id: str | None = None
    target_type: str | None = None
    target_id: str | None = None
    origin: Origin = field(default_factory=Origin)
    details: Mapping[str, str] = field(default_factory=dict)


class AuditService:
    """Writes the chain of audit events.

    Args:
        observe: called with each event as it is written; the transaction may still be rolled back.
    """

    def __init__(self, clock: Clock, observe: Callable[[AuditEvent], None] | None = None) -> None:
        self._clock = clock
        self._observe = observe

    def record(self, connection: Connection, event: AuditEvent) -> None:
        """Append an event to the chain, within the caller's writing transaction.

        This locks the chain until the commit, and all other writers of events wait. So call it last.
        """
        lock_chain(connection)
        execute_together(connection, [self.append_change(event)])

    def append_change(self, event: AuditEvent) -> Change:
        """Return the change that appends an event, for a caller that has locked the chain."""
        row = self._row(event)
        head, tail = _content(row)
        if self._observe is not None:
            self._observe(event)
        return Change(_APPEND, {**row, "head": head, "tail": tail})

    def _row(self, event: AuditEvent) -> dict[str, object]:
        return {
            "at": self._clock.now(),
            "action": event.action,
            "outcome": event.outcome,
            "actor_id": event.actor_id,
            "target_type": event.target_type,
            "target_id": event.target_id,
            "address": event.origin.address,
            "user_agent": event.origin.user_agent,
            "request_id": event.origin.request_id,
            "details": dict(event.details),
        }
