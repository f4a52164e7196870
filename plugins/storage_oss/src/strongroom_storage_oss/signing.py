"""Signed URLs, with which clients access OSS directly."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from strongroom.plugin_api.storage import SignedRequest, StorageError
from strongroom_storage_oss.options import OssOptions
from strongroom_storage_oss.vendor import Connection, translated_errors

CONTENT_TYPE = "application/octet-stream"
LONGEST_LIFETIME = timedelta(days=7)

RESPONSE_HEADERS = {
    name: f"response_{name.replace('-', '_')}"
    for name in (
        "content-type",
        "content-disposition",
        "content-encoding",
        "content-language",
        "cache-control",
        "expires",
    )
}


class UrlSigner:
    """Signs requests for the public endpoint without sending them. Keys are relative to the prefix."""

    def __init__(self, options: OssOptions) -> None:
        self._bucket = options.bucket
        self._prefix = options.key_prefix
        self._connection = Connection(options, options.public_endpoint or options.endpoint)

    def close(self) -> None:
        """Close the SDK's connections."""
        self._connection.close()

    def download(self, key: str, lifetime: int, headers: Mapping[str, str]) -> str:
        """Return a URL of the object, with these response headers, valid for ``lifetime`` seconds.

        Raises:
            StorageError: OSS cannot override a header, or the lifetime is out of range.
        """
        unknown = [name for name in headers if name.lower() not in RESPONSE_HEADERS]
        if unknown:
            raise StorageError(f"OSS cannot override {', '.join(unknown)}")
        overrides = {RESPONSE_HEADERS[name.lower()]: value for name, value in headers.items()}
        return self._sign(self._connection.sdk.GetObjectRequest, key, lifetime, overrides).url

    def upload(self, key: str, lifetime: int, size: int) -> SignedRequest:
        """Return a request that creates the object from exactly ``size`` bytes.

        Raises:
            StorageError: ``lifetime`` is less than one second or more than seven days.
        """
        fields = {
            "content_type": CONTENT_TYPE,
            "content_length": size,
            # Otherwise the client could replace the bytes after they have been verified.
            "forbid_overwrite": True,
        }
        signed = self._sign(self._connection.sdk.PutObjectRequest, key, lifetime, fields)
        headers = {**signed.headers, "Content-Length": str(size)}
        return SignedRequest(signed.method, signed.url, headers)

    def _sign(self, request: Any, key: str, lifetime: int, fields: Mapping[str, Any]) -> SignedRequest:
        if not 0 < lifetime <= LONGEST_LIFETIME.total_seconds():
            raise StorageError("a signed URL must be valid for one second to seven days")
        message = request(bucket=self._bucket, key=self._prefix + key, **fields)
        # The SDK truncates the remaining time to whole seconds, which would lose one second.
        expires = min(timedelta(seconds=lifetime + 0.5), LONGEST_LIFETIME)
        with translated_errors(key):
            result = self._connection.client.presign(message, expires=expires)
        return SignedRequest(result.method, result.url, dict(result.signed_headers))
