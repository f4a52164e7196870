"""Conditional requests and byte ranges (RFC 9110, sections 13 and 14).

Conditions are evaluated in the order of section 13.2.2.
"""

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, NamedTuple

from flask import request
from werkzeug.datastructures import ETags
from werkzeug.http import parse_date

from strongroom.foundation.errors import PreconditionFailed, RangeNotSatisfiable
from strongroom.web.http.request import current_environ, header, method

MAX_RANGES: Final = 16
"""The maximum number of ranges; with more, or with overlaps, the whole is sent (section 14.2)."""

_CONDITIONS: Final = frozenset(
    {
        "HTTP_IF_MATCH",
        "HTTP_IF_NONE_MATCH",
        "HTTP_IF_MODIFIED_SINCE",
        "HTTP_IF_UNMODIFIED_SINCE",
    }
)
# At most 18 digits, so that a position fits into 64 bits and int() stays cheap.
_RANGE = re.compile(r"(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))")


class Validators(NamedTuple):
    """The validators of a representation (RFC 9110, section 8.8).

    Args:
        tag: the strong entity tag, without quotes.
        modified: the time of the last modification, with a resolution of one second.
        others: further tags that If-Match accepts.
    """

    tag: str
    modified: datetime | None
    others: tuple[str, ...] = ()

    @property
    def etag(self) -> str:
        """The value of the ETag header."""
        return f'"{self.tag}"'


def has_conditions(environ: Mapping[str, Any]) -> bool:
    """Return whether a request has a header with a precondition."""
    return not environ.keys().isdisjoint(_CONDITIONS)


def is_unchanged(current: Validators) -> bool:
    """Return whether the client already has the current version, so that the response is 304.

    Raises:
        PreconditionFailed: a precondition of the request is false.
    """
    if not has_conditions(current_environ()):
        return False
    if header("If-Match") is not None:
        tags = (current.tag, *current.others)
        if not any(_matches(request.if_match, tag, strong=True) for tag in tags):
            raise PreconditionFailed
    elif (since := _date("If-Unmodified-Since")) and current.modified and current.modified > since:
        raise PreconditionFailed
    reads = method() in ("GET", "HEAD")
    if header("If-None-Match") is not None:
        matches = _matches(request.if_none_match, current.tag, strong=False)
        if matches and not reads:
            raise PreconditionFailed
        return matches
    since = _date("If-Modified-Since")
    return reads and since is not None and current.modified is not None and current.modified <= since


def if_range_holds(current: Validators) -> bool:
    """Return whether a range may be served: If-Range is absent, or matches the current version."""
    condition = header("If-Range")
    if condition is None:
        return True
    date = _date("If-Range")
    if date is not None:
        # Exact match, not "not later than" (section 13.1.5).
        return date == current.modified
    return condition.strip() == current.etag


def _date(name: str) -> datetime | None:
    """Return the date of a header, or ``None`` if it is absent or invalid (section 13.1.3)."""
    value = header(name)
    try:
        return None if value is None else parse_date(value)
    except OverflowError:
        # Werkzeug does not catch the error of a number that exceeds a C integer.
        return None


def _matches(tags: ETags, tag: str, *, strong: bool) -> bool:
    return tags.star_tag or tags.contains(tag) or (not strong and tags.contains_weak(tag))


class Span(NamedTuple):
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
    # A range outside the representation is left out as long as another one is within.
    within = [span for span in spans if span.length > 0]
    if not within:
        raise RangeNotSatisfiable(size)
    return within if len(within) == 1 or not _overlap(within) else None


def _elements(text: str) -> Iterator[str]:
    # Recipients ignore empty elements of a list (RFC 9110, section 5.6.1.2).
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
