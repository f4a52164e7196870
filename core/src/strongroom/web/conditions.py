"""Conditional requests (RFC 9110, section 13), in the order that 13.2.2 gives them."""

from dataclasses import dataclass
from datetime import datetime

from flask import request
from werkzeug.datastructures import ETags
from werkzeug.http import parse_date

from strongroom.errors import PreconditionFailed


@dataclass(frozen=True, slots=True)
class Validators:
    """What tells one version of a representation from another.

    Args:
        tag: the strong entity tag, without its quotes.
        modified: when it changed last, to the second.
    """

    tag: str
    modified: datetime | None

    @property
    def etag(self) -> str:
        """The entity tag as headers tell it."""
        return f'"{self.tag}"'


def is_unchanged(current: Validators) -> bool:
    """Return whether the client has the current version already, which is answered by 304.

    Raises:
        PreconditionFailed: a condition of the request does not hold.
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
    """Return whether a range may be answered as such: what the client has a part of is current."""
    condition = request.headers.get("If-Range")
    if condition is None:
        return True
    date = _date("If-Range")
    if date is not None:
        return date == current.modified
    return condition.strip() == current.etag


def _date(header: str) -> datetime | None:
    """Return the date of a header; one that cannot be read is ignored (section 13.1.3)."""
    try:
        return parse_date(request.headers.get(header))
    except OverflowError:
        # Werkzeug lets through the error of a year or an hour that no C integer holds.
        return None


def _matches(tags: ETags, tag: str, *, strong: bool) -> bool:
    return tags.star_tag or tags.contains(tag) or (not strong and tags.contains_weak(tag))
