"""Responses and their XML."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from xml.sax.saxutils import escape

from strongroom_simulators.oss.errors import OssError

Element = tuple[str, str | int | Iterable["Element"]]
"""A name and its content: text, a number, or further elements."""


@dataclass(slots=True)
class Response:
    """A response. ``length`` is the length of ``body`` in bytes."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: Iterable[bytes] = ()
    length: int = 0


def document(name: str, content: Iterable[Element], headers: dict[str, str] | None = None) -> Response:
    """Return a successful response with an XML document."""
    return _xml_response(200, (name, content), headers or {})


def error_response(error: OssError, request_id: str) -> Response:
    """Return the response for an error; ``x-oss-err`` repeats it for responses without a body."""
    fields = {"Code": error.code, "Message": error.message, "RequestId": request_id, **error.details}
    response = _xml_response(error.status, ("Error", fields.items()), {})
    response.headers["x-oss-err"] = base64.b64encode(b"".join(response.body)).decode()
    return response


def iso_time(moment: datetime) -> str:
    """Format a time for XML."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def http_time(moment: datetime) -> str:
    """Format a time for header fields."""
    return format_datetime(moment.astimezone(UTC), usegmt=True)


def _xml_response(status: int, root: Element, headers: dict[str, str]) -> Response:
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n{_render(root)}'.encode()
    return Response(status, {"Content-Type": "application/xml", **headers}, [body], len(body))


def _render(element: Element) -> str:
    name, content = element
    if isinstance(content, str | int):
        return f"<{name}>{escape(str(content))}</{name}>"
    return f"<{name}>{''.join(map(_render, content))}</{name}>"
