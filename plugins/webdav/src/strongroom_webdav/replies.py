"""Responses."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import chain
from typing import Final
from wsgiref.types import StartResponse, WSGIEnvironment

from strongroom_webdav.errors import DavError
from strongroom_webdav.xml_text import DAV, DECLARATION, element, escape

_XML: Final = "application/xml; charset=utf-8"
_ABOUT_RESOURCES: Final = ("lock-token-submitted", "no-conflicting-lock")
"""The conditions that name resources."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response; a WSGI application that ignores its request.

    Args:
        pieces: the body.
    """

    status: HTTPStatus
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Iterable[bytes] = ()

    def __call__(self, _environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response(f"{self.status.value} {self.status.phrase}", [*self.headers.items()])
        return self.pieces


def xml_reply(
    text: str, status: HTTPStatus = HTTPStatus.OK, headers: Mapping[str, str] | None = None
) -> Reply:
    """Return a response with an XML document, without its declaration."""
    return Reply(status, {"Content-Type": _XML, **(headers or {})}, [(DECLARATION + text).encode()])


def multistatus(responses: Iterator[str]) -> Reply:
    """Return a 207 with elements ``response``, which are sent while they are made.

    The first one is made before, so that an error becomes the response.
    """
    parts = chain([next(responses, "")], responses)
    document = chain([f'{DECLARATION}<D:multistatus xmlns:D="DAV:">'], parts, ["</D:multistatus>\n"])
    return Reply(HTTPStatus.MULTI_STATUS, {"Content-Type": _XML}, map(str.encode, document))


def refusal(error: DavError, href: str) -> Reply:
    """Return the response to an error.

    Args:
        href: the path of the request, as XML.
    """
    if error.condition is None:
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        return Reply(error.status, headers, [f"{error}\n".encode()])
    content = f"<D:href>{href}</D:href>" if error.condition in _ABOUT_RESOURCES else ""
    return condition_reply(error.status, element(f"{{{DAV}}}{error.condition}", content), str(error))


def condition_reply(status: HTTPStatus, condition: str, text: str) -> Reply:
    """Return the response with a condition that is not met (RFC 4918, section 16)."""
    message = f'<S:message xmlns:S="urn:strongroom">{escape(text)}</S:message>'
    return xml_reply(f'<D:error xmlns:D="DAV:">{condition}{message}</D:error>\n', status)
