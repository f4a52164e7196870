"""The application of a simulated platform: planned answers, the frame of its pages, redirects."""

from collections import Counter
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

from flask import Blueprint, Flask, Response, redirect, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.planned import PlannedAnswers


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
