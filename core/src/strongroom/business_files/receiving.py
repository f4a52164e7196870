"""Holds an upload until it is whole, in memory while it is small and on disk beyond."""

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
    """Receive all that a source gives, and yield it at its beginning, with what was measured.

    Raises:
        PayloadTooLarge: it is more than ``max_bytes``.
        StorageFull: there is no room for it.
    """
    metered = MeteredSource(source, max_bytes)
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        while chunk := metered.read(_CHUNK):
            with disk_faults():
                file.write(chunk)
        file.seek(0)
        yield cast("BinaryIO", file), metered


def as_source(content: bytes) -> ByteSource:
    """Return bytes as what a storage reads from."""
    return io.BytesIO(content)


@contextmanager
def disk_faults() -> Iterator[None]:
    """Turn the error of a full disk into the one that clients are sent.

    Raises:
        StorageFull: the disk is full, or the quota of the server's user is used up.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (ENOSPC, EDQUOT):
            raise StorageFull from error
        raise
