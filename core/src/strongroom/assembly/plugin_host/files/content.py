"""Content that plugins write and read: its source, and errors of storages."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from strongroom.foundation.errors import (
    DigestMismatch,
    StorageFull,
    Unavailable,
    UploadIncomplete,
)
from strongroom.plugin_api import storage
from strongroom.plugin_api.storage import ByteSource


@contextmanager
def storage_errors() -> Iterator[None]:
    """Convert the errors of storages to the core's, as for responses."""
    try:
        yield
    except storage.StorageUnavailable as error:
        raise Unavailable(retry_after=error.retry_after) from error
    except storage.StorageFull as error:
        raise StorageFull from error


@dataclass(slots=True)
class PluginContent:
    """A file that a plugin uploads. ``expected`` is its SHA-256, if the plugin knows it."""

    name: str
    source: ByteSource
    size: int | None
    expected: str | None

    def check(self, checksum: str) -> None:
        """Raise if the SHA-256 of the content is not the expected one."""
        if self.expected is not None and self.expected.lower() != checksum:
            raise DigestMismatch


@dataclass(slots=True, eq=False, repr=False)
class ClientSource:
    """A source that may be the body of a request, whose client may disappear."""

    _source: ByteSource

    def read(self, size: int, /) -> bytes:
        """Return the next piece.

        Raises:
            UploadIncomplete: the connection broke, or the client is too slow.
        """
        try:
            return self._source.read(size)
        except (ConnectionError, TimeoutError) as error:
            raise UploadIncomplete from error


@dataclass(slots=True, eq=False, repr=False)
class SizedSource:
    """A source that must yield exactly ``size`` bytes; it is not read further."""

    _source: ByteSource
    _missing: int

    def read(self, size: int, /) -> bytes:
        """Return the next piece.

        Raises:
            UploadIncomplete: the source has ended too early.
        """
        chunk = self._source.read(min(size, self._missing)) if self._missing else b""
        if not chunk and self._missing:
            raise UploadIncomplete
        self._missing -= len(chunk)
        return chunk


def plugin_content(
    name: str, source: ByteSource, size: int | None, checksum: str | None
) -> PluginContent:
    """Return a file that a plugin uploads from a source, which has ``size`` bytes if that is known."""
    source = ClientSource(source)
    sized = source if size is None else SizedSource(source, size)
    return PluginContent(name, sized, size, checksum)
