"""Multipart uploads."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from strongroom_simulators.oss.blobs import Blob, BlobFolder, pieces_of_file
from strongroom_simulators.oss.buckets import Bucket, StoredObject, Upload
from strongroom_simulators.oss.errors import OssError, invalid_argument
from strongroom_simulators.oss.objects import (
    ObjectOperations,
    copy_source,
    kept_headers,
    may_overwrite,
    written_headers,
)
from strongroom_simulators.oss.request import CHUNK_SIZE, Request
from strongroom_simulators.oss.response import Element, Response, document, iso_time

MOST_PARTS = 10_000
SMALLEST_PART = 100 * 1024


class MultipartOperations:
    """Operations on multipart uploads."""

    def __init__(self, blobs: BlobFolder, objects: ObjectOperations) -> None:
        self._blobs = blobs
        self._objects = objects

    def initiate(self, bucket: Bucket, request: Request) -> Response:
        """InitiateMultipartUpload."""
        upload = Upload(request.key, kept_headers(request), request.received_at)
        bucket.begin_upload(upload)
        return document("InitiateMultipartUploadResult", _names(bucket, upload))

    def upload_part(self, bucket: Bucket, request: Request) -> Response:
        """UploadPart."""
        upload, number = _upload(bucket, request), _part_number(request)
        part = self._objects.receive(request)
        bucket.add_part(upload, number, part)
        return Response(200, written_headers(part))

    def upload_part_copy(self, bucket: Bucket, request: Request) -> Response:
        """UploadPartCopy."""
        upload, number = _upload(bucket, request), _part_number(request)
        source, file = bucket.open(copy_source(bucket, request))
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("x-oss-copy-source-range", ""))
        start, stop = (int(match[1]), int(match[2]) + 1) if match else (0, source.blob.size)
        file.seek(start)
        part = self._blobs.write(pieces_of_file(file, stop - start))
        bucket.add_part(upload, number, part)
        return document(
            "CopyPartResult",
            [("LastModified", iso_time(request.received_at)), ("ETag", f'"{part.etag}"')],
        )

    def complete(self, bucket: Bucket, request: Request) -> Response:
        """CompleteMultipartUpload."""
        upload = _upload(bucket, request)
        parts = _chosen_parts(upload, _read_manifest(request))
        bucket.end_upload(upload)
        blob = self._blobs.join(parts)
        upload.remove_parts()
        stored = StoredObject(upload.key, blob, "Multipart", request.received_at, upload.headers)
        bucket.publish(stored, overwrite=may_overwrite(request))
        content = [*_names(bucket, upload), ("ETag", f'"{blob.etag}"')]
        headers = {"x-oss-hash-crc64ecma": str(blob.crc64)}
        return document("CompleteMultipartUploadResult", content, headers)

    def abort(self, bucket: Bucket, request: Request) -> Response:
        """AbortMultipartUpload."""
        upload = _upload(bucket, request)
        bucket.end_upload(upload)
        upload.remove_parts()
        return Response(204)

    def list_parts(self, bucket: Bucket, request: Request) -> Response:
        """ListParts."""
        upload = _upload(bucket, request)
        parts: list[Element] = [
            (
                "Part",
                [
                    ("PartNumber", number),
                    ("LastModified", iso_time(request.received_at)),
                    ("ETag", f'"{part.etag}"'),
                    ("HashCrc64ecma", part.crc64),
                    ("Size", part.size),
                ],
            )
            for number, part in sorted(upload.parts.items())
        ]
        content: list[Element] = [*_names(bucket, upload), ("IsTruncated", "false"), *parts]
        return document("ListPartsResult", content)

    def list_uploads(self, bucket: Bucket, request: Request) -> Response:
        """ListMultipartUploads."""
        prefix = request.parameters.get("prefix", "")
        uploads: list[Element] = [
            (
                "Upload",
                [
                    ("Key", upload.key),
                    ("UploadId", upload.id),
                    ("Initiated", iso_time(upload.initiated_at)),
                ],
            )
            for upload in bucket.uploads()
            if upload.key.startswith(prefix)
        ]
        content: list[Element] = [("Bucket", bucket.name), ("IsTruncated", "false"), *uploads]
        return document("ListMultipartUploadsResult", content)


def _names(bucket: Bucket, upload: Upload) -> list[Element]:
    return [("Bucket", bucket.name), ("Key", upload.key), ("UploadId", upload.id)]


def _upload(bucket: Bucket, request: Request) -> Upload:
    return bucket.upload(request.parameters["uploadId"], request.key)


def _part_number(request: Request) -> int:
    number = request.parameters.get("partNumber", "")
    if not number.isdecimal() or not 1 <= int(number) <= MOST_PARTS:
        raise invalid_argument("Part number must be an integer between 1 and 10000.", PartNumber=number)
    return int(number)


def _read_manifest(request: Request) -> list[tuple[int, str]]:
    body = b"".join(iter(lambda: request.body.read(CHUNK_SIZE), b""))
    try:
        root = ET.fromstring(body)
        return [
            (int(part.findtext("PartNumber", "")), part.findtext("ETag", "").strip('"'))
            for part in root.iter("Part")
        ]
    except (ET.ParseError, ValueError):
        message = "The XML you provided was not well-formed."
        raise OssError(400, "MalformedXML", message) from None


def _chosen_parts(upload: Upload, manifest: Sequence[tuple[int, str]]) -> list[Blob]:
    numbers = [number for number, _ in manifest]
    if numbers != sorted(set(numbers)):
        raise OssError(400, "InvalidPartOrder", "The list of parts was not in ascending order.")
    if not manifest:
        raise OssError(400, "MalformedXML", "At least one part must be named.")
    parts = [upload.parts.get(number) for number in numbers]
    chosen = [part for part in parts if part]
    if [part.etag for part in chosen] != [etag.upper() for _, etag in manifest]:
        raise OssError(400, "InvalidPart", "One or more of the specified parts could not be found.")
    if any(part.size < SMALLEST_PART for part in chosen[:-1]):
        raise OssError(400, "EntityTooSmall", "Your proposed upload is too small.")
    return chosen
