"""Builds the WSGI environ of a request (PEP 3333) from Granian's scope."""

import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote_to_bytes

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
_SINGLE: Final = frozenset({"CONTENT_TYPE", "CONTENT_LENGTH"})


class BadHost(ValueError):
    """The request has no Host, or more than one."""


def build_environ(scope: Scope) -> Environ:
    """Return the environ, without ``wsgi.input``.

    Headers whose name has an underscore are dropped. The environ has one variable for both
    ``X_Forwarded_For`` and ``X-Forwarded-For``, so a client could otherwise forge the headers of a
    trusted proxy.

    Raises:
        BadHost: the Host is missing or repeated (RFC 9112 section 3.2).
    """
    raw_path: bytes = scope["raw_path"]
    path = unquote_to_bytes(raw_path) if b"%" in raw_path else raw_path
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


@lru_cache(maxsize=1024)
def _variable(name: bytes) -> str | None:
    """Return the environ variable of a header, or ``None`` if the header is dropped."""
    if b"_" in name:
        return None
    return _UNPREFIXED.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")


def _add_headers(environ: Environ, headers: list[tuple[bytes, bytes]]) -> None:
    for name, value in headers:
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


def _check(environ: Environ, scope: Scope) -> None:
    if environ["SERVER_PROTOCOL"] == "HTTP/1.1" and not _has_one_host(environ, scope):
        raise BadHost
    # Werkzeug falls back to SERVER_NAME only if the variable is absent.
    if environ.get("HTTP_HOST") == "":
        del environ["HTTP_HOST"]


def _has_one_host(environ: Environ, scope: Scope) -> bool:
    host = environ.get("HTTP_HOST", "")
    # A valid host has no comma, so only then the header lines need to be counted.
    return bool(host) and ("," not in host or sum(name == b"host" for name, _ in scope["headers"]) == 1)
