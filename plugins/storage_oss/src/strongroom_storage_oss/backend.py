"""The storage backend: each key is one object of the bucket."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from strongroom.plugin_api.storage import (
    ByteSource,
    ByteStream,
    ObjectStat,
    ServerSideCopy,
    SignedDownloads,
    SignedRequest,
    SignedUploads,
    StorageBackend,
    StorageError,
)
from strongroom_storage_oss.client import CHUNK_SIZE, OssClient
from strongroom_storage_oss.multipart import ObjectWriter, copy_object
from strongroom_storage_oss.options import OssOptions
from strongroom_storage_oss.signing import UrlSigner


class OssBackend(StorageBackend[OssOptions], ServerSideCopy, SignedDownloads, SignedUploads):
    """Stores objects in a bucket of Aliyun OSS, each operation in one request where that is possible."""

    name = "oss"
    options_type = OssOptions
    max_size = 5 * 1024**3

    def __init__(self, options: OssOptions) -> None:
        super().__init__(options)
        self._client = OssClient(options)
        self._signer = UrlSigner(options)

    def put(self, key: str, source: ByteSource, *, size: int | None = None) -> int:
        writer = ObjectWriter(self._client, key, size=size)
        try:
            written = 0
            while chunk := source.read(CHUNK_SIZE):
                written += writer.write(chunk)
        except BaseException:
            writer.discard()
            raise
        self._publish(writer, key)
        return written

    def open(self, key: str, *, start: int = 0, length: int | None = None) -> ByteStream:
        return self._nothing(key) if length == 0 else self._client.open(key, start, length)

    def stat(self, key: str) -> ObjectStat:
        return self._client.stat(key)

    def delete(self, key: str) -> None:
        self._client.delete(key)

    def scan(self, prefix: str = "") -> Iterator[ObjectStat]:
        for page in self._client.pages(prefix):
            yield from page.objects

    def copy(self, source_key: str, target_key: str) -> None:
        copy_object(self._client, source_key, target_key)

    def download_url(self, key: str, *, lifetime: int, headers: Mapping[str, str]) -> str:
        return self._signer.download(key, lifetime, headers)

    def upload_request(self, key: str, *, lifetime: int, size: int) -> SignedRequest:
        return self._signer.upload(key, lifetime, size)

    def close(self) -> None:
        self._client.close()
        self._signer.close()

    def _publish(self, writer: ObjectWriter, key: str) -> None:
        try:
            writer.finish()
        except BaseException:
            writer.discard()
            # The store may have stored the object although its response was lost.
            with suppress(StorageError):
                self._client.delete(key, tidying=True)
            raise

    @contextmanager
    def _nothing(self, key: str) -> Iterator[Iterator[bytes]]:
        self._client.stat(key)
        yield iter(())
