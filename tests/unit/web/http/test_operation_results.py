"""Results of a plugin's view: values, responses, and tuples with a status and headers."""

from collections.abc import Callable
from typing import Any

import flask
import pytest

from strongroom.plugin_api.web import Access
from strongroom.web.http.dispatch.application import Application
from strongroom.web.http.routing import Blueprint


def client_of(view: Callable[[], Any]) -> Any:
    """Return a client of an application with one operation, ``GET /view``."""
    blueprint = Blueprint("views")
    blueprint.operation("GET", "/view", access=Access.PUBLIC, status=203)(view)
    app = Application("test")
    blueprint.register(app)
    return app.test_client()


@pytest.mark.parametrize(
    ("result", "status", "header"),
    [
        ({"a": 1}, 203, None),
        (({"a": 1}, 202), 202, None),
        (({"a": 1}, {"X-Given": "yes"}), 203, "yes"),
        (({"a": 1}, 202, {"X-Given": "yes"}), 202, "yes"),
    ],
)
def test_a_view_without_a_schema_may_return_json(result: Any, status: int, header: str | None) -> None:
    def view() -> Any:
        return result

    response = client_of(view).get("/view")
    assert (response.status_code, response.json) == (status, {"a": 1})
    assert response.headers.get("X-Given") == header


@pytest.mark.parametrize(
    ("others", "status", "header"),
    [((), 206, None), ((202,), 202, None), ((202, {"X-Given": "yes"}), 202, "yes")],
)
def test_a_response_gets_the_status_and_the_headers_next_to_it(
    others: tuple[Any, ...], status: int, header: str | None
) -> None:
    def view() -> Any:
        response = flask.Response("content", status=206)
        return (response, *others) if others else response

    response = client_of(view).get("/view")
    assert (response.status_code, response.text) == (status, "content")
    assert response.headers.get("X-Given") == header
