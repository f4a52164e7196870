"""Writes and copies objects of any size; larger ones as multipart uploads."""

from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from math import ceil
from types import TracebackType
from typing import Self

from strongroom.plugin_api.storage import StorageError
from strongroom_storage_oss.client import OssClient

MOST_PARTS = 10_000

COPY_PART_SIZE = 1024**3
"""Bytes copied in one request. OSS is slow with larger copies and refuses 5 GiB."""


class ObjectWriter:
    """Sends an object: in one request if it fits in one part, else as a multipart upload.

    The object is not visible before :meth:`finish`. One part, ``part``, is buffered in memory.

    Args:
        size: the total size in bytes, if known. An object may have 10,000 parts, so the parts of
            very large objects are larger than configured.
    """

    def __init__(self, client: OssClient, key: str, *, size: int | None = None) -> None:
        self.part_size = max(client.options.part_size, ceil((size or 0) / MOST_PARTS))
        self._client = client
        self._key = key
        self.part = BytesIO()
        self._upload_id: str | None = None
        self._etags: list[str] = []

    @property
    def has_sent(self) -> bool:
        """Whether any part has been sent, which can no longer be changed."""
        return self._upload_id is not None

    @property
    def sent(self) -> int:
        """The number of bytes sent."""
        return self.part_size * len(self._etags)

    def write(self, data: bytes | memoryview) -> int:
        """Append bytes. A full part is sent when more bytes follow."""
        rest = memoryview(data)
        while rest:
            room = self.part_size - self.part.tell()
            if not room:
                self._send_part()
                continue
            self.part.write(rest[:room])
            rest = rest[room:]
        return len(data)

    def finish(self) -> None:
        """Make the object visible."""
        if self._upload_id is None:
            self.part.seek(0)
            self._client.put(self._key, self.part)
        else:
            self._send_part()
            self._client.complete_upload(self._key, self._upload_id, self._etags)

    def discard(self) -> None:
        """Abort the upload if the store can be reached; never raises."""
        if self._upload_id is not None:
            with suppress(StorageError):
                self._client.abort_upload(self._key, self._upload_id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish, or discard the object after an exception."""
        try:
            if error is None:
                self.finish()
        except BaseException as failure:
            error = failure
            raise
        finally:
            if error is not None:
                self.discard()

    def _send_part(self) -> None:
        if self._upload_id is None:
            self._upload_id = self._client.begin_upload(self._key)
        self.part.seek(0)
        number = len(self._etags) + 1
        self._etags.append(self._client.upload_part(self._key, self._upload_id, number, self.part))
        self.part.seek(0)
        self.part.truncate()


def copy_object(
    client: OssClient, source_key: str, target_key: str, *, part_size: int = COPY_PART_SIZE
) -> None:
    """Copy an object within the store, in parts of ``part_size`` bytes if it is larger."""
    size = client.stat(source_key).size
    if size <= part_size:
        client.copy(source_key, target_key)
        return
    upload_id = client.begin_upload(target_key)
    try:
        etags = [
            client.copy_part(target_key, upload_id, number, source_key, start=start, stop=stop)
            for number, start, stop in _parts(size, part_size)
        ]
        client.complete_upload(target_key, upload_id, etags)
    except BaseException:
        with suppress(StorageError):
            client.abort_upload(target_key, upload_id)
        raise


def _parts(size: int, part_size: int) -> Iterator[tuple[int, int, int]]:
    for number, start in enumerate(range(0, size, part_size), 1):
        yield number, start, min(start + part_size, size)
