"""Operations on objects."""

from collections.abc import Mapping
from urllib.parse import unquote

from strongroom_simulators.oss.blobs import Blob, BlobFolder, pieces_of_body, pieces_of_file
from strongroom_simulators.oss.buckets import Bucket, StoredObject
from strongroom_simulators.oss.errors import OssError, invalid_argument
from strongroom_simulators.oss.ranges import resolve_range
from strongroom_simulators.oss.request import Request
from strongroom_simulators.oss.response import Response, document, http_time, iso_time

KEPT_HEADERS = ("content-type", "content-disposition", "content-encoding", "cache-control", "expires")
RESPONSE_OVERRIDES = {
    f"response-{name}": name.title()
    for name in (
        "content-type",
        "content-disposition",
        "content-encoding",
        "content-language",
        "cache-control",
        "expires",
    )
}


class ObjectOperations:
    """Operations on objects. ``largest`` is the maximum size of an upload or copy request, in bytes."""

    def __init__(self, blobs: BlobFolder, *, largest: int) -> None:
        self._blobs = blobs
        self._largest = largest

    def put(self, bucket: Bucket, request: Request) -> Response:
        """PutObject."""
        blob = self.receive(request)
        stored = StoredObject(request.key, blob, "Normal", request.received_at, kept_headers(request))
        bucket.publish(stored, overwrite=may_overwrite(request))
        return Response(200, written_headers(blob))

    def get(self, bucket: Bucket, request: Request) -> Response:
        """GetObject."""
        stored, file = bucket.open(request.key)
        try:
            standard = request.headers.get("x-oss-range-behavior") == "standard"
            part = resolve_range(request.headers.get("Range"), stored.blob.size, standard=standard)
        except OssError:
            file.close()
            raise
        start, length = part or (0, stored.blob.size)
        file.seek(start)
        headers = _object_headers(stored) | _overrides(request.parameters)
        if part:
            headers["Content-Range"] = f"bytes {start}-{start + length - 1}/{stored.blob.size}"
        return Response(206 if part else 200, headers, pieces_of_file(file, length), length)

    def head(self, bucket: Bucket, request: Request) -> Response:
        """HeadObject."""
        stored = bucket.get(request.key)
        return Response(200, _object_headers(stored), (), stored.blob.size)

    def delete(self, bucket: Bucket, request: Request) -> Response:
        """DeleteObject."""
        bucket.delete(request.key)
        return Response(204)

    def copy(self, bucket: Bucket, request: Request) -> Response:
        """CopyObject."""
        source, file = bucket.open(copy_source(bucket, request))
        if source.blob.size > self._largest:
            file.close()
            raise OssError(400, "EntityTooLarge", "The object is too large to be copied in one request.")
        blob = self._blobs.write(pieces_of_file(file, source.blob.size))
        replace = request.headers.get("x-oss-metadata-directive", "COPY").upper() == "REPLACE"
        headers = kept_headers(request) if replace else source.headers
        stored = StoredObject(request.key, blob, "Normal", request.received_at, headers)
        bucket.publish(stored, overwrite=may_overwrite(request))
        content = [("LastModified", iso_time(request.received_at)), ("ETag", f'"{blob.etag}"')]
        return document("CopyObjectResult", content, {"x-oss-hash-crc64ecma": str(blob.crc64)})

    def receive(self, request: Request) -> Blob:
        """Store the request's body as a blob."""
        if not request.declares_length:
            raise OssError(411, "MissingContentLength", "You must provide the Content-Length header.")
        blob = self._blobs.write(pieces_of_body(request.body, at_most=self._largest))
        try:
            blob.check_digest(request.headers.get("Content-MD5"))
        except OssError:
            blob.path.unlink()
            raise
        return blob


def kept_headers(request: Request) -> Mapping[str, str]:
    """Return the headers of an upload that are stored with the object."""
    return {
        name: value
        for name, value in request.headers.items()
        if name.lower() in KEPT_HEADERS or name.lower().startswith("x-oss-meta-")
    }


def may_overwrite(request: Request) -> bool:
    """Return whether an existing object may be replaced."""
    return request.headers.get("x-oss-forbid-overwrite", "false").lower() != "true"


def written_headers(blob: Blob) -> dict[str, str]:
    """Return the response headers of an upload: the digests of the received bytes."""
    return {"ETag": f'"{blob.etag}"', "x-oss-hash-crc64ecma": str(blob.crc64)}


def copy_source(bucket: Bucket, request: Request) -> str:
    """Return the key of the copy source, which must be in the same bucket."""
    name, _, key = unquote(request.headers["x-oss-copy-source"]).removeprefix("/").partition("/")
    if name != bucket.name or not key:
        raise invalid_argument("Copy source must be /bucket/key, of the same bucket.")
    return key


def _object_headers(stored: StoredObject) -> dict[str, str]:
    return {
        "Content-Type": "application/octet-stream",
        **stored.headers,
        "Accept-Ranges": "bytes",
        "ETag": f'"{stored.blob.etag}"',
        "Last-Modified": http_time(stored.modified_at),
        "x-oss-hash-crc64ecma": str(stored.blob.crc64),
        "x-oss-object-type": stored.kind,
        "x-oss-storage-class": "Standard",
    }


def _overrides(parameters: Mapping[str, str]) -> dict[str, str]:
    return {
        header: parameters[parameter]
        for parameter, header in RESPONSE_OVERRIDES.items()
        if parameter in parameters
    }
