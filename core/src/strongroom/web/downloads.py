"""Answers with the content of a file: conditions, ranges and names by the letter of the RFCs.

Conditions and ranges: RFC 9110, sections 13 and 14. Names: RFC 6266. Digests: RFC 9530.
"""

import base64
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from flask import Response, request
from werkzeug.datastructures import ETags, Range
from werkzeug.http import http_date

from strongroom.errors import PreconditionFailed, RangeNotSatisfiable
from strongroom.plugin_api.storage import ByteStream

INLINE_TYPES: Final = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "text/plain"}
)
"""What a browser may show in our origin; all else is saved."""

_SANDBOX = "default-src 'none'; sandbox"


@dataclass(frozen=True, slots=True)
class Content:
    """A file as a download sees it.

    Args:
        name: what it is saved as.
        content_type: its media type.
        size: in bytes.
        checksum: its SHA-256 in hexadecimal digits.
        modified_at: milliseconds since the Unix epoch.
        open: opens it from a byte, for a number of bytes.
    """

    name: str
    content_type: str
    size: int
    checksum: str
    modified_at: int
    open: Callable[[int, int], ByteStream]


def send_content(content: Content, *, cache_control: str) -> Response:
    """Return the response that the request's conditions and range ask for.

    Raises:
        PreconditionFailed: If-Match or If-Unmodified-Since does not hold.
        RangeNotSatisfiable: the range lies outside the file.
    """
    _check_preconditions(content)
    if _is_unchanged(content):
        response = Response(status=304)
    else:
        response = _respond(content, _requested_range(content))
    response.headers["ETag"] = _etag(content)
    response.headers["Last-Modified"] = http_date(_modified(content))
    response.headers["Cache-Control"] = cache_control
    return response


def content_disposition(name: str, *, inline: bool) -> str:
    """Return the header for a name in any script, with an ASCII stand-in for old clients."""
    kind = "inline" if inline else "attachment"
    plain = "".join(char if " " <= char <= "~" and char not in '"\\%' else "_" for char in name)
    encoded = quote(name, safe="!#$&+-.^_`|~")
    extended = "" if plain == name else f"; filename*=UTF-8''{encoded}"
    return f'{kind}; filename="{plain}"{extended}'


def _respond(content: Content, span: tuple[int, int] | None) -> Response:
    start, length = span or (0, content.size)
    body = () if request.method == "HEAD" else _stream(content.open(start, length))
    response = Response(body, status=206 if span else 200, direct_passthrough=True)
    headers = response.headers
    headers["Content-Type"] = content.content_type
    headers["Content-Length"] = str(length)
    headers["Accept-Ranges"] = "bytes"
    headers["Content-Disposition"] = content_disposition(
        content.name, inline=content.content_type.partition(";")[0] in INLINE_TYPES
    )
    headers["Content-Security-Policy"] = _SANDBOX
    headers["Repr-Digest"] = f"sha-256=:{base64.b64encode(bytes.fromhex(content.checksum)).decode()}:"
    if span:
        headers["Content-Range"] = f"bytes {start}-{start + length - 1}/{content.size}"
    return response


def _stream(stream: ByteStream) -> Iterator[bytes]:
    # Opened here and not on the first step: a failure still becomes an answer of its own.
    stack = ExitStack()
    chunks = stack.enter_context(stream)

    def generate() -> Iterator[bytes]:
        with stack:
            yield from chunks

    return generate()


def _etag(content: Content) -> str:
    return f'"{content.checksum}"'


def _modified(content: Content) -> datetime:
    return datetime.fromtimestamp(content.modified_at // 1000, tz=UTC)


def _matches(tags: ETags, content: Content, *, strong: bool) -> bool:
    return (
        tags.star_tag
        or tags.contains(content.checksum)
        or (not strong and tags.contains_weak(content.checksum))
    )


def _check_preconditions(content: Content) -> None:
    if "If-Match" in request.headers:
        if not _matches(request.if_match, content, strong=True):
            raise PreconditionFailed
    elif (since := request.if_unmodified_since) and _modified(content) > since:
        raise PreconditionFailed


def _is_unchanged(content: Content) -> bool:
    if "If-None-Match" in request.headers:
        return _matches(request.if_none_match, content, strong=False)
    since = request.if_modified_since
    return since is not None and _modified(content) <= since


def _requested_range(content: Content) -> tuple[int, int] | None:
    """Return start and length, or ``None`` for the whole, which also answers several ranges at once."""
    wanted = request.range
    if (
        wanted is None
        or wanted.units != "bytes"
        or len(wanted.ranges) != 1
        or not _if_range_holds(content)
    ):
        return None
    start, stop = _bounds(wanted, content.size)
    return start, stop - start


def _bounds(wanted: Range, size: int) -> tuple[int, int]:
    first, end = wanted.ranges[0]
    if first < 0:
        first, end = max(0, size + first), size
    stop = size if end is None else min(end, size)
    if first >= stop:
        raise RangeNotSatisfiable(size)
    return first, stop


def _if_range_holds(content: Content) -> bool:
    if "If-Range" not in request.headers:
        return True
    condition = request.if_range
    if condition.etag is not None:
        return request.headers["If-Range"].strip() == _etag(content)
    return condition.date is not None and condition.date == _modified(content)
