"""Files on the local disk: durable writes, and the source of an upload."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from .errors import SourceChanged

READ_BYTES: Final = 1024 * 1024


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file that only its owner may read. A crash leaves the old or the new content."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
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


def checksum(path: Path) -> str:
    """Return the checksum of a file in the form of the API: ``sha256:`` and hexadecimal digits."""
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


@dataclass(frozen=True, slots=True)
class Source:
    """A local file to upload, as it was when the upload began."""

    path: Path
    size: int
    modified_ns: int

    @classmethod
    def of(cls, path: Path) -> "Source":
        """Return the source at a path.

        Raises:
            OSError: there is no file.
        """
        status = path.stat()
        return cls(path.resolve(), status.st_size, status.st_mtime_ns)

    def fingerprint(self, *target: str | None) -> str:
        """Return what identifies an upload of this state of the file to a target."""
        parts = (str(self.path), str(self.size), str(self.modified_ns), *(part or "" for part in target))
        return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()

    def check(self) -> None:
        """Check that the file is still the same.

        Raises:
            SourceChanged: its size or time differs.
        """
        try:
            is_same = Source.of(self.path) == self
        except OSError as error:
            raise SourceChanged(f"{self.path} disappeared") from error
        if not is_same:
            raise SourceChanged(f"{self.path} was changed during the upload")


def hash_until(file: BinaryIO, digest: "hashlib._Hash", end: int) -> None:
    """Add the bytes from the position of a file to an offset to a digest."""
    while (rest := end - file.tell()) > 0:
        piece = file.read(min(rest, READ_BYTES))
        if not piece:
            raise SourceChanged("the file is shorter than before")
        digest.update(piece)
