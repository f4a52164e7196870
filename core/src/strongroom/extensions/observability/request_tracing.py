"""WSGI middleware that records each sampled request as a trace."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from strongroom.plugin_api.tracing import SpanKind, Tracer, TraceSpan, attached
from strongroom.web.http.middleware import NO_ROUTE, WsgiApp, get_notes, known_method

_SERVER_ERROR: Final = 500


@dataclass(slots=True, eq=False, repr=False)
class TracingMiddleware:
    """Traces requests, with their routes but without their paths.

    Args:
        tracer: decides whether a request is sampled.
        is_trusted: whether a peer is a trusted proxy. Only its ``traceparent`` is accepted: otherwise
            any client could have all of its requests traced, under an id of its choice.
    """

    _app: WsgiApp
    _tracer: Tracer
    _is_trusted: Callable[[str], bool]

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        parent = environ.get("HTTP_TRACEPARENT")
        if parent is not None and not self._is_trusted(environ.get("REMOTE_ADDR") or ""):
            parent = None
        span = self._tracer.start("HTTP", SpanKind.SERVER, parent)
        if span is None:
            return self._app(environ, start_response)
        return self._traced(_TracedRequest(span, environ), environ, start_response)

    def _traced(
        self, request: "_TracedRequest", environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        def start(status: str, *args: Any, **kwargs: Any) -> Any:
            request.status = int(status.partition(" ")[0])
            return start_response(status, *args, **kwargs)

        try:
            with attached(request.span):
                answer = self._app(environ, start)
        except BaseException as error:
            request.end(error)
            raise
        if isinstance(answer, list):
            request.end()
            return answer
        return _TracedBody(answer, request)


class _TracedRequest:
    """The span of one request."""

    def __init__(self, span: TraceSpan, environ: dict[str, Any]) -> None:
        self.span = span
        # Reported if the application raises before it calls start_response.
        self.status = _SERVER_ERROR
        self._method = known_method(environ)
        self._notes = get_notes(environ)
        self._ended = False

    def end(self, error: BaseException | None = None) -> None:
        """End the span; further calls have no effect."""
        if self._ended:
            return
        self._ended = True
        route = self._notes.get("route", NO_ROUTE)
        self.span.rename(f"{self._method} {route}")
        self.span.set(
            {
                "http.request.method": self._method,
                "http.route": route,
                "http.response.status_code": self.status,
                "strongroom.request_id": self._notes.get("request_id", ""),
            }
        )
        self.span.end(error or (str(self.status) if self.status >= _SERVER_ERROR else None))


class _TracedBody:
    """A response body that is produced within the span of its request, which ends with it."""

    def __init__(self, answer: Iterable[bytes], request: _TracedRequest) -> None:
        self._answer = answer
        self._pieces = iter(answer)
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            with attached(self._request.span):
                return next(self._pieces)
        except StopIteration:
            raise
        except BaseException as error:
            self._request.end(error)
            raise

    def close(self) -> None:
        close = getattr(self._answer, "close", None)
        try:
            if close is not None:
                with attached(self._request.span):
                    close()
        finally:
            self._request.end()
