"""Request metrics and the access log, measured from the request head to the end of the response."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from flask import Flask, g, has_request_context, request

from strongroom.telemetry.logs import ACCESS_LOGGER
from strongroom.web.wsgi import WsgiApp

access_log = logging.getLogger(ACCESS_LOGGER)

NO_ROUTE: Final = "-"
"""The route label of a request that matches no route."""

_SEEN: Final = "strongroom.seen"
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Meter(Protocol):
    """Records request metrics."""

    requests_in_flight: Any

    def request(
        self, method: str, route: str, status: int, seconds: float, received: int, sent: int
    ) -> None:
        """Count a finished request."""


def register_route_notes(app: Flask) -> None:
    """Report the route and id of each request to :class:`RequestMetricsMiddleware`."""
    app.after_request(_note)


def current_request_id() -> str | None:
    """Return the id of the current request, if there is one."""
    return g.get("request_id") if has_request_context() else None


def note_route(environ: Mapping[str, Any], route: str, request_id: str) -> None:
    """Report the route and id of a request to :class:`RequestMetricsMiddleware`, if it is installed."""
    seen = environ.get(_SEEN)
    if seen is not None:
        seen["route"] = route
        seen["request_id"] = request_id


def _note(response: Any) -> Any:
    route = request.url_rule.rule if request.url_rule else NO_ROUTE
    note_route(request.environ, route, g.request_id)
    return response


class RequestMetricsMiddleware:
    """Counts and logs each request once its response has been sent.

    Args:
        app: the wrapped application.
        meter: records metrics; ``None`` only logs.
    """

    def __init__(self, app: WsgiApp, meter: Meter | None) -> None:
        self._app = app
        self._meter = meter

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
        self._method = environ["REQUEST_METHOD"] if environ["REQUEST_METHOD"] in _METHODS else "OTHER"
        self._began = time.perf_counter()
        self._seen: dict[str, str] = {}
        self._ended = False
        self._body = environ["wsgi.input"] = _CountedBody(environ["wsgi.input"])
        environ[_SEEN] = self._seen
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
