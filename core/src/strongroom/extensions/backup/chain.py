"""An archive with the archives that it continues: incremental ones, down to a complete one."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import IO, Any

from strongroom.content.storage.models import BlobState, blobs
from strongroom.extensions.backup.archive import (
    BLOBS,
    ROWS,
    SEGMENTS,
    ArchiveReader,
    BackupError,
    BaseArchive,
    Manifest,
)
from strongroom.extensions.backup.rows import Segment, parse_segments

Row = dict[str, Any]


class ArchiveChain:
    """Reads the state that an archive describes, from the archive and from those that it continues.

    Args:
        archives: the archive, its base, the base of that one and so on.
    """

    def __init__(self, archives: Sequence[ArchiveReader]) -> None:
        self._archives = archives
        self.head = archives[0]

    @classmethod
    def open(cls, path: Path, bases: Sequence[Path] = ()) -> "ArchiveChain":
        """Open an archive and find its bases: among the given files, or next to the archive.

        Raises:
            BackupError: a base is missing, or is another archive.
        """
        archives = [ArchiveReader(path)]
        while (base := archives[-1].manifest.base) is not None:
            archives.append(_find_base(archives[-1], base, bases))
        return cls(archives)

    @property
    def manifest(self) -> Manifest:
        """The manifest of the newest archive."""
        return self.head.manifest

    def rows(self, table: str) -> Iterator[bytes]:
        """Yield the column names, then the rows of a table, each a line of JSON.

        Raises:
            BackupError: an archive is damaged, or has other columns.
        """
        yield self._columns(table)
        yield from self.lines(table, self.segments(table))

    def records(self, table: str, segments: Sequence[Segment] | None = None) -> Iterator[Row]:
        """Yield the rows of a table as dictionaries.

        Args:
            segments: those to read; all by default.
        """
        names = json.loads(self._columns(table))
        for line in self.lines(table, self.segments(table) if segments is None else segments):
            yield dict(zip(names, json.loads(line), strict=True))

    def segments(self, table: str) -> list[Segment]:
        """Return the list of a table's segments."""
        return parse_segments(self.head.read(f"{SEGMENTS}/{table}.jsonl").splitlines())

    def lines(self, table: str, segments: Sequence[Segment]) -> Iterator[bytes]:
        """Yield the lines of segments, each from the archive that has it."""
        with ExitStack() as resources:
            open_once = cache(lambda path: resources.enter_context(path.open("rb")))
            places = self._places(table)
            for segment in segments:
                if segment.digest not in places:
                    raise BackupError(f"{self.head.path} and its bases lack rows of {table}")
                archive, offset = places[segment.digest]
                file = open_once(archive.path)
                file.seek(offset)
                content = file.read(segment.size)
                # The archive may have changed since it was verified.
                if hashlib.sha256(content).hexdigest() != segment.digest:
                    raise BackupError(f"{archive.path} is damaged: rows of {table} were changed")
                # Not splitlines(): it also divides at other characters.
                yield from content.split(b"\n")[:-1]

    def _columns(self, table: str) -> bytes:
        columns = {
            archive.first_line(f"{ROWS}/{table}.jsonl")
            for archive in self._archives
            if table in archive.manifest.tables
        }
        if len(columns) != 1:
            raise BackupError(f"{self.head.path} and its bases differ in the columns of {table}")
        return columns.pop()

    def _places(self, table: str) -> dict[str, tuple[ArchiveReader, int]]:
        """Return the archive and the offset of each segment by its digest."""
        places = {}
        for archive in self._archives:
            if table not in archive.manifest.tables:
                continue
            rows = f"{ROWS}/{table}.jsonl"
            offset = archive.locate(rows)[0] + len(archive.first_line(rows))
            for segment in parse_segments(archive.read(f"{SEGMENTS}/{table}.jsonl").splitlines()):
                if segment.is_included:
                    places[segment.digest] = (archive, offset)
                    offset += segment.size
        return places

    def stored(self, segments: Sequence[Segment] | None = None) -> Iterator[Row]:
        """Yield the rows of stored blobs."""
        for row in self.records(blobs.name, segments):
            if row["state"] == BlobState.STORED.value:
                yield row

    def verify(self) -> "BlobIndex":
        """Verify all archives, and return the blobs of the newest state, all of which they have.

        Raises:
            BackupError: an archive is damaged, or content is missing.
        """
        index = BlobIndex()
        try:
            for row in self.stored():
                if self.manifest.storages[row["storage"]].included:
                    index.add(member_name(row["storage"], row["object_key"]), row["checksum"])
            for archive in self._archives:
                archive.verify(index.mark)
            self._require_complete(index)
        except BaseException:
            index.close()
            raise
        return index

    def _require_complete(self, index: "BlobIndex") -> None:
        # Blobs that were missing already when the backup was made are no damage of the archive.
        lost = [name for name in index.unmarked() if name not in self.manifest.faults]
        if lost:
            raise BackupError(
                f"{self.head.path} and its bases lack {len(lost)} blobs, such as {lost[0]}"
            )
        for table, count in self.manifest.tables.items():
            if (listed := sum(segment.rows for segment in self.segments(table))) != count:
                raise BackupError(f"the archive lists {listed} rows of {table}, expected {count}")
            places = self._places(table)
            if any(segment.digest not in places for segment in self.segments(table)):
                raise BackupError(f"{self.head.path} and its bases lack rows of {table}")

    def blobs(self, index: "BlobIndex") -> Iterator[tuple[str, str, IO[bytes], int]]:
        """Yield the storage name, object key, content and size in bytes of each blob of the index.

        The index is empty afterwards, except for blobs that no archive has.
        """
        for archive in self._archives:
            for name, file, size in archive.blobs():
                # The newest archive that has the blob, because an older one may have it damaged.
                if index.take(name):
                    _, storage, key = name.split("/", 2)
                    yield storage, key, file, size


class BlobIndex:
    """The member names of blobs, in a temporary file, because there may be millions."""

    def __init__(self) -> None:
        # An empty name makes SQLite create a private temporary database on disk.
        self._rows = sqlite3.connect("", isolation_level=None)
        self._rows.execute("PRAGMA synchronous = OFF")
        self._rows.execute("BEGIN")
        self._rows.execute(
            "CREATE TABLE blobs (name TEXT PRIMARY KEY, checksum TEXT, marked INTEGER) WITHOUT ROWID"
        )

    def add(self, name: str, checksum: str) -> None:
        """Add a blob."""
        self._rows.execute("INSERT OR REPLACE INTO blobs VALUES (?, ?, 0)", (name, checksum))

    def mark(self, name: str, checksum: str) -> None:
        """Mark a blob as found, if it is in the index with this checksum."""
        self._rows.execute(
            "UPDATE blobs SET marked = 1 WHERE name = ? AND checksum = ?", (name, checksum)
        )

    def unmarked(self) -> Iterator[str]:
        """Yield the names of blobs that were not found."""
        for (name,) in self._rows.execute("SELECT name FROM blobs WHERE marked = 0"):
            yield name

    def take(self, name: str) -> bool:
        """Remove a blob, and return whether the index had it."""
        return self._rows.execute("DELETE FROM blobs WHERE name = ?", (name,)).rowcount == 1

    def close(self) -> None:
        """Delete the temporary file."""
        self._rows.close()


def member_name(storage: str, object_key: str) -> str:
    """Return the name of a blob's member."""
    return f"{BLOBS}/{storage}/{object_key}"


def _find_base(archive: ArchiveReader, base: BaseArchive, bases: Sequence[Path]) -> ArchiveReader:
    candidates = [path for path in (*bases, archive.path.parent / base.name) if path.exists()]
    for path in candidates:
        reader = ArchiveReader(path)
        if reader.digest == base.digest:
            return reader
    described = f"{archive.path} continues {base.name} of {base.created_at}"
    if candidates:
        names = ", ".join(map(str, candidates))
        raise BackupError(f"{described}, which is another archive than {names}")
    raise BackupError(f"{described}, which is missing: put it next to the archive, or name it by --base")
