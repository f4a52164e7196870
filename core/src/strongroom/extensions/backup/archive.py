"""The archive format: an uncompressed tar file of rows and objects, with a manifest of checksums.

Members: ``secret.key``, ``signing-keys.json``, ``rows/TABLE.jsonl``, ``blobs/STORAGE/KEY``,
``manifest.json``. Any tar tool can read it.

So a backup of SQLite can be restored to PostgreSQL, and vice versa. The first line contains the column
names, each further line one row.
"""

import hashlib
import io
import json
import os
import secrets
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from sqlalchemy import Connection, Table, bindparam, insert, inspect, select, update

from strongroom.foundation.database import metadata
from strongroom.foundation.database.metadata import is_derived
from strongroom.foundation.database.plugin_tables import (
    AllTables,
    left_tables,
    sorted_tables,
    version_table,
)
from strongroom.foundation.database.statements import dynamic
from strongroom.foundation.database.upgrade import SCHEMA_REVISION
from strongroom.version import __version__


class BackupError(Exception):
    """The archive cannot be created or restored; the message is one line with the remedy."""


FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
SECRET: Final = "secret.key"  # noqa: S105  a name
KEYS: Final = "signing-keys.json"
ROWS: Final = "rows"
BLOBS: Final = "blobs"

_CHUNK: Final = 1024 * 1024
_CHECKSUM: Final = "STRONGROOM.sha256"


@dataclass(slots=True)
class StorageSummary:
    """A storage in the manifest. ``included``: the archive has its objects (local storages only)."""

    backend: str
    included: bool
    blobs: int = 0
    bytes: int = 0


@dataclass(slots=True)
class Manifest:
    """The content of an archive.

    Args:
        format: the version of the archive format.
        version: the version of the server that created the archive.
        schema: the revision of the database's schema.
        created_at: the time of creation, in ISO 8601.
        members: the SHA-256 of each member except blobs and manifest, by name.
        tables: the number of rows by table name.
        blobs_digest: the SHA-256 of the names and checksums of all blobs, in archive order.
        faults: ``missing`` or ``damaged`` for each blob that was so when the archive was created.
        plugins: the revision of the tables of each enabled plugin that has any, by its name.
        left_out: the tables of plugins that were not enabled, which the archive does not contain.
    """

    format: int
    version: str
    schema: str
    created_at: str
    members: dict[str, str] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    storages: dict[str, StorageSummary] = field(default_factory=dict)
    blobs_digest: str = ""
    faults: dict[str, str] = field(default_factory=dict)
    plugins: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def schema_fault(self) -> str | None:
        """Return why this server cannot restore the tables, with the remedy, or ``None``."""
        if self.schema == SCHEMA_REVISION:
            return None
        # Builds between two releases have the same version.
        build = "the build that created it, of" if self.version == __version__ else "the version"
        return (
            f"the archive's schema is {self.schema}, not {SCHEMA_REVISION}: restore it with {build} "
            f"strongroom {self.version}, then run: strongroom db upgrade"
        )

    @classmethod
    def parse(cls, content: bytes) -> "Manifest":
        """Parse a manifest.

        Raises:
            BackupError: the archive has another format.
        """
        members = json.loads(content)
        if members.get("format") != FORMAT:
            raise BackupError(f"unsupported archive format {members.get('format')}, expected {FORMAT}")
        storages = {name: StorageSummary(**item) for name, item in members.pop("storages").items()}
        return cls(**members, storages=storages)


class ArchiveWriter:
    """Writes an archive."""

    def __init__(self, tar: tarfile.TarFile, manifest: Manifest) -> None:
        self._tar = tar
        self._blobs = hashlib.sha256()
        self.manifest = manifest

    def add(self, name: str, file: IO[bytes]) -> None:
        """Add a member from a file that is positioned at its end."""
        size = file.tell()
        file.seek(0)
        source = HashedFile(file)
        self._add(tarfile.TarInfo(name), source, size)
        self.manifest.members[name] = source.checksum

    def add_blob(self, name: str, source: "HashedFile", size: int, checksum: str) -> None:
        """Add a blob with its expected checksum; the caller compares it with ``source``'s."""
        member = tarfile.TarInfo(name)
        member.pax_headers = {_CHECKSUM: checksum}
        self._add(member, source, size)
        # The manifest has one digest over all blobs, because listing millions would make it too large.
        self._blobs.update(f"{name}:{checksum}\n".encode())

    def finish(self) -> None:
        """Add the manifest."""
        self.manifest.blobs_digest = self._blobs.hexdigest()
        content = json.dumps(asdict(self.manifest), indent=2, ensure_ascii=False).encode()
        self._add(tarfile.TarInfo(MANIFEST), io.BytesIO(content), len(content))

    def _add(self, member: tarfile.TarInfo, source: Any, size: int) -> None:
        member.size, member.mode = size, 0o600
        self._tar.addfile(member, source)
        # TarFile remembers every member, and there may be millions.
        self._tar.members = []  # type: ignore[attr-defined]  # documented for reading


class HashedFile:
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._digest = hashlib.sha256()

    def read(self, size: int = _CHUNK, /) -> bytes:
        """Return the next piece."""
        piece: bytes = self._file.read(size)
        self._digest.update(piece)
        return piece

    @property
    def checksum(self) -> str:
        """The SHA-256 of the bytes read so far, in hexadecimal digits."""
        return self._digest.hexdigest()


@contextmanager
def writing(path: Path, manifest: Manifest) -> Iterator[ArchiveWriter]:
    """Write an archive with mode 0600 that appears at ``path`` only when it is complete.

    Raises:
        BackupError: ``path`` exists.
    """
    if path.exists():
        raise BackupError(f"{path} exists already; name another file")
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
                writer = ArchiveWriter(tar, manifest)
                yield writer
                writer.finish()
            file.flush()
            os.fsync(file.fileno())
        # A link and not a rename, because it fails if another process has created the path.
        os.link(temporary, path)
    finally:
        temporary.unlink()


class ArchiveReader:
    """Reads an archive: verifies it completely when opened, then reads single members.

    Raises:
        BackupError: the archive is damaged, incomplete or of another format.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.manifest = self._verify()

    def read(self, name: str) -> bytes:
        """Return the content of a small member.

        Raises:
            BackupError: the archive has no such member.
        """
        with self.lines(name) as file:
            return file.read()

    @contextmanager
    def lines(self, name: str) -> Iterator[IO[bytes]]:
        """Open a member that is not a blob.

        Raises:
            BackupError: the archive has no such member.
        """
        with self._opened() as tar:
            for member in _members(tar):
                if member.name == name:
                    file = tar.extractfile(member)
                    if file is not None:
                        yield file
                        return
        raise BackupError(f"{self._path} has no member {name}")

    def blobs(self) -> Iterator[tuple[str, str, IO[bytes], int]]:
        """Yield the storage name, object key, content and size in bytes of each blob."""
        with self._opened() as tar:
            for member in _members(tar):
                kind, _, rest = member.name.partition("/")
                file = tar.extractfile(member)
                if kind == BLOBS and file is not None:
                    storage, _, key = rest.partition("/")
                    yield storage, key, file, member.size

    def _verify(self) -> Manifest:
        checksums: dict[str, str] = {}
        digest, manifest = hashlib.sha256(), None
        try:
            with self._opened() as tar:
                for member in _members(tar):
                    file = tar.extractfile(member)
                    if member.name == MANIFEST and file is not None:
                        manifest = Manifest.parse(file.read())
                        continue
                    checksum = _checksum(file)
                    expected = member.pax_headers.get(_CHECKSUM)
                    if expected is None:
                        checksums[member.name] = checksum
                        continue
                    digest.update(f"{member.name}:{expected}\n".encode())
                    # Record damaged blobs only; the digest covers the names and checksums of all.
                    if checksum != expected:
                        checksums[member.name] = "damaged"
        except (OSError, tarfile.TarError, ValueError) as error:
            raise BackupError(f"{self._path} is not an archive, or is damaged: {error}") from error
        self._compare(manifest, checksums, digest.hexdigest())
        assert manifest is not None  # noqa: S101  as just compared
        return manifest

    def _compare(self, manifest: Manifest | None, checksums: dict[str, str], digest: str) -> None:
        if manifest is None:
            raise BackupError(f"{self._path} is truncated: it has no manifest")
        # Blobs that were damaged already when the backup was made are no damage of the archive.
        for name, fault in manifest.faults.items():
            if fault == "damaged":
                checksums.pop(name, None)
        if checksums != manifest.members or digest != manifest.blobs_digest:
            raise BackupError(f"{self._path} is damaged: its content does not match its manifest")

    @contextmanager
    def _opened(self) -> Iterator[tarfile.TarFile]:
        # "r:" refuses compressed files; errorlevel 2 turns all read errors into exceptions.
        with tarfile.open(self._path, "r:", errorlevel=2) as tar:
            yield tar


def _members(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    while (member := tar.next()) is not None:
        tar.members = []  # type: ignore[attr-defined]  # documented way to save memory
        yield member


def _checksum(file: IO[bytes] | None) -> str:
    hashed = HashedFile(file or io.BytesIO())
    while hashed.read(_CHUNK):
        pass
    return hashed.checksum


EPHEMERAL: Final = frozenset(
    {
        "captchas",
        "verification_codes",
        "browser_states",
        "setup_links",
        "rate_events",
        "blob_holds",
        "jobs",
        "plugin_leases",
        "idempotency_keys",
    }
)
"""Tables with short-lived rows. Restoring them would revive codes that were used after the backup."""

OF_THE_DATABASE: Final = frozenset({"installation"})
"""Tables about the database itself and not its content, because a restored database is a new one."""

_BATCH: Final = 500
_MIGRATIONS: Final = "alembic_version"

Row = list[Any]


def kept_tables(connection: Connection, plugins: AllTables) -> list[Table]:
    """Return the tables to back up, each after the tables that it refers to.

    The models of all features must have been imported.

    Args:
        plugins: the tables of the plugins whose rows are kept.

    Raises:
        BackupError: the database has a table that no model defines.
    """
    own = [table for table in metadata.sorted_tables if table.name not in EPHEMERAL | OF_THE_DATABASE]
    kept = [*own, *sorted_tables(plugins)]
    existing = {name for name in inspect(connection).get_table_names() if not is_derived(name)}
    existing -= {_MIGRATIONS}
    known = {*metadata.tables, *(table.name for table in kept), *map(version_table, plugins)}
    if unknown := sorted(existing - known - set(tables_left_out(connection, plugins))):
        raise BackupError(f"the database has unknown tables: {', '.join(unknown)}")
    return kept


def tables_left_out(connection: Connection, plugins: AllTables) -> list[str]:
    """Return the tables of plugins that are not enabled, so that no model defines them."""
    existing = set(inspect(connection).get_table_names()) - {_MIGRATIONS}
    return [name for names in left_tables(existing, plugins).values() for name in names]


def dump_rows(connection: Connection, table: Table, file: IO[bytes]) -> int:
    """Write all rows of a table to a file, and return how many there are."""
    count = 0
    _write(file, [column.name for column in table.columns])
    query = select(table).order_by(*table.primary_key)
    for row in dynamic(query).stream(connection, batch=_BATCH):
        _write(file, list(row))
        count += 1
    return count


def load_rows(connection: Connection, table: Table, lines: Iterable[bytes]) -> int:
    """Insert the rows that :func:`dump_rows` wrote, and return how many there were.

    Columns that refer to the table itself are set after all inserts, because the referenced row may
    come later than the row that refers to it.
    """
    pieces = iter(lines)
    names = json.loads(next(pieces))
    inner = [
        column.name
        for column in table.columns
        if any(key.column.table is table for key in column.foreign_keys)
    ]
    count = 0
    late: list[dict[str, Any]] = []
    for batch in _batches(pieces):
        rows = [dict(zip(names, json.loads(line), strict=True)) for line in batch]
        late += [_key_and(row, table, inner) for row in rows if any(row[name] for name in inner)]
        # Self-references are NULL at first; _fill_in sets them.
        dynamic(insert(table)).execute(connection, [row | dict.fromkeys(inner) for row in rows])
        count += len(rows)
    if late:
        _fill_in(connection, table, inner, late)
    return count


def is_empty(connection: Connection, tables: Sequence[Table]) -> bool:
    """Return whether all tables are empty."""
    return not any(dynamic(select(table).limit(1)).first(connection) for table in tables)


def _write(file: IO[bytes], row: Row) -> None:
    file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def _batches(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    while batch := list(islice(lines, _BATCH)):
        yield batch


def _key_and(row: dict[str, Any], table: Table, inner: Sequence[str]) -> dict[str, Any]:
    keys = {f"key_{column.name}": row[column.name] for column in table.primary_key}
    return keys | {f"new_{name}": row[name] for name in inner}


def _fill_in(
    connection: Connection, table: Table, inner: Sequence[str], late: Sequence[dict[str, Any]]
) -> None:
    statement = dynamic(
        update(table)
        .where(*(column == bindparam(f"key_{column.name}") for column in table.primary_key))
        .values({name: bindparam(f"new_{name}") for name in inner})
    )
    for start in range(0, len(late), _BATCH):
        statement.execute(connection, late[start : start + _BATCH])
