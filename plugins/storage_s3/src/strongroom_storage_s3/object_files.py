"""Streams between objects of a bucket and files of the PyFilesystem."""

import io
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from strongroom.plugin_api.object_files import DiscardableFile, filesystem_errors
from strongroom_storage_s3.errors import translated_errors
from strongroom_storage_s3.upload import Upload

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


@contextmanager
def bucket_errors(path: str) -> Iterator[None]:
    """Translate exceptions of the store and of botocore into PyFilesystem errors for ``path``."""
    with filesystem_errors(path), translated_errors():
        yield


@contextmanager
def open_body(client: Any, request: dict[str, str], chunk_size: int) -> Iterator[Iterator[bytes]]:
    """Send a request for an object, and yield the chunks of its body."""
    with translated_errors():
        body = client.get_object(**request)["Body"]
    with closing(body):
        yield _chunks(body, chunk_size)


def _chunks(body: Any, chunk_size: int) -> Iterator[bytes]:
    with translated_errors():
        yield from body.iter_chunks(chunk_size)


class ObjectWriter(DiscardableFile, io.RawIOBase):
    """Sequential writer that streams to the store without a temporary copy."""

    mode = "wb"

    def __init__(self, path: str, upload: Upload) -> None:
        super().__init__()
        self._path = path
        self._upload = upload

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._upload.size

    def readinto(self, buffer: "WriteableBuffer") -> int:  # noqa: ARG002
        raise io.UnsupportedOperation("not open for reading")

    def write(self, data: "ReadableBuffer") -> int:
        if self.closed:
            raise ValueError("write to closed file")
        view = memoryview(data)
        with bucket_errors(self._path):
            self._upload.write(view)
        return view.nbytes

    def close(self) -> None:
        if not self.closed:
            super().close()
            with bucket_errors(self._path):
                self._upload.commit()

    def discard(self) -> None:
        if not self.closed:
            super().close()
            self._upload.abort()
