"""WSGI applications of plugins below path prefixes of the server.

A mounted application (PEP 3333) runs in the context of its request, as a view does: request hooks of
plugins, request ids, the access log, metrics, CORS, draining and error responses are the same. The
application sees ``SCRIPT_NAME`` with its prefix, and decides about everything below it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextvars import Context
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final
from wsgiref.types import WSGIApplication, WSGIEnvironment

from werkzeug.routing import Rule
from werkzeug.test import run_wsgi_app

from strongroom.foundation.errors import PayloadTooLarge
from strongroom.web.http.request import mounted_environ
from strongroom.web.http.response import Response

_PREFIX: Final = re.compile(r"(/[a-z0-9][a-z0-9._-]*)+")
_WITHOUT_BODY: Final = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


class LimitedBody:
    """A request body that raises an error once more than ``limit`` bytes are read.

    Raises:
        PayloadTooLarge: from each method that reads.
    """

    def __init__(self, body: Any, limit: int) -> None:
        self._body = body
        self._left = limit

    def read(self, size: int = -1, /) -> bytes:
        return self._counted(self._body.read(self._bounded(size)))

    def readline(self, size: int = -1, /) -> bytes:
        return self._counted(self._body.readline(self._bounded(size)))

    def readlines(self, _hint: int = -1, /) -> list[bytes]:
        return list(self)

    def __iter__(self) -> Iterator[bytes]:
        while line := self.readline():
            yield line

    def _bounded(self, size: int) -> int:
        # One byte more than allowed shows that the limit is exceeded.
        most = self._left + 1
        return most if size < 0 else min(size, most)

    def _counted(self, data: bytes) -> bytes:
        self._left -= len(data)
        if self._left < 0:
            raise PayloadTooLarge
        return data


@dataclass(frozen=True)
class Mount:
    """A WSGI application and its place.

    Args:
        prefix: the path, with the base path of the server and without a trailing slash.
        owner: the plugin, for errors.
        max_bytes: the maximum size of a request body.
    """

    prefix: str
    application: WSGIApplication
    owner: str
    max_bytes: int

    @cached_property
    def rule(self) -> Rule:
        """The route for metrics and the access log; it is never matched."""
        return Rule(f"{self.prefix}/*", endpoint=f"{self.prefix} of {self.owner}")

    def covers(self, path: str) -> bool:
        """Return whether the application serves a path."""
        return path.startswith(self.prefix) and path[len(self.prefix) :][:1] in ("", "/")

    def __call__(self) -> Response:
        """Serve the current request.

        Raises:
            PayloadTooLarge: the request body is too large.
        """
        environ = self._environ(mounted_environ())
        body, status, headers = run_wsgi_app(self.application, environ)
        code = int(status.partition(" ")[0])
        if environ["REQUEST_METHOD"] == "HEAD" or code in _WITHOUT_BODY:
            close_body(body)
            body = iter(())
        return Response(body, code, headers.to_wsgi_list())

    def _environ(self, environ: WSGIEnvironment) -> WSGIEnvironment:
        length = environ.get("CONTENT_LENGTH") or "0"
        if length.isdecimal() and int(length) > self.max_bytes:
            raise PayloadTooLarge
        return {
            **environ,
            "SCRIPT_NAME": environ.get("SCRIPT_NAME", "") + self.prefix,
            "PATH_INFO": environ["PATH_INFO"][len(self.prefix) :],
            "wsgi.input": LimitedBody(environ["wsgi.input"], self.max_bytes),
        }


class ContextIterator:
    """The body of a response, produced in the context of its request.

    The server iterates over the body after the view has returned, and an application may generate it
    from ``host.files`` meanwhile.
    """

    def __init__(self, body: Iterable[bytes], context: Context) -> None:
        self._body = body
        self._pieces = iter(body)
        self._context = context

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return self._context.run(next, self._pieces)

    def close(self) -> None:
        """Close the body."""
        self._context.run(close_body, self._body)


def close_body(body: Iterable[bytes]) -> None:
    """Close the body of a response, if it has to be closed (PEP 3333)."""
    close = getattr(body, "close", None)
    if close is not None:
        close()


def mount_fault(item: Any, routes: Iterable[str], mounts: Sequence[Mount]) -> str | None:
    """Return why an application cannot be mounted, or ``None``.

    Args:
        routes: the paths of all routes, without the base path of the server.
        mounts: the applications that are mounted already, with prefixes without the base path.
    """
    if not isinstance(item, tuple) or len(item) != 2 or not callable(item[1]):  # noqa: PLR2004  a pair
        return f"expected pairs of a prefix and a WSGI application, not {item!r}"
    prefix = item[0]
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        return f'the prefix {prefix!r} must be like "/browse": lowercase letters, digits, ".", "_", "-"'
    # All paths below the first segment of a route are reserved, because later routes may be there.
    first = prefix.split("/")[1]
    taken = next((route for route in routes if route.split("/")[1:2] == [first]), None)
    if taken is not None:
        return f'the prefix "{prefix}" collides with the route {taken} of the server'
    other = next((mount for mount in mounts if _overlap(mount.prefix, prefix)), None)
    if other is not None:
        return f'the prefix "{prefix}" collides with "{other.prefix}" of {other.owner}'
    return None


def _overlap(one: str, other: str) -> bool:
    shorter, longer = sorted((f"{one}/", f"{other}/"), key=len)
    return longer.startswith(shorter)
