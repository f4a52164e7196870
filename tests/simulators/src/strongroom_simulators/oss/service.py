"""Dispatches requests to operations."""

from collections.abc import Callable, Mapping
from pathlib import Path

from strongroom_simulators.oss.blobs import BlobFolder
from strongroom_simulators.oss.buckets import Bucket
from strongroom_simulators.oss.errors import OssError
from strongroom_simulators.oss.listing import list_objects
from strongroom_simulators.oss.multipart import MultipartOperations
from strongroom_simulators.oss.objects import ObjectOperations
from strongroom_simulators.oss.request import Request
from strongroom_simulators.oss.response import Response
from strongroom_simulators.oss.signature import SignatureVerifier

UNSUPPORTED = frozenset({"acl", "objectMeta", "symlink", "tagging", "versionId", "x-oss-process"})
"""Parameters of operations that this server does not implement."""

Operation = Callable[[Bucket, Request], Response]


class OssService:
    """The operations of the protocol on objects in a folder.

    Args:
        folder: the folder for the bytes.
        buckets: the buckets by name.
        verifier: verifies the signatures of requests.
        largest: the maximum size of an upload or copy request, in bytes.
    """

    def __init__(
        self,
        folder: Path,
        buckets: Mapping[str, Bucket],
        verifier: SignatureVerifier,
        *,
        largest: int,
    ) -> None:
        self._buckets = buckets
        self._verifier = verifier
        blobs = BlobFolder(folder)
        self._objects = ObjectOperations(blobs, largest=largest)
        self._multipart = MultipartOperations(blobs, self._objects)
        self._operations = self._table()

    def operation_name(self, request: Request) -> str:
        """Return the OSS name of the requested operation."""
        parameters, method = request.parameters, request.method
        if UNSUPPORTED & parameters.keys():
            return "Unsupported"
        if not request.key:
            return _bucket_operation(method, parameters)
        suffix = "Copy" if "x-oss-copy-source" in request.headers else ""
        if "uploadId" in parameters:
            return f"{_UPLOAD_OPERATIONS.get(method, 'Unsupported')}{suffix}"
        if method == "POST" and "uploads" in parameters:
            return "InitiateMultipartUpload"
        if method == "PUT" and suffix:
            return "CopyObject"
        return _OBJECT_OPERATIONS.get(method, "Unsupported")

    def answer(self, request: Request) -> Response:
        """Execute a request and return its response.

        Raises:
            OssError: the error response.
        """
        self._verifier.verify(request)
        bucket = self._buckets.get(request.bucket)
        if bucket is None:
            message = "The specified bucket does not exist."
            raise OssError(404, "NoSuchBucket", message, BucketName=request.bucket)
        operation = self._operations.get(self.operation_name(request))
        if operation is None:
            raise OssError(501, "NotImplemented", "The simulator does not know this operation.")
        return operation(bucket, request)

    def _table(self) -> Mapping[str, Operation]:
        return {
            "PutObject": self._objects.put,
            "GetObject": self._objects.get,
            "HeadObject": self._objects.head,
            "DeleteObject": self._objects.delete,
            "CopyObject": self._objects.copy,
            "InitiateMultipartUpload": self._multipart.initiate,
            "UploadPart": self._multipart.upload_part,
            "UploadPartCopy": self._multipart.upload_part_copy,
            "CompleteMultipartUpload": self._multipart.complete,
            "AbortMultipartUpload": self._multipart.abort,
            "ListParts": self._multipart.list_parts,
            "ListMultipartUploads": self._multipart.list_uploads,
            "ListObjectsV2": list_objects,
        }


_OBJECT_OPERATIONS = {
    "PUT": "PutObject",
    "GET": "GetObject",
    "HEAD": "HeadObject",
    "DELETE": "DeleteObject",
}
_UPLOAD_OPERATIONS = {
    "PUT": "UploadPart",
    "POST": "CompleteMultipartUpload",
    "DELETE": "AbortMultipartUpload",
    "GET": "ListParts",
}


def _bucket_operation(method: str, parameters: Mapping[str, str]) -> str:
    if method == "GET" and "uploads" in parameters:
        return "ListMultipartUploads"
    if method == "GET" and parameters.get("list-type") == "2":
        return "ListObjectsV2"
    return "Unsupported"
