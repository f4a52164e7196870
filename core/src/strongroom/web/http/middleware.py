"""WSGI middlewares around the application: metrics and the access log, CORS, and draining.

CORS: the "CORS protocol" of the Fetch standard. Tokens travel in request headers, never in cookies, so
responses are shared without credentials mode.
"""

import logging
import mmap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from strongroom.foundation.logs import ACCESS_LOGGER
from strongroom.web.http.header_descriptions import REQUEST_HEADERS, RESPONSE_HEADERS

NO_ROUTE: Final = "-"
"""The route label of a request that matches no route."""

_SEEN: Final = "strongroom.seen"

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
ANY_ORIGIN: Final = "*"

EXPOSED_HEADERS: Final = frozenset({*RESPONSE_HEADERS, "Content-Length"})
"""The response headers of the core that scripts of allowed origins may read."""

ALLOWED_HEADERS: Final = frozenset(
    {*REQUEST_HEADERS, "Authorization", "Content-Encoding", "Content-Type", "X-Access-Token"}
)
"""The request headers that scripts of allowed origins may send: all headers that the core reads."""

_ALLOWED_METHODS: Final = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

# Chromium caches preflight responses for at most two hours.
_MAX_AGE_SECONDS: Final = 7200


class DrainFlag:
    """Whether the server is draining; shared memory with the processes forked from this one."""

    def __init__(self) -> None:
        # An anonymous shared mapping: forked children see the writes of the master.
        self._memory = mmap.mmap(-1, 1)

    @property
    def is_set(self) -> bool:
        """Whether the server is draining."""
        return self._memory[0] != 0

    def set(self) -> None:
        """Mark the server as draining."""
        self._memory[0] = 1


DRAINING: Final = DrainFlag()
"""The flag of this server."""


WsgiApp = Callable[..., Iterable[bytes]]

access_log = logging.getLogger(ACCESS_LOGGER)


class Meter(Protocol):
    """Records request metrics."""

    requests_in_flight: Any

    def request(
        self, method: str, route: str, status: int, seconds: float, received: int, sent: int
    ) -> None:
        """Count a finished request."""


def known_method(environ: Mapping[str, Any]) -> str:
    """Return the method of a request; all unknown ones are the same, so that their number is bounded."""
    method: str = environ["REQUEST_METHOD"]
    return method if method in _METHODS else "OTHER"


RequestNotes = dict[str, str]


def get_notes(environ: dict[str, Any]) -> RequestNotes:
    """Return the route and id of a request, which are complete when its response is."""
    notes: RequestNotes = environ.setdefault(_SEEN, {})
    return notes


def note_route(environ: Mapping[str, Any], route: str, request_id: str) -> None:
    """Report the route and id of a request to the middlewares that read them, if there are any."""
    seen = environ.get(_SEEN)
    if seen is not None:
        seen["route"] = route
        seen["request_id"] = request_id


@dataclass(slots=True, eq=False, repr=False)
class RequestMetricsMiddleware:
    """Counts and logs each request once its response has been sent.

    Args:
        meter: records metrics; ``None`` only logs.
    """

    _app: WsgiApp
    _meter: Meter | None

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        stats = _RequestStats(environ, self._meter)

        def start(status: str, *args: Any, **kwargs: Any) -> Any:
            stats.status = int(status.partition(" ")[0])
            return start_response(status, *args, **kwargs)

        try:
            answer = self._app(environ, start)
        except BaseException:
            stats.end()
            raise
        if isinstance(answer, list):
            # A list is complete, so it can be counted now; the gateway sends lists in one piece.
            stats.sent = sum(map(len, answer))
            stats.end()
            return answer
        return _Measured(answer, stats)


class _RequestStats:
    """The measurements of one request."""

    def __init__(self, environ: dict[str, Any], meter: Meter | None) -> None:
        self._meter = meter
        self._method = known_method(environ)
        self._began = time.perf_counter()
        self._seen = get_notes(environ)
        self._ended = False
        self._body = environ["wsgi.input"] = _CountedBody(environ["wsgi.input"])
        # Reported if the application raises before it calls start_response.
        self.status = 500
        self.sent = 0
        if meter is not None:
            meter.requests_in_flight.inc()

    def end(self) -> None:
        """Record the request; further calls have no effect."""
        if self._ended:
            return
        self._ended = True
        seconds = time.perf_counter() - self._began
        route = self._seen.get("route", NO_ROUTE)
        if self._meter is not None:
            self._meter.requests_in_flight.dec()
            self._meter.request(
                self._method, route, self.status, seconds, self._body.received, self.sent
            )
        if access_log.isEnabledFor(logging.INFO):
            self._log(route, seconds)

    def _log(self, route: str, seconds: float) -> None:
        members = {
            "method": self._method,
            "route": route,
            "status": self.status,
            "milliseconds": round(seconds * 1000, 1),
            "received": self._body.received,
            "sent": self.sent,
        }
        text = f"{self._method} {route} {self.status} in {members['milliseconds']} ms"
        extra = {"request_id": self._seen.get("request_id"), "members": members}
        access_log.info(text, extra=extra)


class _CountedBody:
    """A request body that counts the bytes read."""

    def __init__(self, body: Any) -> None:
        self._body = body
        self.received = 0

    def read(self, *args: Any) -> bytes:
        piece: bytes = self._body.read(*args)
        self.received += len(piece)
        return piece

    def readline(self, *args: Any) -> bytes:
        piece: bytes = self._body.readline(*args)
        self.received += len(piece)
        return piece

    def __iter__(self) -> Iterator[bytes]:
        while line := self.readline():
            yield line


class _Measured:
    """A response body that counts the bytes sent; the request ends when it is closed."""

    def __init__(self, answer: Iterable[bytes], stats: _RequestStats) -> None:
        self._answer = answer
        self._pieces = iter(answer)
        self._stats = stats

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            piece = next(self._pieces)
        except BaseException:
            self._stats.end()
            raise
        self._stats.sent += len(piece)
        return piece

    def close(self) -> None:
        close = getattr(self._answer, "close", None)
        try:
            if close is not None:
                close()
        finally:
            self._stats.end()


Headers = list[tuple[str, str]]


class CorsMiddleware:
    """Answers preflight requests and adds the response headers of the CORS protocol.

    Args:
        origins: the allowed origins, each ``scheme://host[:port]`` exactly as browsers send it, or
            :data:`ANY_ORIGIN`.
        allowed: the request headers of plugins that scripts may send.
        exposed: the response headers of plugins that scripts may read.
    """

    def __init__(
        self, app: WsgiApp, origins: Sequence[str], *, allowed: Iterable[str], exposed: Iterable[str]
    ) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._allowed = ", ".join(sorted(ALLOWED_HEADERS.union(allowed)))
        self._exposed = ", ".join(sorted(EXPOSED_HEADERS.union(exposed)))

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        origin = environ.get("HTTP_ORIGIN")
        allowed = origin is not None and not self._origins.isdisjoint((origin, ANY_ORIGIN))
        if allowed and _is_preflight(environ):
            start_response("204 No Content", [*self._preflight_headers(), *self._origin_headers(origin)])
            return []

        def start(status: str, headers: Headers, *args: Any) -> Any:
            # Caches must store a response per origin, even if this request has no Origin.
            shared = self._origin_headers(origin) if allowed else [("Vary", "Origin")]
            return start_response(status, _merged(headers, shared), *args)

        return self._app(environ, start)

    def _preflight_headers(self) -> Headers:
        return [
            ("Access-Control-Allow-Methods", _ALLOWED_METHODS),
            ("Access-Control-Allow-Headers", self._allowed),
            ("Access-Control-Max-Age", str(_MAX_AGE_SECONDS)),
        ]

    def _origin_headers(self, origin: str | None) -> Headers:
        return [
            ("Access-Control-Allow-Origin", origin or ""),
            ("Access-Control-Expose-Headers", self._exposed),
            ("Vary", "Origin"),
        ]


def _is_preflight(environ: dict[str, Any]) -> bool:
    # An OPTIONS request of tus does not have this header.
    return environ["REQUEST_METHOD"] == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in environ


def _merged(headers: Headers, shared: Headers) -> Headers:
    """Return the headers with the shared ones; ``Vary`` is appended, others are replaced."""
    replaced = {name.lower() for name, _ in shared} - {"vary"}
    return [*(item for item in headers if item[0].lower() not in replaced), *shared]


@dataclass(slots=True, eq=False, repr=False)
class CloseWhileDraining:
    """Middleware that adds ``Connection: close`` to every response while the server drains.

    A proxy may send a request on an idle connection at the moment when the server closes it, and must
    not retry a POST. So no idle connections may be left when the server stops.
    """

    _app: WsgiApp

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not DRAINING.is_set:
            return self._app(environ, start_response)

        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            return start_response(status, [*headers, ("Connection", "close")], *error)

        return self._app(environ, start)
