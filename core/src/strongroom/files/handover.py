"""Answers downloads that the store, or the web server in front, gives out instead of us."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace

from flask import Response, request

from strongroom.plugin_api.storage import ByteStream
from strongroom.storage.delivery import Handover, InternalPath
from strongroom.web.downloads import INLINE_TYPES, Content, content_disposition, send_content

Offer = Callable[[Mapping[str, str]], Handover | None]
"""Returns who gives a file out with these response headers."""


def send_or_hand_over(content: Content, offer: Offer, *, cache_control: str) -> Response:
    """Return the response that the request's conditions ask for, its body from elsewhere if it may be.

    Ranges are then the other's matter; conditions are ours, for we know the file's entity tag.

    Raises:
        PreconditionFailed: If-Match or If-Unmodified-Since does not hold.
        RangeNotSatisfiable: the range lies outside the file.
    """
    handover = offer(_headers(content)) if request.method == "GET" else None
    if handover is None:
        return send_content(content, cache_control=cache_control)
    response = send_content(replace(content, open=_nothing), cache_control=cache_control)
    if response.status_code >= 300:  # noqa: PLR2004  it has no body, as of what is unchanged
        return response
    response.close()
    if isinstance(handover, InternalPath):
        return _internal(response, handover.path)
    return Response(status=307, headers={"Location": handover.url, "Cache-Control": "private, no-store"})


def _headers(content: Content) -> dict[str, str]:
    inline = content.content_type.partition(";")[0] in INLINE_TYPES
    return {
        "Content-Type": content.content_type,
        "Content-Disposition": content_disposition(content.name, inline=inline),
    }


def _internal(response: Response, path: str) -> Response:
    """Return what nginx makes the whole file of, or the range that it is asked for itself."""
    headers = response.headers
    for name in ("Content-Length", "Content-Range"):
        headers.pop(name, None)
    headers["X-Accel-Redirect"] = path
    internal = Response((), status=200, headers=headers)
    internal.headers.pop("Content-Length", None)
    return internal


def _nothing(_start: int, _length: int) -> ByteStream:
    chunks: Iterator[bytes] = iter(())
    return nullcontext(chunks)
