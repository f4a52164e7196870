"""The content coding of responses: which are compressed, and for which clients (RFC 9110, section 8.4).

The size of a compressed response reveals how similar its parts are. An attacker who sees it, and
controls one part, such as the name of a file, can guess another part, such as a token (BREACH). So only
responses without secrets are compressed: static files, documents, and the operations and pages that
declare it. A page has cookies, so it is compressed only if no other site has led the browser to it, or
if only sites that know its secret path can: ADR 0118 and 0123.
"""

import gzip
import re
from collections.abc import Iterator
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import Schema, fields
from werkzeug.http import parse_accept_header

from strongroom.plugin_api.rendering import ANY_SITE, PageCompression
from strongroom.web.http.representations import has_revision
from strongroom.web.http.response import Response

GZIP: Final = "gzip"
MIN_BYTES: Final = 1024
"""The minimum size of what is compressed; less fits into one packet anyway."""

VARY: Final = ("Vary", "Accept-Encoding")
_PAGE_VARY: Final = ("Vary", "Accept-Encoding, Sec-Fetch-Site")

# Level 6 saves another tenth of the bytes, and takes twice the time.
_LEVEL: Final = 1
# A page of 100 rows fits into the first packets of a connection: a round trip less than with level 1.
_PAGE_LEVEL: Final = 4
_HEADER: Final = "HTTP_ACCEPT_ENCODING"
_SECRET: Final = re.compile("(secret|token|password|code|key|url)s?$", re.IGNORECASE)
_HARMLESS: Final = (fields.Boolean, fields.Number)
_CODED_ALREADY: Final = frozenset({"Content-Encoding", "Content-Range", "ETag"})
_PAGE: Final = "strongroom.codable-page"
_PAGE_TYPE: Final = "text/html"
_OWN_SITES: Final = ("same-origin", "none")
_FREEDOM: Final[tuple[PageCompression, ...]] = (False, True, ANY_SITE)


def is_coded(environ: dict[str, Any], size: int) -> bool:
    """Return whether a client gets gzip for a response that may be compressed.

    Args:
        environ: the environ of the request.
        size: the size of the content in bytes.
    """
    accepted = environ.get(_HEADER)
    if not accepted:
        return False
    accepts_gzip, accepts_identity = _acceptance(accepted)
    return accepts_gzip and (size >= MIN_BYTES or not accepts_identity)


# Clients send few different values.
@lru_cache(maxsize=64)
def _acceptance(accepted: str) -> tuple[bool, bool]:
    """Return whether gzip is accepted and not worse than no coding, and whether no coding is accepted.

    A client that accepts neither gets no coding (RFC 9110, section 12.5.3).
    """
    # In descending order, so that the lowest quality of a repeated coding decides.
    qualities = {name.lower(): quality for name, quality in parse_accept_header(accepted)}
    others = qualities.get("*", 0.0)
    coded = qualities.get(GZIP, qualities.get("x-gzip", others))
    plain = qualities.get("identity", qualities.get("*"))
    return 0 < coded >= (plain or 0), plain != 0


def code_response(response: Response, environ: dict[str, Any]) -> None:
    """Compress a JSON response that may be compressed, if the client accepts it.

    A response with an entity tag stays as it is, because its tag names the plain content (section
    8.8.3.3), and so does one that is streamed.
    """
    content = response.plain_json(_CODED_ALREADY)
    if content is None:
        return
    response.append_header(VARY)
    if is_coded(environ, len(content)):
        coded = gzip.compress(content, _LEVEL, mtime=0)
        response.replace_content(coded, [("Content-Encoding", GZIP)])


def note_page(environ: dict[str, Any], compress: PageCompression) -> None:
    """Note that a request has a page, and whether its response may be compressed.

    The strictest page of a request decides, because a mounted application sends bytes, which do not
    name their page.
    """
    environ[_PAGE] = min(compress, environ.get(_PAGE, compress), key=_FREEDOM.index)


def code_page(response: flask.Response, environ: dict[str, Any]) -> None:
    """Compress a page that may be compressed, if the client accepts it and no other site led to it.

    Another site can choose the query of a page, and lead a browser there with its cookies. Browsers
    always send ``Sec-Fetch-Site`` to a server with HTTPS; without it, only pages with a secret path
    are compressed.
    """
    compress = environ.get(_PAGE)
    if not (compress and _is_complete_page(response)):
        return
    response.headers.add(*_PAGE_VARY)
    is_safe = compress == ANY_SITE or environ.get("HTTP_SEC_FETCH_SITE") in _OWN_SITES
    if not is_safe or not is_coded(environ, response.content_length or 0):
        return
    response.headers["Content-Encoding"] = GZIP
    if environ["REQUEST_METHOD"] == "HEAD":
        # A mounted application has no content to measure.
        del response.headers["Content-Length"]
    else:
        response.set_data(gzip.compress(response.get_data(), _PAGE_LEVEL, mtime=0))


def _is_complete_page(response: flask.Response) -> bool:
    headers = response.headers
    is_plain = _CODED_ALREADY.isdisjoint(headers.keys()) and "Content-Length" in headers
    return is_plain and response.status_code == HTTPStatus.OK and response.mimetype == _PAGE_TYPE


def require_codable(method: str, path: str, returns: type[Schema] | None) -> None:
    """Check that an operation may declare that its responses are compressed.

    Args:
        path: the path, with parameters as ``<name>``; links to pages repeat its parameters.
        returns: the schema of the response.

    Raises:
        ValueError: a response may have a secret.
    """
    if fault := _fault(method, path, returns):
        raise ValueError(f"{method} {path}: {fault}; remove compress")


def _fault(method: str, path: str, returns: type[Schema] | None) -> str | None:
    if method != "GET" or returns is None:
        return "only a GET with a schema can be compressed"
    if has_revision(returns):
        return "a representation with a revision has an entity tag, so it is not compressed"
    names = (*re.findall("<([^>]*)>", path), *_texts(returns, frozenset()))
    secret = next(filter(_SECRET.search, names), None)
    return secret and f"{secret!r} may be a secret, so the response is not compressed"


def _texts(schema: Any, known: frozenset[Any]) -> Iterator[str]:
    """Yield the names of all members that can be a text, with the members of nested schemas."""
    if schema in known:
        return
    # Of the class, because an instance copies all fields, which takes ten times as long.
    for name, field in schema._declared_fields.items():  # noqa: SLF001  marshmallow has no public access
        while isinstance(field, fields.List):
            field = field.inner  # noqa: PLW2901  the items of a list have its name
        if isinstance(field, fields.Nested):
            yield from _texts(_nested(field), known | {schema})
        elif not (field.load_only or isinstance(field, _HARMLESS)):
            yield field.data_key or name


def _nested(field: fields.Nested) -> Any:
    nested: Any = field.nested
    return nested if isinstance(nested, type) else type(field.schema)
