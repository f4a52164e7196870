"""Previews of files, none of which runs in the origin of the pages.

Pictures are encoded again, texts are escaped, the pages of PDF documents become pictures in a confined
process, and audio and video are only of formats that browsers play. HTML, SVG and all other formats have
no preview.
"""

import codecs
from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any, BinaryIO, Final

from flask import Blueprint, Response, request
from werkzeug.exceptions import NotFound

from strongroom.plugin_api.visits import Visit, current_visit
from strongroom.plugin_api.web import ApiError
from strongroom_console.my_files.nodes import media_essence, read_node
from strongroom_console.pdf.rendering import MAX_DOCUMENT_BYTES, picture_of_document

previews: Final = Blueprint("previews", __name__)

PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
SOUNDS: Final = frozenset(
    {
        "audio/aac",
        "audio/flac",
        "audio/mp4",
        "audio/mpeg",
        "audio/ogg",
        "audio/wav",
        "audio/x-flac",
        "audio/x-wav",
    }
)
FILMS: Final = frozenset({"video/mp4", "video/ogg", "video/webm", "video/x-m4v"})

TEXT_BYTES: Final = 64 * 1024
"""How many bytes of a text are shown."""

_WIDTH: Final = 1600
_PDF: Final = "application/pdf"
_PDF_RATES: Final = ("60/minute",)
_TEXTS: Final = frozenset({"application/json"})
_ACTIVE_TEXTS: Final = frozenset({"text/html", "text/xml"})
UNREADABLE: Final = frozenset({"pending", "infected", "rejected"})
_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def preview_of(node: Mapping[str, Any]) -> str | None:
    """Return how a file is shown: ``picture``, ``pages``, ``text``, ``audio``, ``video`` or not."""
    if node["type"] == "folder" or node["scan"] in UNREADABLE:
        return None
    preview = type_preview(node["contentType"])
    return None if preview == "pages" and node["size"] > MAX_DOCUMENT_BYTES else preview


# A list has few media types.
@lru_cache(maxsize=256)
def type_preview(content_type: str | None) -> str | None:
    """Return how readable content of a media type is shown unless it is too large; folders are not."""
    essence = media_essence(content_type or "")
    if essence in PICTURES:
        return "picture"
    if essence == _PDF:
        return "pages"
    if essence in SOUNDS:
        return "audio"
    if essence in FILMS:
        return "video"
    is_text = essence in _TEXTS or (essence.startswith("text/") and essence not in _ACTIVE_TEXTS)
    return "text" if is_text else None


def read_text(visit: Visit, node: Mapping[str, Any]) -> str | None:
    """Return the beginning of a text; ``None`` if it cannot be read."""
    try:
        with visit.host.files.open(node["tenantId"], node["id"], 0, TEXT_BYTES) as chunks:
            return decoded(b"".join(chunks))
    except ApiError:
        return None


def decoded(content: bytes) -> str:
    """Return a text whose encoding is unknown, and which may end within a character."""
    mark = next((mark for mark in _MARKS if content.startswith(mark)), None)
    for encoding in (_MARKS[mark],) if mark else ("utf-8", "gb18030"):
        try:
            return codecs.getincrementaldecoder(encoding)().decode(content)
        except UnicodeDecodeError:
            continue
    return content.decode("utf-8", "replace")


@previews.get("/tenants/<tenant_id>/nodes/<node_id>/preview")
def show_preview(tenant_id: str, node_id: str) -> Any:
    """Send a picture in a smaller size without metadata, or a sound or film with ranges."""
    visit = current_visit()
    node = read_node(visit, tenant_id, node_id)
    kind = preview_of(node)
    if kind == "picture":
        return visit.host.files.send_picture(tenant_id, node_id, _WIDTH)
    if kind == "pages":
        return _pages(visit, node)
    if kind in ("audio", "video"):
        return _medium(visit, tenant_id, node_id)
    raise NotFound


def _medium(visit: Visit, tenant_id: str, node_id: str) -> Any:
    # By this server, whose origin is the only one that the page loads media of.
    response = visit.host.files.send(tenant_id, node_id, before=lambda _sending: None)
    response.headers["Content-Disposition"] = "inline"
    return response


def _pages(visit: Visit, node: Mapping[str, Any]) -> Any:
    if request.if_none_match.contains(node["checksum"]):
        response = Response(status=HTTPStatus.NOT_MODIFIED)
    else:
        visit.host.limits.check_rate("pdf-preview", _PDF_RATES, visit.session.user_id)
        response = Response(_picture_of(visit, node), content_type="image/jpeg")
    response.set_etag(node["checksum"])
    response.headers["Cache-Control"] = "private, no-cache"
    response.headers["Content-Disposition"] = "inline"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


def _picture_of(visit: Visit, node: Mapping[str, Any]) -> bytes:
    def write(file: BinaryIO) -> None:
        with visit.host.files.open(node["tenantId"], node["id"]) as chunks:
            file.writelines(chunks)

    return picture_of_document(write)
