"""Compares rows with objects in ranges of keys, so that a check that was stopped or killed continues."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, select

from strongroom.content.storage.models import BLOB_ROW, BlobRow, blobs
from strongroom.extensions.storage_maintenance.fsck import (
    Finding,
    FindingKind,
    Listing,
    Progress,
    StorageCheck,
    examining,
)
from strongroom.foundation.database import Database
from strongroom.foundation.database.key_ranges import KeyRange, RangeBatch
from strongroom.foundation.database.range_work import Keep, RangePages, count_rows, split_keys

_BATCH: Final = 500
_BYTES: Final = 256 << 20
"""Bytes of a batch whose checksums are compared: what is read again after a kill."""

_SMALLEST: Final = 5000
_STATE: Final = 256 << 10
_NEXT: Final = RangePages(blobs.c.key, select(blobs), _BATCH, BLOB_ROW)


@dataclass(slots=True, eq=False, repr=False)
class StorageCheckTask:
    """A check of all storages, by :class:`StorageCheck`.

    Args:
        listing: the objects, from before the first row is read.
        checksums: also read all objects, and compare their SHA-256.
        repair: remove what nothing can refer to.
        findings: the result, after :meth:`finish`.
        unlisted: the number of further findings, of processes that have ended before.
    """

    _database: Database
    _check: StorageCheck
    _listing: Listing
    _pool: ThreadPoolExecutor
    _checksums: bool
    _repair: bool
    findings: list[Finding] = field(default_factory=list)
    unlisted: int = 0
    _own: dict[int, list[Finding]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the task: each kind of check has runs of its own."""
        options = ("-checksums" if self._checksums else "") + ("-repair" if self._repair else "")
        return f"storage.fsck{options}"

    def count(self, connection: Connection) -> int:
        """Return the approximate number of rows."""
        return count_rows(connection, blobs.c.key)

    def split(self, connection: Connection) -> Sequence[str]:
        """Return the keys that separate the ranges."""
        return split_keys(connection, blobs.c.key, _SMALLEST)

    def read(self, key_range: KeyRange, keep: Keep) -> RangeBatch:
        """Check the next rows of a range.

        Raises:
            StorageUnavailable: a store does not respond.
        """
        with self._database.read() as connection:
            page = _NEXT.all(connection, key_range)
        rows = self._bounded(page)
        findings = list(
            self._check.check_rows(
                rows,
                self._listing,
                self._pool,
                checksums=self._checksums,
                repair=self._repair,
                keep=keep,
            )
        )

        def apply(_: Connection) -> int:
            self._own.setdefault(key_range.number, []).extend(findings)
            return len(findings)

        return RangeBatch(
            rows[-1].key if rows else None,
            len(rows),
            len(rows) == len(page) < _BATCH,
            apply,
            _dump([*_parse(key_range.state), *findings]),
        )

    def finish(self, ranges: Sequence[KeyRange]) -> None:
        """Collect the findings of all ranges, and look for objects without a row.

        Raises:
            StorageUnavailable: a store does not respond.
        """
        self.findings, self.unlisted = list(self._check.rows_of_no_storage()), 0
        for key_range in ranges:
            # Own findings are stored, too, as far as there was room.
            once = dict.fromkeys([*_parse(key_range.state), *self._own.get(key_range.number, ())])
            self.unlisted += max(key_range.hits - len(once), 0)
            self.findings += once
        self.findings += self._check.unknown(self._listing, repair=self._repair)

    def _bounded(self, page: Sequence[BlobRow]) -> Sequence[BlobRow]:
        if not self._checksums:
            return page
        total = 0
        for count, row in enumerate(page, 1):
            total += row.size or 0
            if total >= _BYTES:
                return page[:count]
        return page


@contextmanager
def checking(
    database: Database,
    check: StorageCheck,
    *,
    checksums: bool,
    repair: bool,
    jobs: int,
    progress: Progress,
) -> Iterator[StorageCheckTask]:
    """List all storages, and yield the task that checks them.

    Args:
        jobs: the number of objects that are examined at the same time.
        progress: called with the number of objects listed since its last call.

    Raises:
        StorageUnavailable: a store does not respond.
    """
    with check.listed(progress) as listing, examining(jobs) as pool:
        yield StorageCheckTask(database, check, listing, pool, checksums, repair)


def _dump(findings: Sequence[Finding]) -> str:
    """Return findings as JSON, at most :data:`_STATE` characters, because each batch writes it."""
    rows: list[dict[str, Any]] = []
    length = 0
    for finding in findings:
        row = asdict(finding)
        length += len(json.dumps(row)) + 2
        if length > _STATE:
            break
        rows.append(row)
    return json.dumps(rows) if rows else ""


def _parse(state: str) -> list[Finding]:
    if not state:
        return []
    return [
        Finding(**{**row, "kind": FindingKind(row["kind"]), "referrers": tuple(row["referrers"])})
        for row in json.loads(state)
    ]
