"""Run the hook in a Flask application; the tests of Strongroom run it in a server."""

import socket
from functools import cache
from types import SimpleNamespace
from typing import Any

import flask
import pytest
from strongroom_served_by import plugin

from strongroom.plugin_api.request import bind_to_host


def served_by() -> str | None:
    app = flask.Flask(__name__)
    host: Any = SimpleNamespace()
    host.get_service = cache(lambda kind: kind(host))
    (blueprint,) = plugin.register_blueprints()
    ((kind, hook),) = blueprint.hooks
    assert kind == "after_app_request"
    app.after_request(bind_to_host(host, hook))
    return app.test_client().get("/").headers[plugin.HEADER]


def test_a_response_names_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(plugin.VARIABLE, raising=False)
    assert served_by() == socket.gethostname()


def test_the_name_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plugin.VARIABLE, "node-7")
    assert served_by() == "node-7"
