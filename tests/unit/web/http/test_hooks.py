"""Hooks of operations, called in the same order and with the same effect as by Flask itself."""

from collections.abc import Callable
from typing import Any

import flask
import pytest
from flask import Flask, after_this_request

from strongroom.web.http.access import Access
from strongroom.web.http.dispatch.application import Application
from strongroom.web.http.response import Response
from strongroom.web.http.routing import Blueprint

Calls = list[str]
Register = Callable[[Any, Calls], None]


def before(name: str, result: Any = None) -> Register:
    def register(target: Any, calls: Calls) -> None:
        def hook() -> Any:
            calls.append(name)
            return result

        target(hook)

    return register


def after(name: str) -> Register:
    def register(target: Any, calls: Calls) -> None:
        def hook(response: flask.Response) -> flask.Response:
            calls.append(f"{name} {response.status_code}")
            response.headers["X-Hook"] = name
            return response

        target(hook)

    return register


def failing(name: str) -> Register:
    def register(target: Any, calls: Calls) -> None:
        def hook() -> Any:
            calls.append(name)
            raise flask.abort(418)

        target(hook)

    return register


def teardown(name: str) -> Register:
    def register(target: Any, calls: Calls) -> None:
        target(lambda _error: calls.append(name))

    return register


HOOKS: dict[str, list[tuple[str, Register]]] = {
    "order": [
        ("app.before_request", before("app before")),
        ("app.after_request", after("app after")),
        ("blueprint.before_app_request", before("all before")),
        ("blueprint.before_request", before("blueprint before 1")),
        ("blueprint.before_request", before("blueprint before 2")),
        ("blueprint.after_request", after("blueprint after 1")),
        ("blueprint.after_request", after("blueprint after 2")),
        ("blueprint.after_app_request", after("all after")),
        ("other.before_request", before("never")),
        ("other.after_app_request", after("other after")),
    ],
    "replaced": [
        ("blueprint.before_app_request", before("before", ("Replaced.", 203))),
        ("blueprint.before_request", before("never")),
        ("blueprint.after_request", after("after")),
    ],
    "refused": [
        ("blueprint.before_app_request", failing("before")),
        ("blueprint.after_app_request", after("after")),
    ],
    "teardown": [
        ("blueprint.before_request", before("before")),
        ("blueprint.teardown_request", teardown("teardown")),
    ],
}


def view() -> flask.Response:
    def remember(response: flask.Response) -> flask.Response:
        response.headers["X-Own"] = "own"
        return response

    after_this_request(remember)
    return Response(b"Own.")


def serve(app: Flask, blueprint: Any, hooks: list[tuple[str, Register]]) -> tuple[Calls, Any]:
    calls: Calls = []
    other = flask.Blueprint("other", __name__)
    targets = {"app": app, "blueprint": blueprint, "other": other}
    for name, register in hooks:
        target, method = name.split(".")
        register(getattr(targets[target], method), calls)
    app.register_blueprint(blueprint)
    app.register_blueprint(other)
    app.register_error_handler(418, lambda error: ("Refused.", 418))
    response = app.test_client().get("/path")
    headers = {name: response.headers.get(name) for name in ("X-Hook", "X-Own")}
    return calls, (response.status_code, response.data, headers)


@pytest.mark.parametrize("case", HOOKS)
def test_hooks_do_the_same_as_in_flask(case: str) -> None:
    theirs = flask.Blueprint("feature", __name__)
    theirs.get("/path")(view)
    ours = Blueprint("feature")
    ours.operation("GET", "/path", access=Access.PUBLIC)(view)
    expected = serve(Flask("test"), theirs, HOOKS[case])
    assert expected[0]
    assert serve(Application("test"), ours.flask_blueprint(), HOOKS[case]) == expected
