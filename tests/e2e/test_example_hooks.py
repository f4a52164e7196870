"""Hooks of examples/maintenance_mode and examples/served_by, on routes of the core."""

import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http import HTTPStatus
from pathlib import Path

import pytest

from tests.support.client import Client, Json
from tests.support.examples import install, run_tests
from tests.support.server import Server, serving, write_config
from tests.support.waiting import wait_until

NAMES = ("maintenance_mode", "served_by")
CONTENT = os.urandom(300_000)
FORM = (
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="form.txt"\r\n'
    b"Content-Type: text/plain\r\n\r\nIn a form.\r\n--b--\r\n"
)
RAW = {"Content-Disposition": 'attachment; filename="raw.txt"', "Content-Type": "text/plain"}
MULTIPART = {"Content-Type": "multipart/form-data; boundary=b"}
JSON = {"Content-Type": "application/json"}
TUS = {"Tus-Resumable": "1.0.0", "Upload-Length": "10", "Upload-Metadata": "filename YS50eHQ="}


@pytest.fixture(scope="module")
def maintenance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run") / "maintenance"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, maintenance: Path) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    plugins = {"server": {"workers": 1}, "plugins": {"enabled": ["storage_local", *NAMES]}}
    config = write_config(folder, f"sqlite:///{folder / 'strongroom.sqlite3'}", plugins)
    with pytest.MonkeyPatch.context() as patch:
        target = install(*NAMES, target=tmp_path_factory.mktemp("installation"))
        patch.setenv("PYTHONPATH", str(target), prepend=os.pathsep)
        patch.setenv("STRONGROOM_MAINTENANCE_FILE", str(maintenance))
        patch.setenv("STRONGROOM_NODE_NAME", "node-7")
        with serving(config) as server:
            yield server


@contextmanager
def maintained(client: Client, maintenance: Path) -> Iterator[None]:
    """Switch maintenance on; the one process of the server sees both within a tenth of a second."""

    def is_refused() -> bool:
        return send(client, ("GET", "/api/v1/tenants", None, {}))[0] == HTTPStatus.SERVICE_UNAVAILABLE

    maintenance.touch()
    wait_until(is_refused)
    yield
    maintenance.unlink()
    wait_until(lambda: not is_refused())


@pytest.fixture(scope="module")
def client(server: Server) -> Client:
    server.create_user("alice@example.com")
    return Client.logged_in(server.url, "alice@example.com")


@pytest.fixture(scope="module")
def tenant(client: Client) -> str:
    return client.make_tenant("Acme")


@pytest.fixture(scope="module")
def node(client: Client, tenant: str) -> Json:
    return client.upload(tenant, "report.bin", CONTENT)


Exchange = tuple[str, str, bytes | None, dict[str, str]]


@pytest.fixture(
    params=["details", "list", "download", "range", "not modified", "raw", "form", "tus", "bundle"]
)
def exchange(request: pytest.FixtureRequest, tenant: str, node: Json) -> tuple[int, Exchange]:
    """A request to a route of the core, and the status of its response."""
    file, bundle = f"{tenant}/files/{node['id']}", json.dumps({"fileIds": [node["id"]]}).encode()
    exchanges: dict[str, tuple[int, Exchange]] = {
        "details": (200, ("GET", file, None, {})),
        "list": (200, ("GET", f"{tenant}/owners/me/files", None, {})),
        "download": (200, ("GET", f"{file}/download", None, {})),
        "range": (206, ("GET", f"{file}/download", None, {"Range": "bytes=0-9"})),
        "not modified": (304, ("GET", f"{file}/download", None, {"If-None-Match": "*"})),
        "raw": (201, ("POST", f"{tenant}/files", b"Raw.", RAW)),
        "form": (201, ("POST", f"{tenant}/files", FORM, MULTIPART)),
        "tus": (201, ("POST", f"{tenant}/uploads", None, TUS)),
        "bundle": (200, ("POST", f"{tenant}/multi-files-download", bundle, JSON)),
    }
    return exchanges[request.param]


def send(client: Client, exchange: Exchange) -> tuple[int, str | None, bytes]:
    """Return the status, the header of the plugin and the body of a response."""
    method, path, body, headers = exchange
    with closing(client.connect()) as connection:
        connection.request(method, path, body, client.headers(headers))
        response = connection.getresponse()
        return response.status, response.headers["X-Served-By"], response.read()


def test_hooks_run_for_routes_of_the_core(client: Client, exchange: tuple[int, Exchange]) -> None:
    status, request = exchange
    assert send(client, request)[:2] == (status, "node-7")


def test_a_hook_refuses_requests_to_routes_of_the_core(
    client: Client, tenant: str, maintenance: Path, exchange: tuple[int, Exchange]
) -> None:
    before = [found["id"] for found in client.files(tenant)]
    with maintained(client, maintenance):
        status, node, body = send(client, exchange[1])
    assert (status, node, json.loads(body)["error"]["code"]) == (503, "node-7", "error.maintenance")
    assert [found["id"] for found in client.files(tenant)] == before


@pytest.mark.parametrize(
    ("status", "path"), [(404, "/api/v1/nothing"), (401, "/api/v1/tenants"), (200, "/livez")]
)
def test_hooks_run_for_errors_and_health_checks(server: Server, status: int, path: str) -> None:
    assert send(Client(server.url), ("GET", path, None, {}))[:2] == (status, "node-7")


def test_health_checks_are_not_refused(client: Client, maintenance: Path) -> None:
    with maintained(client, maintenance):
        responses = [send(client, ("GET", path, None, {}))[0] for path in ("/livez", "/readyz")]
    assert responses == [200, 200]


def test_the_content_of_a_download_is_unchanged(client: Client, tenant: str, node: Json) -> None:
    assert client.download(tenant, node["id"]) == CONTENT


@pytest.mark.parametrize("name", NAMES)
def test_the_tests_of_the_plugins_pass(name: str) -> None:
    run_tests(name)
