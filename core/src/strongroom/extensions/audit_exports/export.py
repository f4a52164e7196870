"""Exports a part of the chain as JSON Lines, with a signed checkpoint, and verifies such a file.

The first line has the link before the first record, each further one a record with its hash. The last
line is a checkpoint: both links, the number of records and the time of the export, signed by the server.
The hashes have no key, so the signature is what proves that the server exported these records, all of
them and no others.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from sqlalchemy import Connection, bindparam, func, select

from strongroom.activity.audit.chain import Link
from strongroom.activity.audit.models import audit_events
from strongroom.activity.audit.sealing import seal
from strongroom.activity.audit.verifier import (
    RECORD_COLUMNS,
    RECORD_NAMES,
    ChainBroken,
    first_link,
    follow,
    to_record,
)
from strongroom.clock import Clock, iso_format
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement

PREVIOUS: Final = "previous"
"""The only member of the first line."""

CHECKPOINT: Final = "checkpoint"
"""The only member of the last line."""

_BATCH: Final = 1000

_SEQUENCE: Final = audit_events.c.sequence
_RANGE: Final = Statement(
    select(
        select(func.min(_SEQUENCE)).where(audit_events.c.at >= bindparam("since")).scalar_subquery(),
        select(func.max(_SEQUENCE)).where(audit_events.c.at < bindparam("until")).scalar_subquery(),
        select(func.max(_SEQUENCE)).scalar_subquery(),
    )
)
_BETWEEN: Final = Statement(
    select(*RECORD_COLUMNS)
    .where(bindparam("first") <= _SEQUENCE, bindparam("last") >= _SEQUENCE)
    .order_by(_SEQUENCE),
    to_record,
)
_HASH: Final = Statement(select(audit_events.c.hash).where(bindparam("wanted") == _SEQUENCE))

_FAR: Final = 2**62

Sign = Callable[[Mapping[str, Any]], str]
"""Signs a JSON object, and returns the text of the signature with its content."""

Check = Callable[[str], Mapping[str, Any]]
"""Returns the content of a signature; raises ``ValueError`` if it is not genuine."""


class ExportInvalid(ValueError):
    """A file is no complete export; the message is one line."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What the server confirms about an export.

    Args:
        issuer: the public URL of the server.
        created_at: the time of the export, in ISO 8601.
        previous: the link before the first record.
        last: the last link; that before, if there are no records.
    """

    issuer: str
    created_at: str
    previous: str
    last: str
    records: int

    @classmethod
    def parse(cls, content: Mapping[str, Any]) -> Self:
        """Parse the signed content.

        Raises:
            ExportInvalid: it is not a checkpoint's.
        """
        try:
            return cls(**content)
        except TypeError as error:
            raise ExportInvalid("the checkpoint has other members") from error


@dataclass(frozen=True, slots=True)
class ExportRange:
    """The records of an export: consecutive ones, from ``first`` to ``last``.

    If the clock was set back, records before ``first`` or after ``last`` may be within the times, and
    records between them outside.
    """

    first: int
    last: int

    @property
    def count(self) -> int:
        """The number of records, unless some are missing."""
        return max(0, self.last - self.first + 1)


@dataclass(slots=True, eq=False, repr=False)
class AuditExport:
    """Exports records, in constant memory and without blocking writers.

    Args:
        issuer: the public URL of the server.
        sign: signs checkpoints.
    """

    _database: Database
    _clock: Clock
    _issuer: str
    _sign: Sign

    def find(self, since: int | None, until: int | None) -> ExportRange:
        """Return the records from a time on and before another, in milliseconds since the epoch."""
        parameters = {"since": since if since is not None else -_FAR, "until": until or _FAR}
        seal(self._database)
        with self._database.read() as connection:
            ((first, last, newest),) = _RANGE.all(connection, parameters)
        return ExportRange(first or (newest or 0) + 1, last or 0)

    def lines(self, exported: ExportRange) -> Iterator[str]:
        """Yield the lines, and verify the chain on the way.

        Raises:
            ChainBroken: a record was changed, removed or inserted. There is no checkpoint then.
        """
        # A snapshot, because records are added while the export runs; the checkpoint must be of the
        # exported ones.
        with self._database.snapshot() as connection:
            previous = link = _link_before(connection, exported.first)
            yield _line({PREVIOUS: str(previous)})
            bounds = {"first": exported.first, "last": exported.last}
            for record in _BETWEEN.stream(connection, bounds, batch=_BATCH):
                link = follow(link, record)
                yield _line({**record, "details": json.loads(record["details"])})
        checkpoint = Checkpoint(
            self._issuer,
            iso_format(self._clock.now()),
            str(previous),
            str(link),
            link.sequence - previous.sequence,
        )
        yield _line({CHECKPOINT: self._sign(asdict(checkpoint))})


def verify_export(
    lines: Iterable[str], check: Check, progress: Callable[[int], None] = lambda _count: None
) -> Checkpoint:
    """Verify an exported file, in constant memory, and return its checkpoint.

    Args:
        check: checks the signature of the checkpoint.
        progress: called with 1 after each line.

    Raises:
        ChainBroken: a record was changed, removed or inserted.
        ExportInvalid: the checkpoint is missing, or is not of these records.
        ValueError: a line is no JSON, or the signature is not genuine.
    """
    rest = iter(lines)
    previous = link = Link.parse(str(_object(next(rest, "{}")).get(PREVIOUS)))
    signed: str | None = None
    for line in rest:
        if signed is not None:
            raise ExportInvalid("there are lines after the checkpoint")
        content = _object(line)
        if content.keys() == {CHECKPOINT}:
            signed = str(content[CHECKPOINT])
        else:
            link = follow(link, _record(content))
        progress(1)
    if signed is None:
        raise ExportInvalid("the checkpoint is missing, so records may be missing, too")
    checkpoint = Checkpoint.parse(check(signed))
    covered = (str(previous), str(link), link.sequence - previous.sequence)
    if covered != (checkpoint.previous, checkpoint.last, checkpoint.records):
        raise ExportInvalid("the checkpoint is of other records")
    return checkpoint


def _object(line: str) -> dict[str, Any]:
    content = json.loads(line)
    if not isinstance(content, dict):
        raise ExportInvalid("a line is not a JSON object")
    return content


def _record(content: dict[str, Any]) -> dict[str, Any]:
    # A further member could be one that the hash does not cover.
    if content.keys() != {*RECORD_NAMES} or type(content["sequence"]) is not int:
        raise ExportInvalid("a line is not an audit record")
    return {**content, "details": json.dumps(content["details"])}


def _line(content: Mapping[str, Any]) -> str:
    # ASCII, because a text may contain a lone surrogate, which has no UTF-8.
    return json.dumps(content, separators=(",", ":"))


def _link_before(connection: Connection, first: int) -> Link:
    beginning = first_link(connection)
    if first - 1 <= beginning.sequence:
        return beginning
    hashed = _HASH.scalar(connection, {"wanted": first - 1})
    if hashed is None:
        raise ChainBroken(first - 1, "was removed")
    return Link(first - 1, hashed)
