"""WSGI applications of plugins below path prefixes of the server.

A mounted application (PEP 3333) runs in the context of its request, as a view does: request hooks of
plugins, request ids, the access log, metrics, CORS, draining and error responses are the same. The
application sees ``SCRIPT_NAME`` with its prefix, and decides about everything below it, except for the
size of request bodies: :class:`BodyLimits`. The host and the scheme that it sees come from
``server.public_url``, whatever the client has sent.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextvars import Context
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule
from werkzeug.test import run_wsgi_app

from strongroom.plugin_api.web import BODY_BYTES, REQUESTED_HOST, LargeBody, MountedApplication
from strongroom.web.http.bounded_body import BoundedBody, is_form, require_announced
from strongroom.web.http.request import PublicUrl, get_service, mounted_environ, set_mounted_environ
from strongroom.web.http.response import Response

_PREFIX: Final = re.compile(r"(/[a-z0-9][a-z0-9._-]*)+")
_FORWARDED: Final = frozenset(
    f"HTTP_{name}" for name in ("FORWARDED", "X_FORWARDED_HOST", "X_FORWARDED_PORT", "X_FORWARDED_PROTO")
)
"""The variables that frameworks may read a host from in place of Host."""

_WITHOUT_BODY: Final = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


class BodyLimits:
    """The maximum sizes of the request bodies of a mounted application.

    Args:
        bodies: what the application declares; all other bodies have at most :data:`BODY_BYTES`.
        largest: bytes that a declaration without a size accepts.

    Raises:
        ValueError: the path of a declaration is malformed.
    """

    def __init__(self, bodies: Iterable[LargeBody] = (), largest: int = 0) -> None:
        self._largest = largest
        rules = [Rule(body.path, methods=[body.method], endpoint=body) for body in bodies]
        self._routes = Map(rules, strict_slashes=False, merge_slashes=False) if rules else None

    def find(self, environ: WSGIEnvironment, path: str) -> int:
        """Return the maximum size in bytes of the body of a request.

        Args:
            path: the path of the request within the application.
        """
        body = None if self._routes is None else self._declared(environ["REQUEST_METHOD"], path)
        if body is None or (is_form(environ) and not body.is_form):
            return BODY_BYTES
        return self._largest if body.max_bytes is None else body.max_bytes

    def _declared(self, method: str, path: str) -> LargeBody | None:
        adapter = self._routes.bind("") if self._routes else None
        try:
            body: LargeBody | None = adapter.match(path, method)[0] if adapter else None
        except HTTPException:
            return None
        return body


@dataclass(frozen=True)
class Mount:
    """A WSGI application and its place.

    Args:
        prefix: the path, with the base path of the server and without a trailing slash.
        owner: the plugin, for errors.
        limits: the maximum sizes of request bodies.
    """

    prefix: str
    application: WSGIApplication
    owner: str
    limits: BodyLimits

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
            MalformedRequest: it is a form with too many fields.
        """
        environ = self._environ(mounted_environ())
        sent: BoundedBody = environ["wsgi.input"]
        try:
            body, status, headers = run_wsgi_app(self._application, environ)
        finally:
            set_mounted_environ(None)
        if sent.fault is not None:
            # The application may have answered something else, such as the error page of a framework.
            close_body(body)
            raise sent.fault
        code = int(status.partition(" ")[0])
        if environ["REQUEST_METHOD"] == "HEAD" or code in _WITHOUT_BODY:
            close_body(body)
            body = iter(())
        return Response(body, code, headers.to_wsgi_list())

    def _application(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        # Werkzeug has copied the environ, and requests refer to the copy.
        set_mounted_environ(environ)
        return self.application(environ, start_response)

    def _environ(self, environ: WSGIEnvironment) -> WSGIEnvironment:
        path = environ["PATH_INFO"][len(self.prefix) :]
        limit = self.limits.find(environ, path)
        require_announced(environ, limit)
        site = urlsplit(get_service(PublicUrl).root)
        return {
            **{name: value for name, value in environ.items() if name not in _FORWARDED},
            # Frameworks build URLs of redirects from these, and the client controls what it sent.
            "HTTP_HOST": site.netloc,
            "wsgi.url_scheme": site.scheme,
            REQUESTED_HOST: environ.get("HTTP_HOST", ""),
            "SCRIPT_NAME": environ.get("SCRIPT_NAME", "") + self.prefix,
            "PATH_INFO": path,
            "wsgi.input": BoundedBody.from_environ(environ, limit),
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


def read_mounted(item: Any) -> MountedApplication | None:
    """Return what a plugin has returned as a mounted application; ``None`` if it is none.

    A pair of a prefix and an application is one that declares nothing else.
    """
    if isinstance(item, MountedApplication):
        return item
    if isinstance(item, tuple) and len(item) == 2 and callable(item[1]):  # noqa: PLR2004  a pair
        return MountedApplication(*item)
    return None


def mount_fault(item: Any, routes: Iterable[str], mounts: Sequence[Mount]) -> str | None:
    """Return why an application cannot be mounted, or ``None``.

    Args:
        routes: the paths of all routes, without the base path of the server.
        mounts: the applications that are mounted already, with prefixes without the base path.
    """
    application = read_mounted(item)
    if application is None:
        return f"expected pairs of a prefix and a WSGI application, or MountedApplication, not {item!r}"
    if fault := _declaration_fault(application):
        return fault
    prefix: Any = application.prefix
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


def _declaration_fault(application: MountedApplication) -> str | None:
    try:
        BodyLimits(application.large_bodies)
    except (AttributeError, ValueError) as error:
        return f'the large bodies of "{application.prefix}" cannot be used: {error}'
    return None


def _overlap(one: str, other: str) -> bool:
    shorter, longer = sorted((f"{one}/", f"{other}/"), key=len)
    return longer.startswith(shorter)
