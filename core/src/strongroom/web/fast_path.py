"""The fast path: plain GETs that are certain to succeed, answered before Flask sees them.

Most of what a short answer takes is not the answer: a framework that can do everything, a transaction,
objects that are made to be read once. Here stands the happy case of a few hot routes, and nothing else.
Every refusal, every error and every doubt is left to the ordinary routes, which alone know them. What
is answered here is answered by them just so, to the byte; a test holds both against each other.
"""

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from strongroom.errors import StrongroomError
from strongroom.web.metering import note_route
from strongroom.web.requests import NO_STORE, SHARED_HEADERS, request_id_for
from strongroom.web.wsgi import WsgiApp

logger = logging.getLogger(__name__)

Headers = list[tuple[str, str]]

_UNUSUAL: Final = (
    "HTTP_IF_MATCH",
    "HTTP_IF_NONE_MATCH",
    "HTTP_IF_MODIFIED_SINCE",
    "HTTP_IF_UNMODIFIED_SINCE",
    "HTTP_IF_RANGE",
    "HTTP_WANT_CONTENT_DIGEST",
    "HTTP_TRANSFER_ENCODING",
    "HTTP_EXPECT",
)
_BEARER: Final = "Bearer "


class Claims(Protocol):
    """What a good token says."""

    @property
    def user_id(self) -> str:
        """Whom it stands for."""

    @property
    def authorization_id(self) -> str:
        """The login that it came from, which may have been revoked."""


@dataclass(slots=True)
class PlainGet:
    """A GET without conditions, whose token is good unless it was revoked.

    Args:
        path: what is asked for.
        places: what stands in the path, by the names that the route gives them; ids.
        query: the query string.
        range: the header, if there is one.
        claims: what the token says.
    """

    path: str
    places: Mapping[str, str]
    query: str
    range: str | None
    claims: Claims


@dataclass(slots=True)
class PlainAnswer:
    """The answer to a plain GET. All answers have some headers more, which are added."""

    status: str
    headers: Headers
    body: Iterable[bytes]


@dataclass(frozen=True, slots=True)
class FastRoute:
    """A route that is answered fast where that is certain to be right.

    Args:
        rule: the ordinary route, as it is registered, without the base path; all in angle brackets is
            an id here.
        answer: answers, or returns ``None``: then the ordinary route does.
        words: what stands in some of the brackets instead of an id.
    """

    rule: str
    answer: Callable[[PlainGet], PlainAnswer | None]
    words: Mapping[str, str] = field(default_factory=dict)


class FastPath:
    """Answers plain GETs of some routes, and hands all others on.

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
        self._routes = [(_pattern(base_path, route).fullmatch, route) for route in routes]
        self._claims = claims
        self.answered = 0
        """How many requests were answered here."""

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] != "GET":
            return self._app(environ, start_response)
        try:
            answer = self._answer(environ)
        except StrongroomError:
            answer = None
        except Exception:
            # The ordinary way may know better, and tells the client if it does not.
            logger.exception("A request could not be answered fast")
            answer = None
        if answer is None:
            return self._app(environ, start_response)
        self.answered += 1
        start_response(answer.status, answer.headers)
        return answer.body

    def _answer(self, environ: dict[str, Any]) -> PlainAnswer | None:
        path: str = environ["PATH_INFO"]
        for fits, route in self._routes:
            match = fits(path)
            if match is not None:
                return self._answer_by(route, match.groupdict(), environ)
        return None

    def _answer_by(
        self, route: FastRoute, places: Mapping[str, str], environ: dict[str, Any]
    ) -> PlainAnswer | None:
        token = None if _is_unusual(environ) else _only_token(environ)
        if token is None:
            return None
        query, wanted = environ.get("QUERY_STRING", ""), environ.get("HTTP_RANGE")
        request = PlainGet(environ["PATH_INFO"], places, query, wanted, self._claims(token))
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


def _is_unusual(environ: Mapping[str, Any]) -> bool:
    """Return whether a GET says more than what it wants, from whom."""
    return (
        not environ.keys().isdisjoint(_UNUSUAL)
        or environ.get("CONTENT_LENGTH", "") not in ("", "0")
        or bool(environ.get("SCRIPT_NAME"))
    )


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
    if all(name != "Cache-Control" for name, _ in headers):
        headers.append(("Cache-Control", NO_STORE))
