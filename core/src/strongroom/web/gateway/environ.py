"""The WSGI environ of a request, from Granian's scope."""

import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from strongroom.foundation import errors

Environ = dict[str, Any]
Scope = Mapping[str, Any]

_BASE: Final[Environ] = {
    "GATEWAY_INTERFACE": "CGI/1.1",
    "SCRIPT_NAME": "",
    "SERVER_SOFTWARE": "Granian",
    "wsgi.errors": sys.stderr,
    "wsgi.multiprocess": True,
    "wsgi.multithread": True,
    "wsgi.run_once": False,
    "wsgi.version": (1, 0),
}
_PROTOCOLS: Final = {"1": "HTTP/1.0", "1.1": "HTTP/1.1", "2": "HTTP/2"}
_UNPREFIXED: Final = {b"content-type": "CONTENT_TYPE", b"content-length": "CONTENT_LENGTH"}
_ENCODED_SLASH: Final = re.compile(rb"%2[Ff]")
_SINGLE: Final = frozenset({"CONTENT_TYPE", "CONTENT_LENGTH"})


MAX_TARGET_BYTES: Final = 16 * 1024
"""The maximum size of the path and the query together. Granian refuses only those above 64 KiB."""

MAX_HEADERS_BYTES: Final = 64 * 1024
"""The maximum size of all names and values of headers. Granian refuses only a head above 128 KiB.

These limits are lower than Granian's, whose refusals have no body; see docs/guides/rest.md.
"""


def build_environ(scope: Scope) -> Environ:
    """Return the environ, without ``wsgi.input``.

    Headers whose name has an underscore are dropped. The environ has one variable for both
    ``X_Forwarded_For`` and ``X-Forwarded-For``, so a client could otherwise forge the headers of a
    trusted proxy.

    Raises:
        MalformedRequest: the Host is missing or repeated (RFC 9112 section 3.2), or "chunked" is
            applied twice (section 7).
        NotImplementedHere: the transfer coding is unknown (section 6.1).
        UriTooLong: the path and the query are too long.
        HeaderFieldsTooLarge: the headers are too large.
    """
    raw_path: bytes = scope["raw_path"]
    if len(raw_path) + len(scope["query_string"]) > MAX_TARGET_BYTES:
        raise errors.UriTooLong
    path = _decoded(raw_path) if b"%" in raw_path else raw_path
    environ = _BASE.copy()
    environ["REQUEST_METHOD"] = scope["method"]
    environ["PATH_INFO"] = path.decode("latin-1")
    environ["QUERY_STRING"] = scope["query_string"].decode("latin-1")
    environ["SERVER_PROTOCOL"] = _PROTOCOLS.get(scope["http_version"], "HTTP/1.1")
    environ["SERVER_NAME"], environ["SERVER_PORT"] = scope["server"]
    environ["REMOTE_ADDR"], environ["REMOTE_PORT"] = scope["client"]
    environ["wsgi.url_scheme"] = scope["scheme"]
    _add_headers(environ, scope["headers"])
    _check(environ, scope)
    return environ


def _decoded(raw_path: bytes) -> bytes:
    """Return a path without percent-encoding, except an encoded slash, which separates no segments."""
    return b"%2F".join(map(unquote_to_bytes, _ENCODED_SLASH.split(raw_path)))


@lru_cache(maxsize=1024)
def _variable(name: bytes) -> str | None:
    """Return the environ variable of a header, or ``None`` if the header is dropped."""
    if b"_" in name:
        return None
    return _UNPREFIXED.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")


def _add_headers(environ: Environ, headers: list[tuple[bytes, bytes]]) -> None:
    size = 0
    for name, value in headers:
        size += len(name) + len(value)
        variable = _variable(name)
        if variable is None:
            continue
        text = value.decode("latin-1")
        if variable not in environ:
            environ[variable] = text
        # A repeated Content-Type or Content-Length keeps its first value.
        elif variable not in _SINGLE:
            # Cookie is the only header whose lines are not joined by commas (RFC 6265 section 5.4).
            separator = "; " if variable == "HTTP_COOKIE" else ","
            environ[variable] += separator + text
    if size > MAX_HEADERS_BYTES:
        raise errors.HeaderFieldsTooLarge


def _check(environ: Environ, scope: Scope) -> None:
    if environ["SERVER_PROTOCOL"] == "HTTP/1.1" and not _has_one_host(environ, scope):
        raise errors.MalformedRequest("The request must have one Host header.")
    if "HTTP_TRANSFER_ENCODING" in environ:
        _check_codings(environ["HTTP_TRANSFER_ENCODING"])
    # Werkzeug falls back to SERVER_NAME only if the variable is absent.
    if environ.get("HTTP_HOST") == "":
        del environ["HTTP_HOST"]


def _check_codings(transfer_encoding: str) -> None:
    """Refuse all transfer codings but one "chunked": the HTTP library removes no other."""
    codings = [coding.strip().lower() for coding in transfer_encoding.split(",")]
    if any(coding != "chunked" for coding in codings):
        raise errors.NotImplementedHere("The only transfer coding is chunked.")
    if len(codings) > 1:
        raise errors.MalformedRequest("A body may be chunked only once.")


def _has_one_host(environ: Environ, scope: Scope) -> bool:
    host = environ.get("HTTP_HOST", "")
    # A valid host has no comma, so only then the header lines need to be counted.
    return bool(host) and ("," not in host or sum(name == b"host" for name, _ in scope["headers"]) == 1)
