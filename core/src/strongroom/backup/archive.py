"""The archive: a tar file whose last member says what the others must be.

``secret.key``, ``signing-keys.json``, ``rows/TABLE.jsonl``, ``blobs/STORAGE/KEY``, ``manifest.json``.
Any tool for tar files can look into it.
"""

import hashlib
import io
import json
import os
import secrets
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from strongroom.backup.errors import BackupError

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
    """What an archive knows of a storage; only of local ones does it hold the bytes."""

    backend: str
    included: bool
    blobs: int = 0
    bytes: int = 0


@dataclass(slots=True)
class Manifest:
    """What an archive holds.

    Args:
        format: of the archive.
        version: of the server that made it.
        schema: the revision of the database's schema.
        created_at: ISO 8601.
        members: the SHA-256 of each member but the blobs.
        tables: the number of rows.
        storages: by name.
        blobs_digest: the SHA-256 over the names and checksums of all blobs, in their order.
        faults: blobs that were missing or damaged when the archive was made, and how.
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

    @classmethod
    def parse(cls, content: bytes) -> "Manifest":
        """Read a manifest.

        Raises:
            BackupError: it is of another format.
        """
        members = json.loads(content)
        if members.get("format") != FORMAT:
            raise BackupError(f"the archive is of format {members.get('format')}, not {FORMAT}")
        storages = {name: StorageSummary(**item) for name, item in members.pop("storages").items()}
        return cls(**members, storages=storages)


class ArchiveWriter:
    """Writes an archive."""

    def __init__(self, tar: tarfile.TarFile, manifest: Manifest) -> None:
        self._tar = tar
        self._blobs = hashlib.sha256()
        self.manifest = manifest

    def add(self, name: str, file: IO[bytes]) -> None:
        """Add a member from a file that stands at its end."""
        size = file.tell()
        file.seek(0)
        source = HashedFile(file)
        self._add(tarfile.TarInfo(name), source, size)
        self.manifest.members[name] = source.checksum

    def add_blob(self, name: str, source: "HashedFile", size: int, checksum: str) -> None:
        """Add a blob; its checksum is what it should be, and whether it is, the source knows."""
        member = tarfile.TarInfo(name)
        member.pax_headers = {_CHECKSUM: checksum}
        self._add(member, source, size)
        self._blobs.update(f"{name}:{checksum}\n".encode())

    def finish(self) -> None:
        """Add the manifest."""
        self.manifest.blobs_digest = self._blobs.hexdigest()
        content = json.dumps(asdict(self.manifest), indent=2, ensure_ascii=False).encode()
        self._add(tarfile.TarInfo(MANIFEST), io.BytesIO(content), len(content))

    def _add(self, member: tarfile.TarInfo, source: Any, size: int) -> None:
        member.size, member.mode = size, 0o600
        self._tar.addfile(member, source)
        # It remembers every member, and there may be millions.
        self._tar.members = []  # type: ignore[attr-defined]  # as its documentation has it for reading


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
        """The SHA-256 of what was read, in hexadecimal digits."""
        return self._digest.hexdigest()


@contextmanager
def writing(path: Path, manifest: Manifest) -> Iterator[ArchiveWriter]:
    """Write an archive that only its owner can read, and that is there whole or not at all.

    Raises:
        BackupError: something is there already.
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
        os.link(temporary, path)
    finally:
        temporary.unlink()


class ArchiveReader:
    """Reads an archive: once to see that it is whole, then member by member."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.manifest = self._verify()

    def read(self, name: str) -> bytes:
        """Return a small member."""
        with self.lines(name) as file:
            return file.read()

    @contextmanager
    def lines(self, name: str) -> Iterator[IO[bytes]]:
        """Open a member that is no blob."""
        with self._opened() as tar:
            for member in _members(tar):
                if member.name == name:
                    file = tar.extractfile(member)
                    if file is not None:
                        yield file
                        return
        raise BackupError(f"{self._path} holds no {name}")

    def blobs(self) -> Iterator[tuple[str, str, IO[bytes], int]]:
        """Iterate over storage, key, content and size of the blobs."""
        with self._opened() as tar:
            for member in _members(tar):
                kind, _, rest = member.name.partition("/")
                file = tar.extractfile(member)
                if kind == BLOBS and file is not None:
                    storage, _, key = rest.partition("/")
                    yield storage, key, file, member.size

    def _verify(self) -> Manifest:
        found: dict[str, str] = {}
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
                        found[member.name] = checksum
                        continue
                    digest.update(f"{member.name}:{expected}\n".encode())
                    if checksum != expected:
                        found[member.name] = "damaged"
        except (OSError, tarfile.TarError, ValueError) as error:
            raise BackupError(f"{self._path} is no archive, or a damaged one: {error}") from error
        self._compare(manifest, found, digest.hexdigest())
        assert manifest is not None  # noqa: S101  as just compared
        return manifest

    def _compare(self, manifest: Manifest | None, found: dict[str, str], digest: str) -> None:
        if manifest is None:
            raise BackupError(f"{self._path} is cut short: it has no manifest")
        for name, fault in manifest.faults.items():
            if fault == "damaged":
                found.pop(name, None)
        if found != manifest.members or digest != manifest.blobs_digest:
            raise BackupError(f"{self._path} is damaged: what it holds is not what its manifest says")

    @contextmanager
    def _opened(self) -> Iterator[tarfile.TarFile]:
        with tarfile.open(self._path, "r:", errorlevel=2) as tar:
            yield tar


def _members(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    while (member := tar.next()) is not None:
        tar.members = []  # type: ignore[attr-defined]  # as its documentation has it
        yield member


def _checksum(file: IO[bytes] | None) -> str:
    hashed = HashedFile(file or io.BytesIO())
    while hashed.read(_CHUNK):
        pass
    return hashed.checksum
