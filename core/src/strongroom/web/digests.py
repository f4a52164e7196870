"""The digests of request content that clients announce (RFC 9530)."""

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
"""They differ only for ranges and content codings, which uploads do not have."""

_ALGORITHMS: Final = {"sha-256": "sha256", "sha-512": "sha512"}
_MEMBER = re.compile(r"\s*([a-z*][a-z0-9_.*-]*)\s*=\s*:([A-Za-z0-9+/=]*):\s*")


@dataclass(frozen=True, slots=True)
class AnnouncedDigest:
    """The expected digest of the content. ``algorithm`` is its name in hashlib."""

    algorithm: str
    expected: bytes


class HashedSource:
    """A source that hashes its bytes with each algorithm while they are read."""

    def __init__(self, source: ByteSource, algorithms: set[str]) -> None:
        self._source = source
        self._hashes = {name: hashlib.new(name) for name in algorithms}

    def read(self, size: int, /) -> bytes:
        chunk = self._source.read(size)
        for digest in self._hashes.values():
            digest.update(chunk)
        return chunk

    def digest(self, algorithm: str) -> bytes | None:
        """Return the digest of the bytes read so far, or ``None`` for another algorithm."""
        digest = self._hashes.get(algorithm)
        return digest.digest() if digest else None


def require_match(announced: AnnouncedDigest, *actual: bytes | None) -> None:
    """Check that one of the actual digests equals the announced one.

    Raises:
        DigestMismatch: none is equal.
    """
    if not any(item and hmac.compare_digest(announced.expected, item) for item in actual):
        raise DigestMismatch


def announced_digests() -> list[AnnouncedDigest]:
    """Return the digests of the request headers.

    Raises:
        ValidationFailed: a header is malformed, or has no supported algorithm. Ignoring it would make
            the client believe that the content was verified.
    """
    announced = []
    for header in HEADERS:
        if text := request.headers.get(header):
            known = list(_known(header, text))
            if not known:
                message = f"Must have one of: {', '.join(_ALGORITHMS)}."
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
