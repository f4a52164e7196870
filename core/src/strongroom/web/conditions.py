"""Conditional requests (RFC 9110, section 13), evaluated in the order of section 13.2.2."""

from dataclasses import dataclass
from datetime import datetime

from flask import request
from werkzeug.datastructures import ETags
from werkzeug.http import parse_date

from strongroom.errors import PreconditionFailed


@dataclass(frozen=True, slots=True)
class Validators:
    """The validators of a representation (RFC 9110, section 8.8).

    Args:
        tag: the strong entity tag, without quotes.
        modified: the time of the last modification, with a resolution of one second.
    """

    tag: str
    modified: datetime | None

    @property
    def etag(self) -> str:
        """The value of the ETag header."""
        return f'"{self.tag}"'


def is_unchanged(current: Validators) -> bool:
    """Return whether the client already has the current version, so that the response is 304.

    Raises:
        PreconditionFailed: a precondition of the request is false.
    """
    if "If-Match" in request.headers:
        if not _matches(request.if_match, current.tag, strong=True):
            raise PreconditionFailed
    elif (since := _date("If-Unmodified-Since")) and current.modified and current.modified > since:
        raise PreconditionFailed
    reads = request.method in ("GET", "HEAD")
    if "If-None-Match" in request.headers:
        matches = _matches(request.if_none_match, current.tag, strong=False)
        if matches and not reads:
            raise PreconditionFailed
        return matches
    since = _date("If-Modified-Since")
    return reads and since is not None and current.modified is not None and current.modified <= since


def if_range_holds(current: Validators) -> bool:
    """Return whether a range may be served: If-Range is absent, or matches the current version."""
    condition = request.headers.get("If-Range")
    if condition is None:
        return True
    date = _date("If-Range")
    if date is not None:
        # Exact match, not "not later than" (section 13.1.5).
        return date == current.modified
    return condition.strip() == current.etag


def _date(header: str) -> datetime | None:
    """Return the date of a header, or ``None`` if it is invalid (section 13.1.3)."""
    try:
        return parse_date(request.headers.get(header))
    except OverflowError:
        # Werkzeug does not catch the error of a number that exceeds a C integer.
        return None


def _matches(tags: ETags, tag: str, *, strong: bool) -> bool:
    return tags.star_tag or tags.contains(tag) or (not strong and tags.contains_weak(tag))
