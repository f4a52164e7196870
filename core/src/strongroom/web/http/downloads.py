"""Responses with file content: conditions, ranges, file names and digests.

Conditions and ranges: RFC 9110, sections 13 and 14. Names: RFC 6266. Digests: RFC 9530.
"""

import base64
import re
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from time import monotonic
from typing import Final, NamedTuple
from urllib.parse import quote

from werkzeug.http import http_date

from strongroom.foundation.text_direction import without_direction
from strongroom.plugin_api.files import BeforeSending, Sending
from strongroom.plugin_api.storage import ByteStream
from strongroom.web.http.access import login_watch
from strongroom.web.http.binary_content import binary_content
from strongroom.web.http.caching import CACHE_CONTROL
from strongroom.web.http.conditions import (
    MultipartRanges,
    Span,
    Validators,
    if_range_holds,
    is_unchanged,
    parse_ranges,
)
from strongroom.web.http.request import header, method
from strongroom.web.http.response import Response, not_modified

INLINE_TYPES: Final = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "text/plain"}
)
"""The media types that browsers may display inline; all others are sent as attachments."""

DOWNLOAD_CONTENT: Final = binary_content("*/*")
"""The OpenAPI content of a download; the actual media type is detected from the file."""

HeaderList = list[tuple[str, str]]

IN_ONE_PIECE: Final = 64 * 1024
"""The maximum size, in bytes, of content that is read before the response begins."""

WATCH_SECONDS: Final = 1.0
"""How often the login is verified again while a body is sent."""

_SANDBOX = "default-src 'none'; sandbox"

# RFC 9110, section 14.2 defines ranges for GET; this API also supports them for the POST of a bundle.
_RANGED_METHODS = ("GET", "POST")

_CONTENT_RANGE = re.compile(r"bytes ([0-9]+)-")
_WANTED_DIGEST = re.compile(r"(?:^|,)\s*sha-256\s*=\s*([1-9]|10)\s*(?:,|$)")


class Content(NamedTuple):
    """The content and metadata of a download.

    Args:
        name: the file name that clients save it as.
        size: its size in bytes.
        checksum: its SHA-256 in hexadecimal digits, if known in advance.
        modified_at: milliseconds since the Unix epoch, if the time identifies the version.
        open: opens the content; takes an offset and a number of bytes.
        tag: the entity tag; by default, the checksum.
    """

    name: str
    content_type: str
    size: int
    checksum: str | None
    modified_at: int | None
    open: Callable[[int, int], ByteStream]
    tag: str = ""

    @property
    def validators(self) -> Validators:
        """The validators for conditional requests."""
        return _validators(self.tag or self.checksum or "", self.modified_at)


def send_content(content: Content, *, cache_control: str) -> Response:
    """Return the response to a GET, HEAD or POST, with respect to its conditions and ranges.

    Raises:
        PreconditionFailed: If-Match or If-Unmodified-Since is false.
        RangeNotSatisfiable: the range is outside the file.
    """
    current = content.validators
    version = _version_headers(current, cache_control)
    if is_unchanged(current):
        return not_modified(version)
    name = method()
    ranged = name in _RANGED_METHODS and if_range_holds(current)
    spans = parse_ranges(header("Range"), content.size) if ranged else None
    headers = [*_content_headers(content.name, content.content_type, content.checksum), *version]
    if spans is None:
        return _whole(content, headers, is_head=name == "HEAD")
    return _part(content, spans[0], headers) if len(spans) == 1 else _parts(content, spans, headers)


# The following depend only on the version of the file, and take longer than to read a small file.
@lru_cache(maxsize=2048)
def _validators(tag: str, modified_at: int | None) -> Validators:
    modified = None if modified_at is None else datetime.fromtimestamp(modified_at // 1000, tz=UTC)
    return Validators(tag, modified)


@lru_cache(maxsize=2048)
def _version_headers(current: Validators, cache_control: str) -> HeaderList:
    """Return the validators, and the policies of the cache and of the content, as headers.

    A response 304 has them too, because a cache replaces the headers of its copy by the 304's.
    """
    modified = [] if current.modified is None else [("Last-Modified", http_date(current.modified))]
    return [
        ("ETag", current.etag),
        *modified,
        (CACHE_CONTROL, cache_control),
        ("Content-Security-Policy", _SANDBOX),
    ]


@lru_cache(maxsize=2048)
def _content_headers(name: str, content_type: str, checksum: str | None) -> HeaderList:
    """Return the headers that describe the content; they are the same for ranges."""
    is_inline = content_type.partition(";")[0] in INLINE_TYPES
    digest = [("Repr-Digest", _digest(checksum))] if checksum else []
    return [
        ("Accept-Ranges", "bytes"),
        ("Content-Disposition", content_disposition(name, inline=is_inline)),
        *digest,
    ]


def content_disposition(name: str, *, inline: bool) -> str:
    """Return the Content-Disposition of a name in any script, with an ASCII fallback for old clients."""
    kind = "inline" if inline else "attachment"
    name = without_direction(name)
    # "%" is replaced as well, because some browsers percent-decode the plain name (RFC 6266, D).
    plain = "".join(char if " " <= char <= "~" and char not in '"\\%' else "_" for char in name)
    encoded = quote(name, safe="!#$&+-.^_`|~")
    extended = "" if plain == name else f"; filename*=UTF-8''{encoded}"
    return f'{kind}; filename="{plain}"{extended}'


def _whole(content: Content, headers: HeaderList, *, is_head: bool) -> Response:
    preference = header("Want-Content-Digest")
    if preference and content.checksum and not is_head and _WANTED_DIGEST.search(preference):
        headers.append(("Content-Digest", _digest(content.checksum)))
    body = () if is_head else _body(content, 0, content.size)
    return _response(body, 200, content.content_type, content.size, headers)


def _part(content: Content, span: Span, headers: HeaderList) -> Response:
    headers.append(("Content-Range", span.content_range(content.size)))
    body = _body(content, span.start, span.length)
    return _response(body, 206, content.content_type, span.length, headers)


def _parts(content: Content, spans: list[Span], headers: HeaderList) -> Response:
    multipart = MultipartRanges(spans, content.size, content.content_type)

    def body() -> Generator[bytes, None, None]:
        for head, span in multipart.parts:
            yield head
            yield from pieces(content.open(span.start, span.length))
        yield multipart.tail

    sent = [b"".join(body())] if multipart.length <= IN_ONE_PIECE else _while_valid(body())
    return _response(sent, 206, multipart.media_type, multipart.length, headers)


def _body(content: Content, start: int, length: int) -> Iterable[bytes]:
    stream = content.open(start, length)
    if length > IN_ONE_PIECE:
        return _while_valid(pieces(stream))
    # Read before the response begins, so that a failure is an error response. The gateway sends a list
    # without occupying a thread.
    with stream as chunks:
        return [b"".join(chunks)]


def _response(
    body: Iterable[bytes], status: int, content_type: str, length: int, headers: HeaderList
) -> Response:
    about = (("Content-Type", content_type), ("Content-Length", str(length)))
    return Response(body, status, (*about, *headers))


def check_sending(response: Response, before: BeforeSending, size: int) -> Response:
    """Return a response with content of ``size`` bytes after ``before`` has accepted it.

    Raises:
        Exception: any that ``before`` raises; the response is closed.
    """
    match = _CONTENT_RANGE.match(response.headers.get("Content-Range", ""))
    offset, length = int(match[1]) if match else 0, int(response.headers.get("Content-Length", "0"))
    end = offset + length
    if response.status_code == HTTPStatus.PARTIAL_CONTENT and match is None:
        # Several ranges, which are in the parts of the body only.
        spans = parse_ranges(header("Range"), size) or [Span(0, size)]
        end = max(span.start + span.length for span in spans)
    try:
        before(Sending(offset, length, size, response.headers["ETag"], end))
    except BaseException:
        response.close()
        raise
    return response


def _while_valid(body: Generator[bytes, None, None]) -> Generator[bytes, None, None]:
    """Return the chunks of a body, which ends early once the caller's login or key has ended.

    The client detects it, because the body is shorter than its Content-Length.
    """
    is_valid = login_watch()
    return body if is_valid is None else _watched(body, is_valid)


def _watched(
    body: Generator[bytes, None, None], is_valid: Callable[[], bool]
) -> Generator[bytes, None, None]:
    due = monotonic() + WATCH_SECONDS
    try:
        for chunk in body:
            if monotonic() >= due:
                if not is_valid():
                    return
                due = monotonic() + WATCH_SECONDS
            yield chunk
    finally:
        # Hot: without the calls of contextlib.closing (ADR 0076).
        body.close()


def pieces(stream: ByteStream) -> Generator[bytes, None, None]:
    """Open a stream and return its chunks. It is closed after the last chunk, or with the iterator."""
    # Opened eagerly, so that a failure can still produce an error response.
    stack = ExitStack()
    chunks = stack.enter_context(stream)

    def generate() -> Generator[bytes, None, None]:
        with stack:
            yield from chunks

    return generate()


def _digest(checksum: str) -> str:
    return f"sha-256=:{base64.b64encode(bytes.fromhex(checksum)).decode()}:"
