"""Run the hook in a Flask application; the tests of Strongroom run it in a server."""

import os
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import flask
import pytest
from strongroom_maintenance_mode import plugin

from strongroom.plugin_api.request import bind_to_host
from strongroom.plugin_api.web import ApiError


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "maintenance"
    monkeypatch.setenv(plugin.VARIABLE, str(path))
    return path


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> "Clock":
    clock = Clock()
    monkeypatch.setattr(plugin, "monotonic", clock.now)
    return clock


class Clock:
    """Time that a test sets, in seconds."""

    seconds = 0.0

    def now(self) -> float:
        return self.seconds


def create_app() -> flask.Flask:
    app = flask.Flask(__name__)
    host: Any = SimpleNamespace(public_url="https://example.com/files")
    host.get_service = cache(lambda kind: kind(host))
    (blueprint,) = plugin.register_blueprints()
    ((kind, hook),) = blueprint.hooks
    assert kind == "before_app_request"
    app.before_request(bind_to_host(host, hook))
    return app


@pytest.mark.parametrize("path", ["/files/api/v1/tenants", "/files/api/v1/livez", "/files"])
def test_requests_are_refused_while_the_file_exists(file: Path, clock: Clock, path: str) -> None:
    app = create_app()
    with app.test_request_context(path):
        app.preprocess_request()
        file.touch()
        clock.seconds += plugin.INTERVAL
        with pytest.raises(ApiError) as refusal:
            app.preprocess_request()
        assert refusal.value.kind in plugin.register_errors()
        file.unlink()
        clock.seconds += plugin.INTERVAL
        app.preprocess_request()


def test_the_file_is_looked_up_once_in_an_interval(
    file: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(os.path, "exists", calls.append)
    app = create_app()
    with app.test_request_context("/files"):
        for seconds in (0, 0, plugin.INTERVAL / 2, plugin.INTERVAL, plugin.INTERVAL):
            clock.seconds = seconds
            app.preprocess_request()
    assert calls == [str(file)] * 2


@pytest.mark.parametrize("path", ["/files/livez", "/files/readyz"])
def test_health_checks_are_never_refused(file: Path, path: str) -> None:
    file.touch()
    app = create_app()
    with app.test_request_context(path):
        app.preprocess_request()


def test_the_path_of_the_file_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(plugin.VARIABLE, raising=False)
    with pytest.raises(ValueError, match="STRONGROOM_MAINTENANCE_FILE"):
        create_app()
