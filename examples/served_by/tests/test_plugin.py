"""Run the hook in a Flask application; the tests of Strongroom run it in a server."""

import socket

import flask
import pytest
from strongroom_served_by import plugin


def served_by() -> str | None:
    app = flask.Flask(__name__)
    for blueprint in plugin.register_blueprints():
        for _name, hook in blueprint.hooks:
            app.after_request(hook)
    return app.test_client().get("/").headers[plugin.HEADER]


def test_a_response_names_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(plugin.VARIABLE, raising=False)
    assert served_by() == socket.gethostname()


def test_the_name_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plugin.VARIABLE, "node-7")
    assert served_by() == "node-7"
