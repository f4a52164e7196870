"""The content coding of responses: which are compressed, and for which clients (RFC 9110, section 8.4).

The size of a compressed response reveals how similar its parts are. An attacker who sees it, and
controls one part, such as the name of a file, can guess another part, such as a token (BREACH). So only
responses without secrets are compressed: static files, documents, and the operations that declare it:
ADR 0114.
"""

import gzip
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from marshmallow import Schema, fields
from werkzeug.http import parse_accept_header

from strongroom.web.http.representations import has_revision
from strongroom.web.http.response import Response

GZIP: Final = "gzip"
MIN_BYTES: Final = 1024
"""The minimum size of what is compressed; less fits into one packet anyway."""

VARY: Final = ("Vary", "Accept-Encoding")

# Level 6 saves another tenth of the bytes, and takes twice the time.
_LEVEL: Final = 1
_HEADER: Final = "HTTP_ACCEPT_ENCODING"
_SECRET: Final = re.compile("(secret|token|password|code|key|url)s?$", re.IGNORECASE)
_HARMLESS: Final = (fields.Boolean, fields.Number)
_CODED_ALREADY: Final = frozenset({"Content-Encoding", "Content-Range", "ETag"})


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
