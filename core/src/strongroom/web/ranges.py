"""Byte ranges (RFC 9110, section 14), and the multipart body of several ranges."""

import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from strongroom.errors import RangeNotSatisfiable

MAX_RANGES: Final = 16
"""The maximum number of ranges; with more, or with overlaps, the whole is sent (section 14.2)."""

# At most 18 digits, so that a position fits into 64 bits and int() stays cheap.
_RANGE = re.compile(r"(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))")


@dataclass(frozen=True, slots=True)
class Span:
    """A range of bytes of a representation."""

    start: int
    length: int

    def content_range(self, size: int) -> str:
        """Return the Content-Range header of the span in a representation of ``size`` bytes."""
        return f"bytes {self.start}-{self.start + self.length - 1}/{size}"


def parse_ranges(header: str | None, size: int) -> list[Span] | None:
    """Parse a Range header for a representation of ``size`` bytes; ``None`` means all of it.

    An invalid header, or one in another unit, is ignored, as section 14.2 allows.

    Raises:
        RangeNotSatisfiable: all ranges are outside the representation.
    """
    unit, _, ranges = (header or "").partition("=")
    if unit.strip().lower() != "bytes":
        return None
    matches = [_RANGE.fullmatch(item) for item in _elements(ranges)]
    if not 1 <= len(matches) <= MAX_RANGES:
        return None
    spans = []
    for match in matches:
        if match is None or (match[2] and int(match[2]) < int(match[1])):
            return None
        spans.append(_span(match, size))
    within = [span for span in spans if span.length > 0]
    if not within:
        raise RangeNotSatisfiable(size)
    return within if len(within) == 1 or not _overlap(within) else None


def _elements(text: str) -> Iterator[str]:
    return (item.strip(" \t") for item in text.split(",") if item.strip(" \t"))


def _span(match: re.Match[str], size: int) -> Span:
    first, last, suffix = match.groups()
    if suffix is not None:
        length = min(int(suffix), size)
        return Span(size - length, length)
    stop = min(int(last) + 1, size) if last else size
    return Span(int(first), max(0, stop - int(first)))


def _overlap(spans: Sequence[Span]) -> bool:
    ordered = sorted(spans, key=lambda span: span.start)
    return any(before.start + before.length > after.start for before, after in pairwise(ordered))


class MultipartRanges:
    """A body of the type multipart/byteranges (section 14.6).

    Args:
        spans: the ranges, in the requested order.
        size: the size of the whole representation in bytes.
        content_type: its media type.
    """

    def __init__(self, spans: Sequence[Span], size: int, content_type: str) -> None:
        self._boundary = secrets.token_hex(16)
        self.media_type = f"multipart/byteranges; boundary={self._boundary}"
        self.parts = [(self._head(span, size, content_type), span) for span in spans]
        self.tail = f"\r\n--{self._boundary}--\r\n".encode()

    @property
    def length(self) -> int:
        """The length of the body in bytes."""
        return sum(len(head) + span.length for head, span in self.parts) + len(self.tail)

    def _head(self, span: Span, size: int, content_type: str) -> bytes:
        return (
            f"\r\n--{self._boundary}\r\nContent-Type: {content_type}\r\n"
            f"Content-Range: {span.content_range(size)}\r\n\r\n"
        ).encode()
