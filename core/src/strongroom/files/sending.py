"""Sends downloads: from this process, by the reverse proxy, or by a redirect to the store."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Final

from flask import request

from strongroom.files.models import Node
from strongroom.http.downloads import INLINE_TYPES, Content, content_disposition, send_content
from strongroom.http.response import Response
from strongroom.plugin_api.storage import ByteStream
from strongroom.storage.delivery import Handover, InternalPath

CACHE_CONTROL: Final = "private, no-cache"
"""``Cache-Control`` of downloads of tenants' files."""

Offer = Callable[[Callable[[], Mapping[str, str]]], Handover | None]
"""Returns the proxy path or store URL that serves a file with response headers, if there is one."""


def content_of(node: Node, open_: Callable[[int, int], ByteStream]) -> Content | None:
    """Return the downloadable content of a node, or ``None`` for a folder."""
    if node.content_type is None or node.checksum is None:
        return None
    return Content(
        name=node.name,
        content_type=node.content_type,
        size=node.size,
        checksum=node.checksum,
        modified_at=node.updated_at,
        open=open_,
    )


def handover_headers(content: Content) -> dict[str, str]:
    """Return the headers that the store must send with a file."""
    inline = content.content_type.partition(";")[0] in INLINE_TYPES
    return {
        "Content-Type": content.content_type,
        "Content-Disposition": content_disposition(content.name, inline=inline),
    }


def send_file(content: Content, offer: Offer, *, cache_control: str) -> Response:
    """Return the response to a download, handing the body over to the proxy or the store if possible.

    Conditions are evaluated here, because this process knows the entity tag; the proxy or the store
    applies ranges.

    Raises:
        PreconditionFailed: If-Match or If-Unmodified-Since does not match.
        RangeNotSatisfiable: the range lies outside the file.
    """
    handover = offer(lambda: handover_headers(content)) if request.method == "GET" else None
    if handover is None:
        return send_content(content, cache_control=cache_control)
    # Evaluates conditions and builds the headers; the body is sent elsewhere.
    response = send_content(replace(content, open=nothing), cache_control=cache_control)
    if response.status_code >= 300:  # noqa: PLR2004  no body, such as 304
        return response
    response.close()
    if isinstance(handover, InternalPath):
        return _internal(response, handover.path)
    # A presigned URL grants access, so the redirect must not be cached.
    return Response((), 307, {"Location": handover.url, "Cache-Control": "private, no-store"})


def _internal(response: Response, path: str) -> Response:
    """Return the response that makes nginx send the file; nginx applies the request's range itself."""
    headers = [item for item in response.headers if item[0] not in ("Content-Length", "Content-Range")]
    return Response(b"", 200, [*headers, ("X-Accel-Redirect", path)])


def nothing(_start: int, _length: int) -> ByteStream:
    """Open an empty stream: the proxy or the store sends the body."""
    chunks: Iterator[bytes] = iter(())
    return nullcontext(chunks)
