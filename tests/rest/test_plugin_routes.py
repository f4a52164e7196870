"""Routes of plugins as functions of a module: each application and each nested request has its host."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.support.config import base_config, merged, write_toml

from strongroom.assembly.app import create_app, get_container
from strongroom.content.nodes.file_erasers import FileErasers
from strongroom.foundation.config import load
from strongroom.foundation.database.upgrade import upgrade
from strongroom.plugin_api.deactivation import Deactivation, DeactivationCause
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.request import bind_to_host, current_host, get_service

SHARED = """
from strongroom.plugin_api.request import current_host, get_service
from strongroom.plugin_api.web import Access, Blueprint

class Shelf:
    def __init__(self, host):
        self.host = host

class Room:
    def __init__(self, host):
        self.host, self.shelf, self.lines = host, host.get_service(Shelf), []

def count():
    get_service(Room).lines.append("limit")

def make_routes(name, nested):
    routes = Blueprint(name, description="Things.")

    @routes.operation("GET", f"/{name}", access=Access.PUBLIC, limit=count)
    def get_things():
        host = current_host()
        before = [host._plugin, host.public_url, host.get_service(Room) is get_service(Room)]
        inner = host.rest("GET", nested).json if nested else None
        return {"before": before, "inner": inner, "after": current_host()._plugin,
                "lines": len(get_service(Room).lines)}

    @routes.after_request
    def name_host(response):
        response.headers.add("X-Own", current_host()._plugin)
        return response

    @routes.after_app_request
    def name_all(response):
        response.headers.add("X-All", current_host()._plugin)
        return response

    return routes

erased = []

def erase(transaction, subject):
    erased.append(current_host()._plugin)

lamps, desks = make_routes("lamps", "/desks"), make_routes("desks", None)
"""
PLUGIN = """
from strongroom.plugin_api import hookimpl
from shelf_routes import erase, {name}
API_VERSION = "2.0"

@hookimpl
def register_blueprints():
    return [{name}]

@hookimpl
def register_file_erasers():
    return [erase]

@hookimpl
def register_deactivations():
    return [erase]
"""


def make_app(folder: Path, public_url: str) -> Flask:
    """Create an application with the plugins of a folder."""
    data = folder / public_url.rpartition("/")[2]
    data.mkdir()
    own = {
        "plugins": {"folder": str(folder / "plugins.d")},
        "server": {"public_url": public_url},
    }
    base = base_config(data, f"sqlite:///{data}/strongroom.sqlite3")
    app = create_app(load(write_toml(data / "strongroom.toml", merged(base, own)), {}))
    upgrade(get_container(app).database.engine)
    return app


@pytest.fixture
def apps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Flask]]:
    (tmp_path / "plugins.d").mkdir()
    (tmp_path / "shelf_routes.py").write_text(SHARED)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("lamps", "desks"):
        (tmp_path / "plugins.d" / f"{name}.py").write_text(PLUGIN.format(name=name))
    made = [make_app(tmp_path, f"http://{name}.example") for name in ("one", "two")]
    yield made
    for app in made:
        get_container(app).close()


def own_hosts(client: FlaskClient, path: str) -> tuple[dict[str, Any], list[str]]:
    response = client.get(path)
    assert response.status_code == 200, response.text
    return response.get_json(), sorted(response.headers.getlist("X-Own"))


def test_each_application_and_nested_request_has_its_host_and_services(apps: list[Flask]) -> None:
    urls = ["http://one.example", "http://two.example"]
    for turn in (1, 2):
        for app, url in zip(apps, urls, strict=True):
            body, own = own_hosts(app.test_client(), "/lamps")
            inner = {"before": ["desks", url, True], "inner": None, "after": "desks", "lines": turn}
            outer = {"before": ["lamps", url, True], "inner": inner, "after": "lamps", "lines": turn}
            assert (body, own) == (outer, ["lamps"])
    every = apps[0].test_client().get("/livez").headers.getlist("X-All")
    assert sorted(every) == ["desks", "lamps"]


def test_what_a_route_of_another_plugin_causes_has_its_own_host(apps: list[Flask]) -> None:
    container = get_container(apps[0])
    subject = Deactivation("user", DeactivationCause.SUSPENSION)

    def cause() -> None:
        with container.database.write() as connection:
            container.get(FileErasers).erase(connection, "tenant", ["node"])
            for end in container.registry.deactivations:
                end(connection, subject)

    bind_to_host(container.hosts.get("lamps"), cause)()
    erased = importlib.import_module("shelf_routes").erased
    assert sorted(erased) == ["desks", "desks", "lamps", "lamps"]


def test_outside_of_a_request_is_no_current_host(apps: list[Flask]) -> None:
    apps[0].test_client().get("/lamps")
    for call in (current_host, lambda: get_service(dict)):
        with pytest.raises(RuntimeError, match=r"outside of a request .* pass it on"):
            call()


def test_a_host_builds_each_service_once(apps: list[Flask]) -> None:
    class Registry:
        def __init__(self, host: HostAPI) -> None:
            self.host = host

    hosts = [get_container(app).hosts.get(name) for app in apps for name in ("lamps", "desks")]
    services = [host.get_service(Registry) for host in hosts]
    assert [service.host for service in services] == hosts
    assert [host.get_service(Registry) for host in hosts] == services
    assert len({id(service) for service in services}) == 4
