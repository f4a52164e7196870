"""Digests that a request announces of its content (RFC 9530)."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from flask import request

from strongroom.errors import DigestMismatch, ValidationFailed
from strongroom.plugin_api.storage import ByteSource

HEADERS: Final = ("Content-Digest", "Repr-Digest")
"""They differ for ranges and content codings only, and uploads have neither."""

_ALGORITHMS: Final = {"sha-256": "sha256", "sha-512": "sha512"}
_MEMBER = re.compile(r"\s*([a-z*][a-z0-9_.*-]*)\s*=\s*:([A-Za-z0-9+/=]*):\s*")


@dataclass(frozen=True, slots=True)
class AnnouncedDigest:
    """What a header says the content is to hash to. ``algorithm`` is hashlib's name for it."""

    algorithm: str
    expected: bytes


class HashedSource:
    """A source whose bytes are hashed as they pass, by each of the algorithms."""

    def __init__(self, source: ByteSource, algorithms: set[str]) -> None:
        self._source = source
        self._hashes = {name: hashlib.new(name) for name in algorithms}

    def read(self, size: int, /) -> bytes:
        chunk = self._source.read(size)
        for digest in self._hashes.values():
            digest.update(chunk)
        return chunk

    def digest(self, algorithm: str) -> bytes | None:
        """Return the digest of what has passed, if it was made."""
        digest = self._hashes.get(algorithm)
        return digest.digest() if digest else None


def require_match(announced: AnnouncedDigest, *actual: bytes | None) -> None:
    """Pass if one of the digests is the one announced.

    Raises:
        DigestMismatch: none is.
    """
    if not any(item and hmac.compare_digest(announced.expected, item) for item in actual):
        raise DigestMismatch


def announced_digests() -> list[AnnouncedDigest]:
    """Return what the request's headers announce.

    Raises:
        ValidationFailed: a header cannot be read, or holds no algorithm that could be checked: its
            sender would take the content for checked.
    """
    announced = []
    for header in HEADERS:
        if text := request.headers.get(header):
            known = list(_known(header, text))
            if not known:
                message = f"Must hold one of: {', '.join(_ALGORITHMS)}."
                raise ValidationFailed.of_field(header, "unsupported-algorithm", message)
            announced += known
    return announced


def _known(header: str, text: str) -> Iterator[AnnouncedDigest]:
    for member in text.split(","):
        match = _MEMBER.fullmatch(member)
        try:
            expected = base64.b64decode(match[2], validate=True) if match else None
        except binascii.Error:
            expected = None
        if match is None or expected is None:
            raise ValidationFailed.of_field(header, "invalid", "Must be like sha-256=:BASE64:")
        if algorithm := _ALGORITHMS.get(match[1]):
            yield AnnouncedDigest(algorithm, expected)
