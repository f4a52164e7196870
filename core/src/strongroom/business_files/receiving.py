"""Buffers an upload until it is complete, in memory up to 1 MiB and on disk above."""

import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from typing import BinaryIO, Final, cast

from strongroom.errors import StorageFull
from strongroom.plugin_api.storage import ByteSource
from strongroom.storage.source import MeteredSource

_IN_MEMORY: Final = 1024 * 1024
_CHUNK: Final = 256 * 1024


@contextmanager
def received_file(source: ByteSource, max_bytes: int) -> Iterator[tuple[BinaryIO, MeteredSource]]:
    """Read a source completely, and yield the file at position 0 and the metered source.

    Raises:
        PayloadTooLarge: the content exceeds ``max_bytes``.
        StorageFull: the disk is full.
    """
    metered = MeteredSource(source, max_bytes)
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        while chunk := metered.read(_CHUNK):
            with disk_faults():
                file.write(chunk)
        file.seek(0)
        yield cast("BinaryIO", file), metered


def as_source(content: bytes) -> ByteSource:
    """Return bytes as the source type that storages read."""
    return io.BytesIO(content)


@contextmanager
def disk_faults() -> Iterator[None]:
    """Convert the operating system's error for a full disk.

    Raises:
        StorageFull: the disk is full, or the disk quota of the server's user is exhausted.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (ENOSPC, EDQUOT):
            raise StorageFull from error
        raise
