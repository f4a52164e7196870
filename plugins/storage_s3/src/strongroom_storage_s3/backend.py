"""The storage backend: objects through boto3, one request per operation, and listings through fs-s3fs.

The data path (put, ranged reads, stat, delete, copy, signed URLs) uses the client directly, because the
checks of a filesystem cost further requests. The scan, which migration, repair and garbage collection
use, lists :class:`strongroom_storage_s3.filesystem.StrongroomS3FS`: fs-s3fs with its client, reader and
writer replaced by those used here. ADR 0083 has the requests of each way.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from strongroom.plugin_api.storage import (
    NO_END,
    ByteSource,
    ByteStream,
    CapabilityT,
    ObjectLock,
    ObjectNotFound,
    ObjectStat,
    ServerSideCopy,
    SignedDownloads,
    SignedRequest,
    SignedUploads,
    StorageBackend,
    StorageError,
)
from strongroom_storage_s3.client import LazyClient, copy_in_parts
from strongroom_storage_s3.errors import AnswerLost, error_code, translated_errors
from strongroom_storage_s3.options import MEBIBYTE, S3Options
from strongroom_storage_s3.upload import Upload

CHUNK_SIZE = 256 * 1024

# Limits of S3, which Ceph, MinIO and R2 share.
MAX_PARTS = 10_000
MAX_SIGNED_LIFETIME = 7 * 24 * 3600

# Error codes for a range that starts at or after the end of the object.
BEYOND_THE_END = frozenset({"InvalidRange", "416"})

# Error codes for copying more than 5 GiB in one request.
TOO_LARGE_TO_COPY = frozenset({"EntityTooLarge", "InvalidRequest"})

RESPONSE_HEADERS = {
    "cache-control": "ResponseCacheControl",
    "content-disposition": "ResponseContentDisposition",
    "content-encoding": "ResponseContentEncoding",
    "content-language": "ResponseContentLanguage",
    "content-type": "ResponseContentType",
}


class S3Backend(StorageBackend[S3Options], ServerSideCopy, SignedDownloads, SignedUploads, ObjectLock):
    """Stores each object as one object of a bucket, below a prefix."""

    name = "s3"
    options_type = S3Options
    max_size: ClassVar[int] = 5 * 1024 * MEBIBYTE

    def __init__(self, options: S3Options) -> None:
        super().__init__(options)
        self._prefix = f"{options.prefix.strip('/')}/".lstrip("/")
        self._client = LazyClient(options, options.endpoint)
        self._signer = self._client
        if options.public_endpoint_url is not None:
            self._signer = LazyClient(options, options.public_endpoint_url)

    @property
    def write_once(self) -> bool:
        # A signed upload would not be locked.
        return self.options.refuses_replacing and self.options.object_lock_mode is None

    def capability(self, kind: type[CapabilityT]) -> CapabilityT | None:
        # Not every store locks the objects that it copies itself.
        absent = ObjectLock if self.options.object_lock_mode is None else ServerSideCopy
        if kind is absent:
            return None
        return super().capability(kind)

    def locked_until(self, key: str) -> int | None:
        try:
            with translated_errors():
                response = self._client.get().head_object(**self._at(key))
        except ObjectNotFound:
            return None
        if response.get("ObjectLockLegalHoldStatus") == "ON":
            return NO_END
        until: datetime | None = response.get("ObjectLockRetainUntilDate")
        return None if until is None or until <= datetime.now(UTC) else int(until.timestamp() * 1000)

    def put(self, key: str, source: ByteSource, *, size: int | None = None) -> int:
        try:
            with self._upload(key, size or 0) as upload:
                while chunk := source.read(CHUNK_SIZE):
                    upload.write(chunk)
        except AnswerLost:
            # The store may have stored the object although this method reports a failure.
            with suppress(StorageError):
                self.delete(key)
            raise
        return upload.size

    def open(self, key: str, *, start: int = 0, length: int | None = None) -> ByteStream:
        return self._reader(key, start, length)

    def stat(self, key: str) -> ObjectStat:
        with translated_errors():
            response = self._client.get().head_object(**self._at(key))
        return ObjectStat(key, response["ContentLength"], _milliseconds(response))

    def delete(self, key: str) -> None:
        with translated_errors():
            self._client.get().delete_object(**self._at(key))

    def scan(self, prefix: str = "") -> Iterator[ObjectStat]:
        # Imported lazily, because only commands and jobs scan, and fs-s3fs imports pkg_resources.
        from strongroom_storage_s3.filesystem import StrongroomS3FS

        with StrongroomS3FS(self.options, client=self._client) as filesystem:
            files = filesystem.files(prefix)
            while entry := _next_entry(files):
                key, info = entry
                yield ObjectStat(key, info.size, int(info.raw["details"]["modified"] * 1000))

    def copy(self, source_key: str, target_key: str) -> None:
        client, source, target = self._client.get(), self._at(source_key), self._at(target_key)
        with translated_errors():
            try:
                client.copy_object(CopySource=source, **target)
            except client.exceptions.ClientError as error:
                if error_code(error) not in TOO_LARGE_TO_COPY:
                    raise
                copy_in_parts(client, source, target)

    def download_url(self, key: str, *, lifetime: int, headers: Mapping[str, str]) -> str:
        overrides = {_override(name): value for name, value in headers.items()}
        return self._signed("get_object", lifetime, **self._at(key), **overrides)

    def upload_request(self, key: str, *, lifetime: int, size: int) -> SignedRequest:
        # The signature covers these headers, so the client must send them with exactly these values.
        parameters: dict[str, Any] = {"ContentLength": size, "ContentType": "application/octet-stream"}
        headers = {"Content-Length": str(size), "Content-Type": "application/octet-stream"}
        if self.options.refuses_replacing:
            parameters["IfNoneMatch"] = headers["If-None-Match"] = "*"
        url = self._signed("put_object", lifetime, **self._at(key), **parameters)
        return SignedRequest("PUT", url, headers)

    def close(self) -> None:
        self._client.close()
        self._signer.close()

    def _at(self, key: str) -> dict[str, str]:
        return {"Bucket": self.options.bucket, "Key": f"{self._prefix}{key}"}

    def _upload(self, key: str, size: int) -> Upload:
        return Upload(
            self._client.get(),
            self._at(key),
            part_bytes=max(self.options.part_bytes, -(-size // MAX_PARTS)),
            parts_in_flight=self.options.parts_in_flight,
            attributes=self._lock(),
        )

    def _lock(self) -> dict[str, Any]:
        """Return the parameters that lock a new object: ``x-amz-object-lock-*``."""
        mode = self.options.object_lock_mode
        if mode is None:
            return {}
        until = datetime.now(UTC) + timedelta(days=self.options.object_lock_days)
        return {"ObjectLockMode": mode.upper(), "ObjectLockRetainUntilDate": until}

    @contextmanager
    def _reader(self, key: str, start: int, length: int | None) -> Iterator[Iterator[bytes]]:
        body = self._get(key, start, length)
        if body is None:
            yield iter(())
            return
        try:
            yield _chunks(body)
        finally:
            body.close()

    def _get(self, key: str, start: int, length: int | None) -> Any:
        """Return the body of the range, or ``None`` if the object ends before it."""
        if length == 0:
            # HTTP has no empty range, but a missing object must still raise ObjectNotFound.
            self.stat(key)
            return None
        client = self._client.get()
        with translated_errors():
            try:
                return client.get_object(**self._at(key), **_range(start, length))["Body"]
            except client.exceptions.ClientError as error:
                if error_code(error) not in BEYOND_THE_END:
                    raise
                return None

    def _signed(self, operation: str, lifetime: int, **parameters: Any) -> str:
        if lifetime > MAX_SIGNED_LIFETIME:
            raise StorageError(f"S3 signs for at most {MAX_SIGNED_LIFETIME} seconds, not {lifetime}")
        with translated_errors():
            url = self._signer.get().generate_presigned_url(operation, parameters, ExpiresIn=lifetime)
        return str(url)


def _range(start: int, length: int | None) -> dict[str, str]:
    if start == 0 and length is None:
        return {}
    last = "" if length is None else start + length - 1
    return {"Range": f"bytes={start}-{last}"}


def _chunks(body: Any) -> Iterator[bytes]:
    with translated_errors():
        yield from body.iter_chunks(CHUNK_SIZE)


def _milliseconds(response: Mapping[str, Any]) -> int:
    return int(response["LastModified"].timestamp() * 1000)


def _next_entry(files: Iterator[Any]) -> Any:
    with translated_errors():
        return next(files, None)


def _override(header: str) -> str:
    try:
        return RESPONSE_HEADERS[header.lower()]
    except KeyError:
        raise StorageError(f"S3 cannot override the header {header}") from None
