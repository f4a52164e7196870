"""Types of uploads and downloads: progress, target, and the state that survives a killed process."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

from .files import write_durably

OnConflict: TypeAlias = Literal["fail", "rename", "replace"]
PIECE_BYTES: Final = 8 * 1024 * 1024
"""The size of one request of an upload, which is read into memory."""

ONE_REQUEST_BYTES: Final = 1024 * 1024
"""Up to this size a file is sent by a single request, which cannot be resumed."""

_FORGOTTEN_SECONDS: Final = 30 * 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a transfer, in bytes."""

    done: int
    total: int


Report: TypeAlias = Callable[[Progress], None]
"""Called after each piece of a transfer."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a file is uploaded."""

    tenant_id: str
    parent_id: str | None
    name: str
    on_conflict: OnConflict


class UploadStates(Protocol):
    """Remembers unfinished uploads by the fingerprint of their source and target."""

    def find(self, fingerprint: str) -> str | None:
        """Return the id of the upload."""

    def remember(self, fingerprint: str, upload_id: str) -> None:
        """Store the id of an upload."""

    def forget(self, fingerprint: str) -> None:
        """Remove an upload that is finished or gone."""


class MemoryUploads(dict[str, str]):
    """Unfinished uploads of this process."""

    def find(self, fingerprint: str) -> str | None:
        """Return the id of the upload."""
        return self.get(fingerprint)

    def remember(self, fingerprint: str, upload_id: str) -> None:
        """Store the id of an upload."""
        self[fingerprint] = upload_id

    def forget(self, fingerprint: str) -> None:
        """Remove an upload."""
        self.pop(fingerprint, None)


class FolderUploads:
    """Unfinished uploads as files in a folder; a killed process continues them when it is started again.

    Args:
        folder: made when it is needed. Entries that were not used for 30 days are removed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, fingerprint: str) -> str | None:
        """Return the id of the upload."""
        try:
            return msgspec.json.decode((self._folder / fingerprint).read_bytes(), type=str)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def remember(self, fingerprint: str, upload_id: str) -> None:
        """Store the id of an upload."""
        write_durably(self._folder / fingerprint, msgspec.json.encode(upload_id))
        self._prune()

    def forget(self, fingerprint: str) -> None:
        """Remove an upload."""
        (self._folder / fingerprint).unlink(missing_ok=True)

    def _prune(self) -> None:
        oldest = time.time() - _FORGOTTEN_SECONDS
        for path in self._folder.iterdir():
            # Another process may remove it meanwhile.
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < oldest:
                    path.unlink()
