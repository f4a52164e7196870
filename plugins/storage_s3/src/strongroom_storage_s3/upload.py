"""Writes objects of any size: one request for up to one part, a parallel multipart upload above."""

import hashlib
from base64 import b64encode
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from strongroom.plugin_api.storage import StorageError
from strongroom_storage_s3.errors import translated_errors


class Upload:
    """A write of one object, as a context manager: commits on success, aborts on an exception.

    It holds at most ``parts_in_flight + 1`` parts in memory.

    Args:
        client: the boto3 client.
        target: ``Bucket`` and ``Key``.
        part_bytes: the size of a part in bytes.
        parts_in_flight: the number of parts sent concurrently.
        attributes: further parameters of PutObject and CreateMultipartUpload.
    """

    def __init__(
        self,
        client: Any,
        target: Mapping[str, str],
        *,
        part_bytes: int,
        parts_in_flight: int,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        self.size = 0
        self._client = client
        self._target = target
        self._attributes = attributes or {}
        self._part_bytes = part_bytes
        self._parts_in_flight = parts_in_flight
        self._part = bytearray()
        self._multipart: _Multipart | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.commit()
        else:
            self.abort()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Append bytes. Blocks while ``parts_in_flight`` parts are being sent.

        Raises:
            StorageError: an earlier part could not be stored.
        """
        rest = memoryview(data).cast("B")
        self.size += len(rest)
        while rest:
            # A full part is sent only when more bytes follow, so an object of exactly one part
            # needs one request instead of a multipart upload.
            if len(self._part) == self._part_bytes:
                self._send_part()
            piece = rest[: self._part_bytes - len(self._part)]
            self._part += piece
            rest = rest[len(piece) :]

    def commit(self) -> None:
        """Make the object visible; abort the upload if that fails.

        Raises:
            StorageError: the object was not stored.
        """
        try:
            if self._multipart is None:
                self._put()
            else:
                self._send_part()
                self._multipart.complete()
        except BaseException:
            self.abort()
            raise

    def abort(self) -> None:
        """Discard the bytes written, including parts that the store has received."""
        if self._multipart is not None:
            self._multipart.abort()

    def _put(self) -> None:
        with translated_errors():
            # With Object Lock, stores demand the digest in any case.
            endpoint = "https:" if self._attributes else self._client.meta.endpoint_url
            digest = digest_header(endpoint, self._part)
            self._client.put_object(**self._target, **self._attributes, **digest, Body=self._part)

    def _send_part(self) -> None:
        if self._multipart is None:
            self._multipart = _Multipart(
                self._client, self._target, self._attributes, in_flight=self._parts_in_flight
            )
        part, self._part = self._part, bytearray()
        self._multipart.send(part)


class _Multipart:
    def __init__(
        self, client: Any, target: Mapping[str, str], attributes: Mapping[str, Any], *, in_flight: int
    ) -> None:
        with translated_errors():
            response = client.create_multipart_upload(**target, **attributes)
        self._client = client
        self._upload = {**target, "UploadId": response["UploadId"]}
        self._in_flight = in_flight
        self._pool = ThreadPoolExecutor(in_flight, thread_name_prefix="s3-part")
        self._parts: list[Future[dict[str, Any]]] = []

    def send(self, body: bytearray) -> None:
        if len(self._parts) >= self._in_flight:
            # Wait for the oldest part in flight: it bounds the memory, and raises its error early.
            self._parts[-self._in_flight].result()
        self._parts.append(self._pool.submit(self._send, len(self._parts) + 1, body))

    def complete(self) -> None:
        parts = [part.result() for part in self._parts]
        with translated_errors():
            self._client.complete_multipart_upload(**self._upload, MultipartUpload={"Parts": parts})
        self._pool.shutdown()

    def abort(self) -> None:
        # A part that arrives after the abort would remain in the store, so wait for parts in flight.
        self._pool.shutdown(cancel_futures=True)
        # A failure here must not replace the original error; lifecycle rules also remove the upload.
        with suppress(StorageError), translated_errors():
            self._client.abort_multipart_upload(**self._upload)

    def _send(self, number: int, body: bytearray) -> dict[str, Any]:
        with translated_errors():
            digest = digest_header(self._client.meta.endpoint_url, body)
            response = self._client.upload_part(**self._upload, **digest, PartNumber=number, Body=body)
        return {"PartNumber": number, "ETag": response["ETag"]}


def digest_header(endpoint_url: str, body: bytearray) -> dict[str, str]:
    """Return the ``ContentMD5`` parameter, with which every store rejects corrupted bytes.

    Without TLS it is empty, because botocore then signs the SHA-256 of the body.
    """
    if not endpoint_url.startswith("https:"):
        return {}
    return {"ContentMD5": b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()}
