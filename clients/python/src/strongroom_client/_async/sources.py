"""The content of an upload, from what the caller has."""

import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..concurrency import AsyncPieces, async_in_thread, async_spool
from ..files import READ_BYTES, FileSource, OpenSource, Source


async def source_of(content: Path | str | bytes | BinaryIO | AsyncPieces) -> Source:
    """Return the content of an upload.

    Raises:
        TypeError: it is text, or nothing that has bytes.
        OSError: there is no such file.
    """
    if isinstance(content, str | Path):
        return await async_in_thread(FileSource.of, Path(content))
    if isinstance(content, bytes | bytearray | memoryview):
        return OpenSource(io.BytesIO(content))
    if hasattr(content, "read"):
        file = cast("BinaryIO", content)
        if file.seekable():
            return OpenSource(file)
        content = _pieces(file)
    return OpenSource(await async_spool(content), is_temporary=True)


def name_of(content: Any) -> str:
    """Return the name of a local file.

    Raises:
        TypeError: the content has no name.
    """
    path = content if isinstance(content, str | Path) else getattr(content, "name", None)
    if not isinstance(path, str | Path):
        raise TypeError("name: required unless the content is a local file")
    return Path(path).name


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    return iter(partial(file.read, READ_BYTES), b"")
