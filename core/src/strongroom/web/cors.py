"""Cross-origin requests of browsers (the Fetch standard, "CORS protocol").

Tokens travel in request headers, never in cookies, so responses are shared without credentials mode.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from strongroom.web.headers import REQUEST_HEADERS, RESPONSE_HEADERS
from strongroom.web.wsgi import WsgiApp

ANY_ORIGIN: Final = "*"

EXPOSED_HEADERS: Final = ", ".join(sorted({*RESPONSE_HEADERS, "Content-Length"}))
"""The response headers that scripts of allowed origins may read."""

ALLOWED_HEADERS: Final = ", ".join(
    sorted({*REQUEST_HEADERS, "Authorization", "Content-Encoding", "Content-Type", "X-Access-Token"})
)
"""The request headers that scripts of allowed origins may send: all headers that routes read."""

_ALLOWED_METHODS: Final = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
# Chromium caches preflight responses for at most two hours.
_MAX_AGE_SECONDS: Final = 7200

Headers = list[tuple[str, str]]


class CorsMiddleware:
    """Answers preflight requests and adds the response headers of the CORS protocol.

    Args:
        app: the wrapped application.
        origins: the allowed origins, each ``scheme://host[:port]`` exactly as browsers send it, or
            :data:`ANY_ORIGIN`.
    """

    def __init__(self, app: WsgiApp, origins: Sequence[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        origin = environ.get("HTTP_ORIGIN")
        allowed = origin is not None and not self._origins.isdisjoint((origin, ANY_ORIGIN))
        if allowed and _is_preflight(environ):
            start_response("204 No Content", [*_preflight_headers(), *_origin_headers(origin)])
            return []

        def start(status: str, headers: Headers, *args: Any) -> Any:
            # Caches must store a response per origin, even if this request has no Origin.
            shared = _origin_headers(origin) if allowed else [("Vary", "Origin")]
            return start_response(status, _merged(headers, shared), *args)

        return self._app(environ, start)


def _is_preflight(environ: dict[str, Any]) -> bool:
    # An OPTIONS request of tus does not have this header.
    return environ["REQUEST_METHOD"] == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in environ


def _preflight_headers() -> Headers:
    return [
        ("Access-Control-Allow-Methods", _ALLOWED_METHODS),
        ("Access-Control-Allow-Headers", ALLOWED_HEADERS),
        ("Access-Control-Max-Age", str(_MAX_AGE_SECONDS)),
    ]


def _origin_headers(origin: str | None) -> Headers:
    return [
        ("Access-Control-Allow-Origin", origin or ""),
        ("Access-Control-Expose-Headers", EXPOSED_HEADERS),
        ("Vary", "Origin"),
    ]


def _merged(headers: Headers, shared: Headers) -> Headers:
    """Return the headers with the shared ones; ``Vary`` is appended, others are replaced."""
    replaced = {name.lower() for name, _ in shared} - {"vary"}
    return [*(item for item in headers if item[0].lower() not in replaced), *shared]
