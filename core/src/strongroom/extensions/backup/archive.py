"""The archive format: an uncompressed tar file of rows and objects, with a manifest of checksums.

Members: ``secret.key``, ``signing-keys.json``, ``rows/TABLE.jsonl``, ``segments/TABLE.jsonl``,
``blobs/STORAGE/KEY``, ``manifest.json``. Any tar tool can read it.

So a backup of SQLite can be restored to PostgreSQL, and vice versa. The first line of rows contains the
column names, each further line one row. An incremental archive has only the rows and blobs that its base
lacks; its manifest has the digest of the base's manifest, which covers the content of the base.
"""

import hashlib
import io
import json
import os
import secrets
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final

from strongroom.foundation.database.upgrade import SCHEMA_REVISION
from strongroom.version import __version__


class BackupError(Exception):
    """The archive cannot be created or restored; the message is one line with the remedy."""


FORMAT: Final = 2
MANIFEST: Final = "manifest.json"
SECRET: Final = "secret.key"  # noqa: S105  a name
KEYS: Final = "signing-keys.json"
ROWS: Final = "rows"
SEGMENTS: Final = "segments"
BLOBS: Final = "blobs"

_CHUNK: Final = 1024 * 1024
_MANIFEST_BLOCKS: Final = 512 * 1024
_CHECKSUM: Final = "STRONGROOM.sha256"


@dataclass(slots=True)
class StorageSummary:
    """A storage in the manifest. ``included``: the archive has its objects (local storages only)."""

    backend: str
    included: bool
    blobs: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class BaseArchive:
    """The archive that an incremental one continues.

    Args:
        name: the name of its file.
        digest: the SHA-256 of its manifest.
    """

    name: str
    created_at: str
    digest: str


@dataclass(slots=True)
class Manifest:
    """The content of an archive.

    Args:
        format: the version of the archive format.
        version: the version of the server that created the archive.
        schema: the revision of the database's schema.
        created_at: the time of creation, in ISO 8601.
        database: the id of the database.
        members: the SHA-256 of each member except blobs and manifest, by name.
        tables: the number of rows by table name.
        blobs_digest: the SHA-256 of the names and checksums of all blobs, in archive order.
        faults: ``missing`` or ``damaged`` for each blob that was so when the archive was created.
        plugins: the revision of the tables of each enabled plugin that has any, by its name.
        left_out: the tables of plugins that were not enabled, which the archive does not contain.
        base: the archive that this one continues, or ``None`` if it is complete.
    """

    format: int
    version: str
    schema: str
    created_at: str
    database: str
    members: dict[str, str] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    storages: dict[str, StorageSummary] = field(default_factory=dict)
    blobs_digest: str = ""
    faults: dict[str, str] = field(default_factory=dict)
    plugins: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    base: BaseArchive | None = None

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
        base = members.pop("base")
        return cls(**members, storages=storages, base=base and BaseArchive(**base))


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
    """Reads an archive. Creating one reads only the manifest; see :meth:`verify`.

    Raises:
        BackupError: the file is no archive, is truncated or has another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            content = _read_manifest(path)
            self.manifest = Manifest.parse(content)
        except (OSError, tarfile.TarError, ValueError, KeyError, TypeError) as error:
            raise BackupError(f"{path} is not an archive, or is damaged: {error}") from error
        self.digest = hashlib.sha256(content).hexdigest()

    def read(self, name: str) -> bytes:
        """Return the content of a small member, compared with its checksum.

        Raises:
            BackupError: the archive has no such member, or it is damaged.
        """
        start, size = self.locate(name)
        with self.path.open("rb") as file:
            file.seek(start)
            content = file.read(size)
        if hashlib.sha256(content).hexdigest() != self.manifest.members.get(name):
            raise BackupError(f"{self.path} is damaged: {name} does not match the manifest")
        return content

    def locate(self, name: str) -> tuple[int, int]:
        """Return the offset and the size in bytes of a member that is not a blob.

        Raises:
            BackupError: the archive has no such member.
        """
        if name not in self._places:
            raise BackupError(f"{self.path} has no member {name}")
        return self._places[name]

    def first_line(self, name: str) -> bytes:
        """Return the first line of a member that is not a blob."""
        with self.path.open("rb") as file:
            file.seek(self.locate(name)[0])
            return file.readline()

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        places = {}
        with self._opened() as tar:
            for member in _members(tar):
                # Blobs come last, and there may be millions.
                if member.name.startswith(f"{BLOBS}/"):
                    break
                places[member.name] = (member.offset_data, member.size)
        return places

    def blobs(self) -> Iterator[tuple[str, IO[bytes], int]]:
        """Yield the member name, content and size in bytes of each blob."""
        with self._opened() as tar:
            for member in _members(tar):
                file = tar.extractfile(member)
                if member.name.startswith(f"{BLOBS}/") and file is not None:
                    yield member.name, file, member.size

    def verify(self, seen: Callable[[str, str], None] = lambda _name, _checksum: None) -> None:
        """Compare all members with the manifest.

        Args:
            seen: called with the member name and the checksum of each blob.

        Raises:
            BackupError: the archive is damaged or incomplete.
        """
        checksums: dict[str, str] = {}
        digest, manifest = hashlib.sha256(), b""
        try:
            with self._opened() as tar:
                for member in _members(tar):
                    file = tar.extractfile(member)
                    if member.name == MANIFEST and file is not None:
                        manifest = file.read()
                        continue
                    checksum = _checksum(file)
                    expected = member.pax_headers.get(_CHECKSUM)
                    if expected is None:
                        checksums[member.name] = checksum
                        continue
                    digest.update(f"{member.name}:{expected}\n".encode())
                    seen(member.name, expected)
                    # Record damaged blobs only; the digest covers the names and checksums of all.
                    if checksum != expected:
                        checksums[member.name] = "damaged"
        except (OSError, tarfile.TarError, ValueError) as error:
            raise BackupError(f"{self.path} is not an archive, or is damaged: {error}") from error
        self._compare(manifest, checksums, digest.hexdigest())

    def _compare(self, manifest: bytes, checksums: dict[str, str], digest: str) -> None:
        # Blobs that were damaged already when the backup was made are no damage of the archive.
        for name, fault in self.manifest.faults.items():
            if fault == "damaged":
                checksums.pop(name, None)
        is_same = hashlib.sha256(manifest).hexdigest() == self.digest
        if not is_same or checksums != self.manifest.members or digest != self.manifest.blobs_digest:
            raise BackupError(f"{self.path} is damaged: its content does not match its manifest")

    @contextmanager
    def _opened(self) -> Iterator[tarfile.TarFile]:
        # "r:" refuses compressed files; errorlevel 2 turns all read errors into exceptions.
        with tarfile.open(self.path, "r:", errorlevel=2) as tar:
            yield tar


def _read_manifest(path: Path) -> bytes:
    """Return the manifest, found from the end, because an archive may have millions of members."""
    header = f"{MANIFEST}\0".encode()
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END) // tarfile.BLOCKSIZE
        for number in range(end - 1, max(end - _MANIFEST_BLOCKS, -1), -1):
            file.seek(number * tarfile.BLOCKSIZE)
            if file.read(len(header)) == header:
                file.seek(number * tarfile.BLOCKSIZE)
                block = file.read(tarfile.BLOCKSIZE)
                return file.read(tarfile.TarInfo.frombuf(block, "utf-8", "strict").size)
    raise BackupError(f"{path} is not an archive, or is truncated: it has no manifest")


def _members(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    while (member := tar.next()) is not None:
        tar.members = []  # type: ignore[attr-defined]  # documented way to save memory
        yield member


def _checksum(file: IO[bytes] | None) -> str:
    hashed = HashedFile(file or io.BytesIO())
    while hashed.read(_CHUNK):
        pass
    return hashed.checksum
