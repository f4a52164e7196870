"""The headers of tus 1.0, as requests carry them."""

import base64
import binascii
from dataclasses import dataclass
from typing import Final

from flask import request

from strongroom.errors import (
    MalformedRequest,
    TusVersionUnsupported,
    UnsupportedMediaType,
    ValidationFailed,
)
from strongroom.files.filing import OnConflict, Target
from strongroom.uploads.chunk_writer import Checksum, Piece
from strongroom.web.json_input import is_unstorable
from strongroom.web.uploads import announced_size, open_body

VERSION: Final = "1.0.0"
EXTENSIONS: Final = "creation,creation-with-upload,expiration,checksum,termination"
MEDIA_TYPE: Final = "application/offset+octet-stream"
CHECKSUM_ALGORITHMS: Final = ("sha256", "sha1")

_MAX_METADATA: Final = 8192
_MAX_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a client says of an upload: word for word, and by key."""

    text: str
    values: dict[str, str]

    def target(self, tenant_id: str) -> Target:
        """Return where the file is to go.

        Raises:
            ValidationFailed: it has no name, or a conflict rule that there is not.
        """
        name = self.values.get("filename") or self.values.get("name")
        if not name:
            raise _invalid("Upload-Metadata", "Must hold the key filename.", "required")
        rule = self.values.get("onConflict", OnConflict.FAIL.value)
        if rule not in set(OnConflict):
            raise _invalid("Upload-Metadata", f"onConflict must be one of: {', '.join(OnConflict)}.")
        return Target(tenant_id, self.values.get("parentId") or None, name, OnConflict(rule))


def require_version() -> None:
    """Pass if the client speaks the version that is spoken here.

    Raises:
        TusVersionUnsupported: it speaks another, or does not say which.
    """
    if request.headers.get("Tus-Resumable") != VERSION:
        raise TusVersionUnsupported


def read_number(header: str) -> int:
    """Return the number that a header holds.

    Raises:
        ValidationFailed: the header is missing, or holds none.
    """
    text = request.headers.get(header, "")
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise _invalid(header, "Must be a whole number of bytes.", "invalid" if text else "required")
    return int(text)


def read_metadata() -> Metadata:
    """Return what ``Upload-Metadata`` holds: pairs of a key and a value in Base64.

    Keys that mean nothing here are kept for the client: programs of others send many.

    Raises:
        ValidationFailed: it cannot be read.
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
            raise _invalid("Upload-Metadata", f"The value of {key} may not hold NUL.")
    return Metadata(text, values)


def has_piece() -> bool:
    """Return whether the request that begins an upload brings bytes of it already.

    Raises:
        UnsupportedMediaType: it brings something else.
    """
    if request.mimetype == MEDIA_TYPE:
        return True
    if request.content_length:
        raise UnsupportedMediaType(f"The body must be of the type {MEDIA_TYPE}.")
    return False


def read_piece() -> Piece:
    """Return the bytes that the request brings.

    Raises:
        UnsupportedMediaType: they are called something else.
        ValidationFailed: they are to hash to something that cannot be checked.
    """
    if request.mimetype != MEDIA_TYPE:
        raise UnsupportedMediaType(f"The body must be of the type {MEDIA_TYPE}.")
    return Piece(open_body(), announced_size(), _read_checksum())


def refuse_other_extensions() -> None:
    """Refuse headers that would change what the request means."""
    for header in ("Upload-Concat", "Upload-Defer-Length"):
        if header in request.headers:
            raise _invalid(header, "This extension is not offered; see Tus-Extension.", "unsupported")


def overridden_method() -> str:
    """Return the method that ``X-HTTP-Method-Override`` names.

    Raises:
        MalformedRequest: it names none.
    """
    method = request.headers.get("X-HTTP-Method-Override", "").strip().upper()
    if method not in ("PATCH", "DELETE"):
        raise MalformedRequest("A POST here must have X-HTTP-Method-Override: PATCH, or DELETE.")
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
        raise _invalid("Upload-Checksum", "Must be like: sha256 BASE64.") from error


def _invalid(header: str, message: str, code: str = "invalid") -> ValidationFailed:
    return ValidationFailed.of_field(header, code, message)
