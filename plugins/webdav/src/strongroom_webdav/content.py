"""The content of a PUT: its announced size and digests, and the stream that verifies them."""

import base64
import binascii
import hashlib
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from strongroom.plugin_api.storage import ByteSource
from strongroom_webdav.errors import DavError
from strongroom_webdav.requests import DavRequest

_MEMBER: Final = re.compile(r"\s*(?P<name>[a-z0-9-]+)\s*=\s*:(?P<value>[A-Za-z0-9+/=]*):\s*")


class _Adler32:
    """The checksum of zlib, in the form of hashlib."""

    def __init__(self) -> None:
        self._value = 1

    def update(self, data: bytes) -> None:
        self._value = zlib.adler32(data, self._value)

    def hexdigest(self) -> str:
        return f"{self._value:08x}"


_ALGORITHMS: Final[Mapping[str, Callable[[], Any]]] = {
    "md5": lambda: hashlib.md5(usedforsecurity=False),
    "sha1": lambda: hashlib.sha1(usedforsecurity=False),
    "sha512": hashlib.sha512,
    "adler32": _Adler32,
}
"""The algorithms other than SHA-256, which the server computes anyway."""

_SPELLINGS: Final = {"sha": "sha1", "sha-1": "sha1", "sha-256": "sha256", "sha-512": "sha512"}


@dataclass(slots=True)
class ContentSource:
    """The body of a request, which must have the announced size and digests.

    Args:
        size: bytes; ``None`` if it is not known.
        is_chunked: whether the body may be longer than ``size``.
        digests: the expected digests in hexadecimal digits, by algorithm.
    """

    _source: ByteSource
    size: int | None
    is_chunked: bool
    digests: Mapping[str, str]
    _hashes: dict[str, Any] = field(init=False)
    _received: int = 0
    _is_verified: bool = False

    def __post_init__(self) -> None:
        self._hashes = {name: _ALGORITHMS[name]() for name in self.digests if name in _ALGORITHMS}

    @property
    def checksum(self) -> str | None:
        """The expected SHA-256, which the server compares."""
        return self.digests.get("sha256")

    def read(self, size: int, /) -> bytes:
        """Return the next piece.

        Raises:
            DavError: the content does not have the announced size or digest.
        """
        piece = self._source.read(size)
        self._received += len(piece)
        for one in self._hashes.values():
            one.update(piece)
        # The server does not read further than the announced size.
        if not self._is_verified and (not piece or self._received == self.size):
            self._verify()
        return piece

    def _verify(self) -> None:
        self._is_verified = True
        if self.is_chunked and self.size is not None and self._source.read(1):
            raise DavError(HTTPStatus.BAD_REQUEST, "The body is longer than announced.")
        if any(one.hexdigest() != self.digests[name] for name, one in self._hashes.items()):
            raise DavError(HTTPStatus.BAD_REQUEST, "The content does not match the announced digest.")


def open_content(request: DavRequest) -> ContentSource:
    """Return the content of a PUT.

    macOS sends chunked bodies, and their length in ``X-Expected-Entity-Length``. A chunked body with
    neither a length nor a digest is refused, because one that breaks off would look complete.

    Raises:
        DavError: 400, 411 or 415.
    """
    if request.header("Content-Range") is not None:
        raise DavError(HTTPStatus.BAD_REQUEST, "Partial uploads are not supported.")
    if (request.header("Content-Encoding") or "identity").strip().lower() != "identity":
        raise DavError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Content-Encoding is not supported.")
    size, digests = request.content_length, dict(_announced_digests(request))
    is_chunked = size is None
    expected = (request.header("X-Expected-Entity-Length") or "").strip()
    if is_chunked and expected.isascii() and expected.isdecimal():
        size = int(expected[:20])
    if size is None and not digests:
        text = "A chunked body needs X-Expected-Entity-Length or a digest."
        raise DavError(HTTPStatus.LENGTH_REQUIRED, text)
    return ContentSource(request.environ["wsgi.input"], size, is_chunked, digests)


def _announced_digests(request: DavRequest) -> Iterator[tuple[str, str]]:
    """Return the digests of Content-Digest and Repr-Digest (RFC 9530), and of ownCloud's clients."""
    for header in ("Content-Digest", "Repr-Digest"):
        for member in filter(None, (request.header(header) or "").split(",")):
            match = _MEMBER.fullmatch(member)
            if match is None:
                raise DavError(HTTPStatus.BAD_REQUEST, f"{header} is malformed.")
            yield from _supported(match["name"], _from_base64(match["value"]))
    for member in (request.header("OC-Checksum") or "").split():
        name, _, value = member.partition(":")
        yield from _supported(name.lower(), value.lower())


def _supported(name: str, value: str) -> Iterator[tuple[str, str]]:
    name = _SPELLINGS.get(name, name)
    if name == "sha256" or name in _ALGORITHMS:
        yield name, value


def _from_base64(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).hex()
    except binascii.Error as error:
        raise DavError(HTTPStatus.BAD_REQUEST, "A digest is malformed.") from error
