"""Documents by which clients discover services: one for all plugins, for scripts of any origin."""

from pathlib import Path
from typing import Any

import pytest
from tests.support.api import Api
from tests.support.config import Table, declared_config, merged, write_api_config
from tests.support.databases import on_sqlite

from strongroom.assembly.app import create_app
from strongroom.foundation.config import ConfigurationError, load

PLUGIN = """
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.discovery import DiscoveryDocument
API_VERSION = "2.0"

@hookimpl
def register_discovery(host):
    return [DiscoveryDocument(name, members) for name, members in {documents!r}]
"""
ISSUER = {"issuer": "https://files.example"}
DOCUMENTS: dict[str, list[tuple[Any, Any]]] = {
    "one": [("openid-configuration", {**ISSUER, "jwks_uri": "/jwks"}), ("other/deep", {"a": 1})],
    "two": [("openid-configuration", {**ISSUER, "end_session_endpoint": "/end"})],
}

pytestmark = on_sqlite


def install(folder: Path, documents: dict[str, list[tuple[Any, Any]]]) -> Table:
    (plugins := folder / "plugins.d").mkdir()
    for name, items in documents.items():
        (plugins / f"{name}.py").write_text(PLUGIN.format(documents=items))
    return {"plugins": {"folder": str(plugins)}}


@pytest.fixture
def config_changes(tmp_path: Path, request: pytest.FixtureRequest) -> Table:
    return merged(install(tmp_path, DOCUMENTS), declared_config(request))


def test_plugins_complete_one_document(api: Api) -> None:
    response = api.get("/.well-known/openid-configuration?x=1", headers={"Origin": "https://a.example"})
    assert response.json == {**ISSUER, "jwks_uri": "/jwks", "end_session_endpoint": "/end"}
    assert response.headers["Cache-Control"] == "public, max-age=300"
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert api.get("/.well-known/other/deep").json == {"a": 1}


def test_a_script_may_send_the_header_of_its_protocol(api: Api) -> None:
    sent = {
        "Origin": "https://a.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "mcp-protocol-version",
    }
    response = api.request("OPTIONS", "/.well-known/openid-configuration", headers=sent)
    assert (response.status_code, response.headers.get("Content-Type")) == (204, None)
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Access-Control-Allow-Headers"] == "*"


@pytest.mark.config({"server": {"cors_origins": ["https://a.example"]}})
def test_an_allowed_origin_is_named_once(api: Api) -> None:
    response = api.get("/.well-known/openid-configuration", headers={"Origin": "https://a.example"})
    assert response.headers.getlist("Access-Control-Allow-Origin") == ["https://a.example"]
    response = api.get("/.well-known/openid-configuration", headers={"Origin": "https://b.example"})
    assert response.headers.getlist("Access-Control-Allow-Origin") == ["*"]


@pytest.mark.config({"server": {"base_path": "/files"}})
def test_a_base_path_is_also_behind_the_name(api: Api) -> None:
    for path in (
        "/files/.well-known/openid-configuration",
        "/.well-known/openid-configuration/files",
    ):
        assert api.get(path).json["issuer"] == ISSUER["issuer"]
    assert api.get("/.well-known/other/files/deep").json == {"a": 1}
    assert api.get("/.well-known/openid-configuration").status_code == 404


@pytest.mark.parametrize(
    ("documents", "line"),
    [
        (
            {"one": [("x", {"issuer": "a"})], "two": [("x", {"issuer": "b"})]},
            'and plugin "two" (FOLDER/two.py) set "issuer" of /.well-known/x differently; enable one',
        ),
        ({"one": [("../x", {})]}, "'../x' needs a name such as"),
        ({"one": [(7, {})]}, "7 needs a name such as"),
        ({"one": [("jwks.json", {})]}, "/.well-known/jwks.json is also a route; choose another name"),
        ({"one": [("x", {"a": {1, 2}})]}, "'x' is no JSON: "),
        ({"one": [("x", None)]}, "'x' is no JSON: "),
    ],
)
def test_a_fault_refuses_the_start(
    tmp_path: Path, database_url: str, documents: dict[str, list[tuple[Any, Any]]], line: str
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    tables = install(own, documents)
    with pytest.raises(ConfigurationError) as refusal:
        create_app(load(write_api_config(own, database_url, tables), {}))
    assert line.replace("FOLDER", str(own / "plugins.d")) in str(refusal.value)
