"""Parses and validates the request headers of tus 1.0."""

import base64
import binascii
from dataclasses import dataclass
from typing import Final

from flask import request

from strongroom.content.nodes.destinations import OnConflict, Target
from strongroom.content.nodes.names import chosen_name, parse_path
from strongroom.extensions.uploads.chunk_writer import Checksum, Piece
from strongroom.foundation import errors
from strongroom.foundation.media_types import BINARY
from strongroom.web.http.parsing import is_unstorable
from strongroom.web.http.uploads import announced_size, open_body

VERSION: Final = "1.0.0"
EXTENSIONS: Final = "creation,creation-with-upload,expiration,checksum,termination"
MEDIA_TYPE: Final = "application/offset+octet-stream"
MEDIA_TYPES: Final = frozenset({MEDIA_TYPE, BINARY})
"""The accepted media types: tus's, and the one that generators of REST clients know."""

CHECKSUM_ALGORITHMS: Final = ("sha256", "sha1")

_MAX_METADATA: Final = 8192
# Every number of 18 digits fits a signed 64-bit column.
_MAX_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class Metadata:
    """The ``Upload-Metadata`` of an upload: unchanged, and as decoded values by key."""

    text: str
    values: dict[str, str]

    def target(self, tenant_id: str) -> Target:
        """Return the destination of the file.

        Raises:
            ValidationFailed: the name is missing, the path is invalid, or the conflict rule is unknown.
        """
        path = self.values.get("relativePath")
        folders, last = parse_path(path) if path else ((), None)
        name = chosen_name(folders, last, self.values.get("filename") or self.values.get("name"))
        if not name:
            raise _invalid("Upload-Metadata", "Must contain the key filename.", "required")
        rule = self.values.get("onConflict", OnConflict.FAIL.value)
        if rule not in set(OnConflict):
            raise _invalid("Upload-Metadata", f"onConflict must be one of: {', '.join(OnConflict)}.")
        parent_id = self.values.get("parentId") or None
        return Target(tenant_id, parent_id, name, OnConflict(rule), folders)


def require_version() -> None:
    """Check that the request uses the supported version of tus.

    Raises:
        TusVersionUnsupported: ``Tus-Resumable`` is missing or names another version.
    """
    if request.headers.get("Tus-Resumable") != VERSION:
        raise errors.TusVersionUnsupported


def read_number(header: str) -> int:
    """Return the number in a header.

    Raises:
        ValidationFailed: the header is missing or is not a number.
    """
    text = request.headers.get(header, "")
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise _invalid(header, "Must be a whole number of bytes.", "invalid" if text else "required")
    return int(text)


def read_metadata() -> Metadata:
    """Parse ``Upload-Metadata``: pairs of a key and a Base64 value.

    Unknown keys are stored for the client, because common tus clients send several.

    Raises:
        ValidationFailed: the header is too long or malformed.
    """
    text = request.headers.get("Upload-Metadata", "")
    if len(text) > _MAX_METADATA:
        raise _invalid("Upload-Metadata", f"Must have at most {_MAX_METADATA} characters.")
    values: dict[str, str] = {}
    for pair in filter(None, (item.strip() for item in text.split(","))):
        key, _, encoded = pair.partition(" ")
        try:
            values[key] = base64.b64decode(encoded.strip(), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError) as error:
            raise _invalid("Upload-Metadata", f"The value of {key} must be Base64 of UTF-8.") from error
        if is_unstorable(values[key]):
            raise _invalid("Upload-Metadata", f"The value of {key} may not contain NUL.")
    return Metadata(text, values)


def has_piece() -> bool:
    """Return whether the creation request contains content (creation-with-upload).

    Raises:
        UnsupportedMediaType: the body has another media type.
    """
    if request.mimetype in MEDIA_TYPES:
        return True
    if request.content_length:
        raise errors.UnsupportedMediaType(f"The body must be of the type {MEDIA_TYPE}.")
    return False


def read_piece() -> Piece:
    """Return the request's body with its declared size and checksum.

    Raises:
        UnsupportedMediaType: the body has another media type.
        ValidationFailed: ``Upload-Checksum`` is malformed or names an unsupported algorithm.
    """
    if request.mimetype not in MEDIA_TYPES:
        raise errors.UnsupportedMediaType(f"The body must be of the type {MEDIA_TYPE}.")
    return Piece(open_body(), announced_size(), _read_checksum())


def refuse_other_extensions() -> None:
    """Reject headers of unsupported extensions that would change the meaning of the request.

    Raises:
        ValidationFailed: the request has such a header.
    """
    for header in ("Upload-Concat", "Upload-Defer-Length"):
        if header in request.headers:
            raise _invalid(header, "Unsupported extension; see Tus-Extension.", "unsupported")


def overridden_method() -> str:
    """Return the method in ``X-HTTP-Method-Override``.

    Raises:
        MalformedRequest: the header is missing, or is neither PATCH nor DELETE.
    """
    method = request.headers.get("X-HTTP-Method-Override", "").strip().upper()
    if method not in ("PATCH", "DELETE"):
        raise errors.MalformedRequest("X-HTTP-Method-Override must be PATCH or DELETE.")
    return method


def _read_checksum() -> Checksum | None:
    text = request.headers.get("Upload-Checksum")
    if text is None:
        return None
    algorithm, _, encoded = text.strip().partition(" ")
    if algorithm not in CHECKSUM_ALGORITHMS:
        message = f"The algorithm must be one of: {', '.join(CHECKSUM_ALGORITHMS)}."
        raise _invalid("Upload-Checksum", message, "unsupported-algorithm")
    try:
        return Checksum(algorithm, base64.b64decode(encoded.strip(), validate=True))
    except binascii.Error as error:
        raise _invalid("Upload-Checksum", 'Must have the form "sha256 BASE64".') from error


def _invalid(header: str, message: str, code: str = "invalid") -> errors.ValidationFailed:
    return errors.ValidationFailed.of_field(header, code, message)
