"""The chain of audit records: each contains the hash of the record before.

The hashes have no key. An attacker with write access to the database can recompute the whole chain or
remove its newest records. Both are detected only by comparison with a link that was stored elsewhere.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from sqlalchemy import ColumnElement, Connection, LargeBinary, bindparam, func, insert, select
from sqlalchemy.sql.base import Executable

from strongroom.activity.audit.models import UNCHAINED, audit_events
from strongroom.foundation.database.changes import AdvisoryLock, Change
from strongroom.foundation.database.commit_signal import mark_topic
from strongroom.foundation.database.statements import Statement
from strongroom.plugin_api.events import SERVER

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
    """Return the SHA-256 of the previous hash and of a record's chained columns, in hexadecimal."""
    head, tail = _content(row)
    content = b"".join((previous.encode(), head, str(row[_SEQUENCE]).encode(), tail))
    return hashlib.sha256(content).hexdigest()


def lock_chain(connection: Connection) -> None:
    """Lock the chain until the caller's transaction ends; all others that append records wait."""
    _LOCK.acquire(connection)
    # The chain is the outbox of the server's stream of events.
    mark_topic(connection, SERVER)


def append_rows(connection: Connection, rows: Iterable[Mapping[str, object]]) -> None:
    """Append records to the chain in their order. The caller has locked it.

    Args:
        rows: the columns of :data:`audit_events` without sequence and hash.
    """
    link = _NEWEST.first(connection) or GENESIS
    records: list[dict[str, object]] = []
    for row in rows:
        record = {**row, _SEQUENCE: link.sequence + 1}
        link = Link(link.sequence + 1, chain_hash(link.hash, record))
        records.append({**record, "hash": link.hash})
    if records:
        _INSERT.execute(connection, records)


def append_change(row: Mapping[str, object]) -> Change:
    """Return the change that appends a record, on SQLite: a writing transaction has locked the chain."""
    head, tail = _content(row)
    return Change(_APPEND, {**row, "head": head, "tail": tail})


def _content(row: Mapping[str, object]) -> tuple[bytes, bytes]:
    """Return the hashed JSON of a record, without its sequence number: the text before and after it."""
    before: dict[str, object] = {}
    after: dict[str, object] = {}
    for name, value in row.items():
        if name in UNCHAINED or name == _SEQUENCE:
            continue
        (before if name < _SEQUENCE else after)[name] = value
    return b'\n%s,"sequence":' % _spell(before)[:-1], b"," + _spell(after)[1:]


def _spell(columns: Mapping[str, object]) -> bytes:
    # Sorted keys and fixed separators: the verifier must get the same bytes from the stored row.
    text = json.dumps(columns, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    # JSON text may contain a lone surrogate, which strict UTF-8 cannot encode.
    return text.encode("utf-8", "surrogatepass")


def _append() -> Executable:
    """Return the INSERT of a record that SQLite itself links to the last one, in one statement."""
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
        "hash": func.sha256(last.c.hash, head, sequence, tail),
    }
    return insert(audit_events).from_select(list(values), select(*values.values()))


_APPEND: Final = Statement(_append())
_INSERT: Final = Statement(insert(audit_events))
_NEWEST: Final = Statement(
    select(audit_events.c.sequence, audit_events.c.hash)
    .order_by(audit_events.c.sequence.desc())
    .limit(1),
    Link,
)
