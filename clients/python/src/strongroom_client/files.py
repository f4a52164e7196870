"""Files on the local disk: durable writes, and the source of an upload."""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

from .errors import SourceChanged

_MAX_NAME_BYTES: Final = 255
READ_BYTES: Final = 1024 * 1024


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file that only its owner may read. A crash leaves the old or the new content."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".strongroom-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        publish(Path(name), path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def publish(temporary: Path, path: Path) -> None:
    """Rename a complete and synced file, and sync the folder, so that the name is durable, too."""
    temporary.replace(path)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def fitting_name(name: str) -> str:
    """Return a name shortened at a character to what a file system takes; its extension stays."""
    stem, dot, extension = name.rpartition(".")
    if not stem or len(f"{dot}{extension}".encode()) > _MAX_NAME_BYTES // 2:
        stem, dot, extension = name, "", ""
    room = _MAX_NAME_BYTES - len(f"{dot}{extension}".encode())
    return f"{stem.encode()[:room].decode(errors='ignore')}{dot}{extension}"


def checksum(path: Path) -> str:
    """Return the checksum of a file in the form of the API: ``sha256:`` and hexadecimal digits."""
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


class Source(Protocol):
    """The content of an upload."""

    @property
    def size(self) -> int:
        """The number of bytes."""

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Open the content at its beginning."""

    def fingerprint(self, *target: str | None) -> str | None:
        """Return what identifies an upload of this content, if another call may continue it."""

    def check(self) -> None:
        """Check that the content is still the same.

        Raises:
            SourceChanged: it differs.
        """

    def close(self) -> None:
        """Remove what was made for the upload only."""


@dataclass(frozen=True, slots=True)
class FileSource:
    """A local file to upload, as it was when the upload began."""

    path: Path
    size: int
    modified_ns: int

    @classmethod
    def of(cls, path: Path) -> "FileSource":
        """Return the source at a path.

        Raises:
            OSError: there is no file.
        """
        status = path.stat()
        return cls(path.resolve(), status.st_size, status.st_mtime_ns)

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Open the file."""
        return self.path.open("rb")

    def fingerprint(self, *target: str | None) -> str | None:
        """Return what identifies an upload of this state of the file to a target."""
        parts = (str(self.path), str(self.size), str(self.modified_ns), *(part or "" for part in target))
        return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()

    def check(self) -> None:
        """Check that the file is still the same.

        Raises:
            SourceChanged: its size or time differs.
        """
        try:
            is_same = FileSource.of(self.path) == self
        except OSError as error:
            raise SourceChanged(f"{self.path} disappeared") from error
        if not is_same:
            raise SourceChanged(f"{self.path} was changed during the upload")

    def close(self) -> None:
        """Leave the file."""


class OpenSource:
    """The rest of an open file.

    Args:
        file: the file, which can be read again from its position.
        is_temporary: whether it was made for the upload; otherwise the caller closes it.
    """

    def __init__(self, file: BinaryIO, *, is_temporary: bool = False) -> None:
        self._file = file
        self._is_temporary = is_temporary
        self._start = file.tell()
        self.size = file.seek(0, os.SEEK_END) - self._start

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Yield the file from where it was."""
        self._file.seek(self._start)
        yield self._file

    def fingerprint(self, *_target: str | None) -> str | None:
        """Return nothing, because another call may have other content."""

    def check(self) -> None:
        """Trust the caller, who has opened the file."""

    def close(self) -> None:
        """Close a temporary file."""
        if self._is_temporary:
            self._file.close()


def spooled(pieces: Iterable[bytes]) -> BinaryIO:
    """Write pieces of unknown length to a temporary file without a name."""
    file = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115  closed by its source
    for piece in pieces:
        file.write(piece)
    file.seek(0)
    return file


def hash_next(file: BinaryIO, digest: "hashlib._Hash", length: int) -> None:
    """Add the next bytes of a file to a digest."""
    while length > 0:
        piece = file.read(min(length, READ_BYTES))
        if not piece:
            raise SourceChanged("the file is shorter than before")
        digest.update(piece)
        length -= len(piece)
