"""The header fields of the API, with their descriptions."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

REQUEST_HEADERS: Final[Mapping[str, str]] = {
    "Accept-Language": "The languages of messages and pages, by preference.",
    "Content-Digest": "Digests of the body (RFC 9530); the upload is refused if one differs.",
    "Content-Disposition": "The name of a raw body: `attachment; filename*=UTF-8''name` (RFC 6266).",
    "Idempotency-Key": "A unique key, such as a UUID: a repeated request with it gets the first answer.",
    "If-Match": "The ETag that the resource must have, or `*` (RFC 9110, section 13.1.1).",
    "If-Modified-Since": "Send the content only if it changed since (RFC 9110, section 13.1.3).",
    "If-None-Match": "Send the content only if its ETag differs (RFC 9110, section 13.1.2).",
    "If-Range": "Send the range only if the ETag is unchanged (RFC 9110, section 13.1.5).",
    "If-Unmodified-Since": "Proceed only if it has not changed since (RFC 9110, section 13.1.4).",
    "Last-Event-ID": "The id of the last received event, instead of `cursor` (server-sent events).",
    "Lock-Token": "The ids of own locks of what is changed, separated by commas.",
    "Range": "The requested byte ranges: `bytes=0-1023` (RFC 9110, section 14.2).",
    "Repr-Digest": "Digests of the whole representation (RFC 9530).",
    "Tus-Resumable": "The version of tus: `1.0.0`.",
    "Upload-Checksum": "The algorithm and the Base64 digest of the body (tus, checksum extension).",
    "Upload-Length": "The size of the whole upload, in bytes.",
    "Upload-Metadata": "Keys with Base64 values: `filename`, `parentId`, `onConflict`.",
    "Upload-Offset": "The offset of the body: the number of bytes that the server already has.",
    "Want-Content-Digest": "Request a digest of the content (RFC 9530).",
    "X-Captcha": "A solved captcha for a GET, as `{id}.{answer}`.",
    "X-Device-Id": "The id of the device, for the rate limit of verification codes: one that the "
    "server has issued, or any other text that no other device uses.",
    "X-HTTP-Method-Override": "PATCH or DELETE, for clients that can send neither.",
    "X-Refresh-Token": "The refresh token, instead of in the body.",
    "X-Request-Id": "An id for the request: up to 64 letters, digits, dots, hyphens, underscores.",
    "X-Verification-Code": "A verification code for a DELETE, as `{id}.{code}`.",
}
"""The request headers that routes read, with their descriptions for OpenAPI."""

RESPONSE_HEADERS: Final[Mapping[str, str]] = {
    "Accept-Ranges": "`bytes`: byte ranges are supported.",
    "Access-Control-Expose-Headers": "The headers that scripts may read.",
    "Content-Digest": "The SHA-256 of the content (RFC 9530), if requested.",
    "Content-Disposition": "How to present the content, and its file name (RFC 6266).",
    "Content-Location": "The URL of the sent content, for resuming by GET.",
    "Content-Range": "The sent range, and the total size in bytes.",
    "ETag": "The version of the resource, for If-Match and If-None-Match.",
    "Idempotency-Replayed": "`true`: the answer is the stored one of an earlier request.",
    "Last-Modified": "The time of the last change of the content.",
    "Location": "The URL of the created resource, or of the redirect.",
    "Retry-After": "Seconds to wait before the next attempt.",
    "Tus-Checksum-Algorithm": "The algorithms that Upload-Checksum supports.",
    "Tus-Extension": "The supported extensions of tus.",
    "Tus-Max-Size": "The largest upload, in bytes.",
    "Tus-Resumable": "The version of tus: `1.0.0`.",
    "Tus-Version": "The supported versions of tus.",
    "Upload-Expires": "The time at which an incomplete upload is deleted.",
    "Upload-Length": "The size of the whole upload, in bytes.",
    "Upload-Metadata": "The metadata that the upload was created with.",
    "Upload-Offset": "The number of bytes received.",
    "WWW-Authenticate": "How to authenticate (RFC 6750, section 3).",
    "X-Access-Token": "The access token, a JWT.",
    "X-Device-Id": "A new id, if the request has none; to be sent from then on.",
    "X-Refresh-Token": "The refresh token, for single use.",
    "X-Request-Id": "The id of the request, which also appears in the server's log.",
}
"""The response headers of the API, with their descriptions for OpenAPI."""

CONDITIONS: Final = ("If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since")
DOWNLOAD_REQUEST: Final = ("Range", "If-Range", *CONDITIONS, "Want-Content-Digest")
DOWNLOAD_RESPONSE: Final = (
    "Accept-Ranges",
    "Content-Digest",
    "Content-Disposition",
    "Content-Range",
    "ETag",
    "Last-Modified",
)
UPLOAD_REQUEST: Final = ("Content-Disposition", "Content-Digest")
TOKEN_RESPONSE: Final = ("X-Access-Token", "X-Refresh-Token", "Access-Control-Expose-Headers")

_BY_STATUS: Final[Mapping[str, tuple[str, ...]]] = {
    "401": ("WWW-Authenticate",),
    "429": ("Retry-After",),
    "503": ("Retry-After",),
}
_EVERYWHERE: Final = ("X-Request-Id",)


def request_header(name: str, description: str) -> dict[str, Any]:
    """Return the OpenAPI parameter of an optional request header."""
    return {"in": "header", "name": name, "description": description, "schema": {"type": "string"}}


def response_headers(status: str, own: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """Return the OpenAPI ``headers`` of a response: its own, by name, and its status's."""
    common = {name: RESPONSE_HEADERS[name] for name in (*_BY_STATUS.get(status, ()), *_EVERYWHERE)}
    return {
        name: {"description": description, "schema": {"type": "string"}}
        for name, description in {**own, **common}.items()
    }
