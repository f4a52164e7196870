"""The application of a simulated platform: planned answers, the frame of its pages, redirects."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from urllib.parse import urlencode, urlsplit

from flask import Blueprint, Flask, Response, abort, jsonify, redirect, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.planned import PlannedAnswers
from strongroom_simulators.serving import LocalServer


class SimulatedPlatform(Protocol):
    """What all platforms have."""

    clock: AdjustableClock
    requests: Counter[str]
    """The number of requests of each path."""

    @property
    def failures(self) -> PlannedAnswers:
        """The answers that replace those of routes."""


PlatformT = TypeVar("PlatformT", bound=SimulatedPlatform)


class PlatformServer(LocalServer, Generic[PlatformT]):
    """Serves a platform over HTTP; as a context manager, from a thread.

    Args:
        platform: the platform.
        host: the address to listen on.
        port: the port to listen on; 0 selects a free one.
    """

    name: ClassVar[str]
    """The name of the platform, in titles."""

    accent: ClassVar[str]
    """The colour of buttons, in CSS."""

    content_type: ClassVar[str | None] = None
    """The type of planned answers; the default is that of a page."""

    routes: ClassVar[tuple[Callable[[Any], Blueprint], ...]]
    """Return the routes for a platform."""

    refusals: ClassVar[Mapping[type[Exception], Callable[[Any], ResponseReturnValue]]] = {}
    """The responses to exceptions of routes."""

    def __init__(self, platform: PlatformT, *, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__(self._make_app(platform), host=host, port=port)
        self.platform = platform

    def _make_app(self, platform: PlatformT) -> Flask:
        app = platform_app(
            type(self).__module__,
            name=self.name,
            accent=self.accent,
            requests=platform.requests,
            planned=platform.failures,
            content_type=self.content_type,
        )
        for routes in self.routes:
            app.register_blueprint(routes(platform))
        for refusal, respond in self.refusals.items():
            app.register_error_handler(refusal, respond)
        return app


def control_routes(platform: SimulatedPlatform) -> Blueprint:
    """Return the routes below ``/simulator``, so far that of the clock; each expects a JSON body."""
    routes = Blueprint("controls", __name__, url_prefix="/simulator")

    @routes.post("/clock")
    def clock() -> ResponseReturnValue:
        platform.clock.advance(request.get_json()["advance"])
        return jsonify(now=platform.clock())

    return routes


def body_of_person(people: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON body of a request, whose ``person`` is one of the people."""
    body: dict[str, Any] = request.get_json()
    if body["person"] not in people:
        abort(404, "No such person.")
    return body


def platform_app(
    import_name: str,
    *,
    name: str,
    accent: str,
    requests: Counter[str],
    planned: PlannedAnswers,
    content_type: str | None = None,
) -> Flask:
    """Return an application without routes, whose planned answers precede those of its routes.

    Args:
        import_name: the module of the platform, beside which its ``templates`` are. They can extend
            ``layout.html`` and replace ``problem.html``.
        name: the name of the platform, in titles.
        accent: the colour of buttons, in CSS.
        requests: counts the requests of each path.
        planned: the answers that replace those of routes.
        content_type: the type of planned answers; the default is that of a page.
    """
    app = Flask(import_name)
    # An application's own templates precede those of its blueprints.
    app.register_blueprint(Blueprint("layout", __name__, template_folder="templates"))
    app.context_processor(lambda: {"platform_name": name, "accent": accent})

    @app.before_request
    def planned_answer() -> Response | None:
        requests[request.path] += 1
        answer = planned.take(request.path)
        if answer is None:
            return None
        return Response(answer.body, answer.status, answer.headers, content_type=content_type)

    return app


def redirect_back(answer: Mapping[str, str]) -> ResponseReturnValue:
    """Return a redirect to the ``redirect_uri`` of the request with an answer and the ``state``."""
    state = {"state": request.args["state"]} if "state" in request.args else {}
    return redirect_with(request.args["redirect_uri"], {**answer, **state})


def redirect_with(target: str, parameters: Mapping[str, str]) -> ResponseReturnValue:
    """Return a redirect to a URL with further parameters in its query."""
    separator = "&" if urlsplit(target).query else "?"
    return redirect(f"{target}{separator}{urlencode(parameters)}")
