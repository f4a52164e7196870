"""The fast path: serves frequent plain requests without Flask.

The cost of a short response is mostly overhead: the framework, a transaction, temporary objects. This
module serves only the success case of a few frequent routes. A request that it cannot serve is passed
on to the ordinary Flask route, which also produces all error responses. Both produce the same response
to the byte; a test compares them.

A request that changes data is never executed twice. If it fails here, its exception is passed on in the
environ, and the ordinary path only converts it to an error response.
"""

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Final, Protocol

from strongroom.errors import StrongroomError
from strongroom.telemetry.error_log import ErrorLog
from strongroom.web.metrics import note_route
from strongroom.web.requests import FAILURE, NO_STORE, SHARED_HEADERS, request_id_for
from strongroom.web.wsgi import WsgiApp

logger = logging.getLogger(__name__)

Headers = list[tuple[str, str]]

_Fits = Callable[[str], re.Match[str] | None]

# Headers that the fast routes do not support. A new header of an ordinary route must be added here,
# otherwise the fast path ignores it.
_UNUSUAL: Final = (
    "HTTP_IF_MATCH",
    "HTTP_IF_NONE_MATCH",
    "HTTP_IF_MODIFIED_SINCE",
    "HTTP_IF_UNMODIFIED_SINCE",
    "HTTP_IF_RANGE",
    "HTTP_WANT_CONTENT_DIGEST",
    "HTTP_TRANSFER_ENCODING",
    "HTTP_EXPECT",
    "HTTP_CONTENT_DIGEST",
    "HTTP_CONTENT_ENCODING",
    "HTTP_CONTENT_RANGE",
    "HTTP_REPR_DIGEST",
)
_BEARER: Final = "Bearer "
_MAX_DIGITS: Final = 18
"""The maximum digits of Content-Length; longer ones are passed on, because ``int`` rejects them."""


class Claims(Protocol):
    """The claims of a valid token."""

    @property
    def user_id(self) -> str:
        """The id of the user."""

    @property
    def authorization_id(self) -> str:
        """The id of the login, which may have been revoked."""


@dataclass(slots=True)
class PlainRequest:
    """A request without conditional headers, whose token is valid unless it was revoked.

    Args:
        path: the request path.
        places: the path parameters, which are ids, by name.
        query: the query string.
        claims: the claims of the token.
        content: the complete body.
    """

    path: str
    places: Mapping[str, str]
    query: str
    claims: Claims
    content: bytes
    _environ: Mapping[str, Any]

    def header(self, name: str) -> str | None:
        """Return a header by its WSGI name (PEP 3333), or ``None``."""
        return self._environ.get(name)


@dataclass(slots=True)
class PlainAnswer:
    """The response to a plain request, without the headers that all responses share."""

    status: str
    headers: Headers
    body: Iterable[bytes]


@dataclass(frozen=True, slots=True)
class FastRoute:
    """A route with a fast implementation.

    Args:
        rule: the rule of the ordinary route without the base path; its parameters must be ids here.
        answer: returns the response, or ``None`` to pass the request on; then it has changed nothing.
        words: fixed values of parameters that are not ids.
        method: ``GET`` without a body, or another method with one.
        max_content: the maximum size of the body in bytes; 0 for no body.
    """

    rule: str
    answer: Callable[[PlainRequest], PlainAnswer | None]
    words: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"
    max_content: int = 0


class FastPath:
    """Middleware that serves plain requests of some routes, and passes all others on.

    Args:
        app: the ordinary application.
        base_path: the prefix of all routes.
        routes: the fast routes.
        claims: returns the claims of a token; raises if it is invalid.
    """

    def __init__(
        self,
        app: WsgiApp,
        base_path: str,
        routes: Sequence[FastRoute],
        claims: Callable[[str], Claims],
    ) -> None:
        self._app = app
        self._base_path = base_path
        self._routes: dict[str, list[tuple[_Fits, FastRoute]]] = {}
        for route in routes:
            fits = _pattern(base_path, route).fullmatch
            self._routes.setdefault(route.method, []).append((fits, route))
        self._claims = claims
        self._errors = ErrorLog(logger)
        self.answered = 0
        """The number of requests that were served by the fast path."""

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            answer = self._answer(environ)
        except Exception as error:
            answer = None
            if environ["REQUEST_METHOD"] != "GET":
                # The change may have begun, so the ordinary route only reports the error.
                environ[FAILURE] = error
            elif not isinstance(error, StrongroomError):
                # A read can be repeated: the ordinary route may succeed, or reports the error.
                self._errors.log(error, "Error in the fast path")
        if answer is None:
            return self._app(environ, start_response)
        self.answered += 1
        start_response(answer.status, answer.headers)
        return answer.body

    def _answer(self, environ: dict[str, Any]) -> PlainAnswer | None:
        path: str = environ["PATH_INFO"]
        for fits, route in self._routes.get(environ["REQUEST_METHOD"], ()):
            match = fits(path)
            if match is not None:
                return self._answer_by(route, match.groupdict(), environ)
        return None

    def _answer_by(
        self, route: FastRoute, places: Mapping[str, str], environ: dict[str, Any]
    ) -> PlainAnswer | None:
        token = None if _is_unusual(environ, route) else _only_token(environ)
        if token is None:
            return None
        claims, query = self._claims(token), environ.get("QUERY_STRING", "")
        content = _content(environ) if route.max_content else b""
        if content is None:
            return None
        request = PlainRequest(environ["PATH_INFO"], places, query, claims, content, environ)
        answer = route.answer(request)
        if answer is not None:
            request_id = request_id_for(environ.get("HTTP_X_REQUEST_ID", ""))
            _complete(answer.headers, request_id)
            note_route(environ, self._base_path + route.rule, request_id)
        return answer


def _pattern(base_path: str, route: FastRoute) -> re.Pattern[str]:
    """Return the pattern of a route's paths, with UUIDs as parameters."""
    parts = re.split(r"<(\w+)>", base_path + route.rule)
    for index, part in enumerate(parts):
        word = route.words.get(part, "")
        place = re.escape(word) or "[0-9a-f-]{36}"
        parts[index] = f"(?P<{part}>{place})" if index % 2 else re.escape(part)
    return re.compile("".join(parts))


def _is_unusual(environ: Mapping[str, Any], route: FastRoute) -> bool:
    """Return whether a request has headers or a body that the fast path does not support."""
    return (
        not environ.keys().isdisjoint(_UNUSUAL)
        or not _has_usual_length(environ.get("CONTENT_LENGTH", ""), route)
        or bool(environ.get("SCRIPT_NAME"))
    )


def _has_usual_length(length: str, route: FastRoute) -> bool:
    if not route.max_content:
        return length in ("", "0")
    is_number = length.isdecimal() and len(length) <= _MAX_DIGITS
    return is_number and 0 < int(length) <= route.max_content


def _content(environ: dict[str, Any]) -> bytes | None:
    """Return the body if it is complete. The ordinary route can read the received bytes again."""
    left, pieces = int(environ["CONTENT_LENGTH"]), []
    while left and (piece := environ["wsgi.input"].read(left)):
        left -= len(piece)
        pieces.append(piece)
    content = b"".join(pieces)
    environ["wsgi.input"] = BytesIO(content)
    return None if left else content


def _only_token(environ: Mapping[str, Any]) -> str | None:
    header: str | None = environ.get("HTTP_X_ACCESS_TOKEN")
    authorization: str | None = environ.get("HTTP_AUTHORIZATION")
    if authorization is None:
        return header
    is_bearer = header is None and authorization.startswith(_BEARER)
    return authorization[len(_BEARER) :] if is_bearer else None


def _complete(headers: Headers, request_id: str) -> None:
    headers.append(("X-Request-Id", request_id))
    headers += SHARED_HEADERS.items()
    if "Cache-Control" not in dict(headers):
        headers.append(("Cache-Control", NO_STORE))
