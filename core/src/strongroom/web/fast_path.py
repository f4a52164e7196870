"""The fast path: plain requests that are likely to succeed, answered before Flask sees them.

Most of what a short answer takes is not the answer: a framework that can do everything, a transaction,
objects that are made to be read once. Here stands the happy case of a few hot routes, and nothing else.
Every refusal, every error and every doubt is left to the ordinary routes, which alone know them. What
is answered here is answered by them just so, to the byte; a test holds both against each other.

A request that changes something is never tried twice: once the change was begun, how it failed is all
that is left to the ordinary way, which tells the client.
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
"""Of Content-Length; longer texts are left to the ordinary way, because `int` refuses very long ones."""


class Claims(Protocol):
    """What a good token says."""

    @property
    def user_id(self) -> str:
        """Whom it stands for."""

    @property
    def authorization_id(self) -> str:
        """The login that it came from, which may have been revoked."""


@dataclass(slots=True)
class PlainRequest:
    """A request without conditions, whose token is good unless it was revoked.

    Args:
        path: what is asked for.
        places: what stands in the path, by the names that the route gives them; ids.
        query: the query string.
        claims: what the token says.
        content: the body, whole.
    """

    path: str
    places: Mapping[str, str]
    query: str
    claims: Claims
    content: bytes
    _environ: Mapping[str, Any]

    def header(self, name: str) -> str | None:
        """Return a header, named as WSGI does (PEP 3333), if there is one."""
        return self._environ.get(name)


@dataclass(slots=True)
class PlainAnswer:
    """The answer to a plain request. All answers have some headers more, which are added."""

    status: str
    headers: Headers
    body: Iterable[bytes]


@dataclass(frozen=True, slots=True)
class FastRoute:
    """A route that is answered fast where that is certain to be right.

    Args:
        rule: the ordinary route, as it is registered, without the base path; all in angle brackets is
            an id here.
        answer: answers, or returns ``None``, having changed nothing: then the ordinary route does.
        words: what stands in some of the brackets instead of an id.
        method: ``GET`` without a body, or another with one.
        max_content: how many bytes the body may have.
    """

    rule: str
    answer: Callable[[PlainRequest], PlainAnswer | None]
    words: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"
    max_content: int = 0


class FastPath:
    """Answers plain requests of some routes, and hands all others on.

    Args:
        app: answers the others.
        base_path: what all routes begin with.
        routes: the routes.
        claims: returns what a token says, and raises if it is not good.
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
        """How many requests were answered here."""

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            answer = self._answer(environ)
        except Exception as error:
            answer = None
            if environ["REQUEST_METHOD"] != "GET":
                environ[FAILURE] = error
            elif not isinstance(error, StrongroomError):
                # The ordinary way may know better, and tells the client if it does not.
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
    """Return what matches the paths of a route whose ids have the form of ours."""
    parts = re.split(r"<(\w+)>", base_path + route.rule)
    for index, part in enumerate(parts):
        word = route.words.get(part, "")
        place = re.escape(word) or "[0-9a-f-]{36}"
        parts[index] = f"(?P<{part}>{place})" if index % 2 else re.escape(part)
    return re.compile("".join(parts))


def _is_unusual(environ: Mapping[str, Any], route: FastRoute) -> bool:
    """Return whether a request says more than what it wants, from whom."""
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
    """Return the body if it comes whole; whoever reads it after finds all that has come."""
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
