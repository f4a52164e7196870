"""Client of one bucket; hides the vendor's SDK from the rest of the plugin."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, BinaryIO

from strongroom.plugin_api.storage import ObjectStat, StorageError
from strongroom_storage_oss.options import OssOptions
from strongroom_storage_oss.vendor import Connection, RangeNotSatisfiable, translated_errors

CHUNK_SIZE = 256 * 1024
PAGE_SIZE = 1000

# Limits of requests that clean up after a failure. They are short because the caller has already
# waited for the failure. The second attempt covers a connection that the failure has broken.
TIDYING_LIMITS = {"readwrite_timeout": 0.5, "operation_timeout": 0.5, "retry_max_attempts": 2}


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a listing: objects, and common prefixes (folders)."""

    objects: Sequence[ObjectStat]
    folders: Sequence[str]


class OssClient:
    """The objects below the prefix of one bucket. Thread-safe.

    Keys are relative to the prefix. Methods raise only :class:`StorageError` and its subclasses.
    """

    def __init__(self, options: OssOptions) -> None:
        self.options = options
        self._prefix = options.key_prefix
        self._connection = Connection(options, options.endpoint)
        self._sdk = self._connection.sdk
        self._client = self._connection.client

    def close(self) -> None:
        """Close all connections."""
        self._connection.close()

    def put(self, key: str, body: BinaryIO) -> None:
        """Store an object in one request; sends ``body`` from its current position."""
        self._send(self._client.put_object, self._sdk.PutObjectRequest, key, body=body)

    @contextmanager
    def open(self, key: str, start: int = 0, length: int | None = None) -> Iterator[Iterator[bytes]]:
        """Open a range of an object in one request: ``length`` bytes (at least 1), or up to its end.

        Raises:
            ObjectNotFound: on entering the context, if there is no such object.
        """
        headers = {} if start == 0 and length is None else _range_headers(start, length)
        try:
            result = self._send(self._client.get_object, self._sdk.GetObjectRequest, key, **headers)
        except RangeNotSatisfiable:
            yield iter(())
            return
        with result.body:
            if headers and result.status_code != HTTPStatus.PARTIAL_CONTENT:
                raise StorageError(f"the store ignored the requested range of {key}")
            yield _chunks(result.body, key)

    def stat(self, key: str) -> ObjectStat:
        """Return an object's size and modification time, in one request."""
        result = self._send(self._client.head_object, self._sdk.HeadObjectRequest, key)
        return ObjectStat(key, result.content_length, _milliseconds(result.last_modified))

    def delete(self, key: str, *, tidying: bool = False) -> None:
        """Remove an object if it exists. ``tidying`` uses the short limits of clean-up requests."""
        send = self._tidy if tidying else self._send
        send(self._client.delete_object, self._sdk.DeleteObjectRequest, key)

    def pages(
        self, prefix: str, *, delimiter: str | None = None, size: int = PAGE_SIZE
    ) -> Iterator[Page]:
        """Iterate over keys with ``prefix``, grouped into folders at a ``delimiter`` after it."""
        token, more = None, True
        while more:
            request = self._sdk.ListObjectsV2Request(
                bucket=self.options.bucket,
                prefix=self._prefix + prefix,
                delimiter=delimiter,
                max_keys=size,
                continuation_token=token,
            )
            with translated_errors(prefix):
                result = self._client.list_objects_v2(request, operation_timeout=self.options.timeout)
            yield self._page(result)
            token, more = result.next_continuation_token, result.is_truncated

    def copy(self, source_key: str, target_key: str) -> None:
        """Copy an object of less than 5 GiB in one request."""
        source = self._prefix + source_key
        self._send(self._client.copy_object, self._sdk.CopyObjectRequest, target_key, source_key=source)

    def begin_upload(self, key: str) -> str:
        """Start a multipart upload and return its id."""
        request = self._sdk.InitiateMultipartUploadRequest
        return str(self._send(self._client.initiate_multipart_upload, request, key).upload_id)

    def upload_part(self, key: str, upload_id: str, number: int, body: BinaryIO) -> str:
        """Send part ``number``, counted from 1, and return its entity tag."""
        fields = {"upload_id": upload_id, "part_number": number, "body": body}
        return str(self._send(self._client.upload_part, self._sdk.UploadPartRequest, key, **fields).etag)

    def copy_part(
        self, key: str, upload_id: str, number: int, source_key: str, *, start: int, stop: int
    ) -> str:
        """Copy bytes ``start`` to ``stop`` (exclusive) of another object to part ``number``."""
        fields = {
            "upload_id": upload_id,
            "part_number": number,
            "source_key": self._prefix + source_key,
            "source_range": f"bytes={start}-{stop - 1}",
        }
        request = self._sdk.UploadPartCopyRequest
        return str(self._send(self._client.upload_part_copy, request, key, **fields).etag)

    def complete_upload(self, key: str, upload_id: str, etags: Sequence[str]) -> None:
        """Combine the parts with these entity tags into the visible object."""
        parts = [
            self._sdk.UploadPart(part_number=number, etag=etag) for number, etag in enumerate(etags, 1)
        ]
        fields = {
            "upload_id": upload_id,
            "complete_multipart_upload": self._sdk.CompleteMultipartUpload(parts=parts),
        }
        request = self._sdk.CompleteMultipartUploadRequest
        self._send(self._client.complete_multipart_upload, request, key, **fields)

    def abort_upload(self, key: str, upload_id: str) -> None:
        """Abort a multipart upload, with the short limits of clean-up requests."""
        request = self._sdk.AbortMultipartUploadRequest
        self._tidy(self._client.abort_multipart_upload, request, key, upload_id=upload_id)

    def _send(
        self, operation: Callable[..., Any], request: Callable[..., Any], key: str, **fields: Any
    ) -> Any:
        message = request(bucket=self.options.bucket, key=self._prefix + key, **fields)
        with translated_errors(key):
            return operation(message, operation_timeout=self.options.timeout)

    def _tidy(
        self, operation: Callable[..., Any], request: Callable[..., Any], key: str, **fields: Any
    ) -> None:
        message = request(bucket=self.options.bucket, key=self._prefix + key, **fields)
        with translated_errors(key):
            operation(message, **TIDYING_LIMITS)

    def _page(self, result: Any) -> Page:
        cut = len(self._prefix)
        # Web consoles create a marker object whose key is the prefix itself; skip it.
        objects = [
            ObjectStat(entry.key[cut:], entry.size, _milliseconds(entry.last_modified))
            for entry in result.contents or ()
            if entry.key != self._prefix
        ]
        return Page(objects, [entry.prefix[cut:] for entry in result.common_prefixes or ()])


def _range_headers(start: int, length: int | None) -> dict[str, str]:
    # By default OSS returns the whole object if the range ends beyond it; "standard" follows RFC 9110.
    stop = "" if length is None else start + length - 1
    return {"range_header": f"bytes={start}-{stop}", "range_behavior": "standard"}


def _chunks(body: Any, key: str) -> Iterator[bytes]:
    with translated_errors(key):
        yield from body.iter_bytes(block_size=CHUNK_SIZE)


def _milliseconds(moment: datetime | None) -> int | None:
    return int(moment.timestamp() * 1000) if moment else None
