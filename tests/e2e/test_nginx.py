"""Two servers behind nginx as examples/production sets it up: one API, and no secret in a log."""

import gzip
import http.client
import json
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from strongroom.foundation.errors import catalogue
from strongroom.testing.server import free_port
from tests.e2e.hostile import Attack, attacking, half_sent
from tests.support.client import PASSWORD
from tests.support.databases import on_sqlite
from tests.support.nginx import Nginx, nginx_before
from tests.support.server import EMAIL, Server, serving_nodes
from tests.support.stores import stored_files

SIZE = 24 * 1024 * 1024


pytestmark = pytest.mark.config({"storages": {"main": {"downloads": "x_accel"}}})


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    """Two servers that share nothing but their database, keys and files."""
    folder = tmp_path_factory.mktemp("servers")
    trusting = {"server": {"trusted_proxies": ["127.0.0.1/32"], "workers": 2}}
    url = f"sqlite:///{folder}/strongroom.sqlite3"
    with serving_nodes(folder, url, trusting) as (first, second):
        first.create_user(EMAIL)
        yield first, second


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    content: bytes

    def json(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.content)
        return body


@dataclass
class Https:
    """A client of nginx."""

    nginx: Nginx
    token: str = ""

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if isinstance(body, dict):
            body, headers["Content-Type"] = json.dumps(body), "application/json"
        port, context = self.nginx.port, self.nginx.context()
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
        with closing(connection):
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())


def before(servers: tuple[Server, Server], folder: Path) -> Nginx:
    return nginx_before(folder, [int(server.url.rpartition(":")[2]) for server in servers])


def logged_in(nginx: Nginx) -> Https:
    body = {"username": "alice@example.com", "password": PASSWORD}
    answer = Https(nginx).request("POST", "/authorizations", body)
    assert answer.status == 200, answer.content
    return Https(nginx, answer.json()["accessToken"])


@pytest.fixture
def alice(servers: tuple[Server, Server], tmp_path: Path) -> Iterator[Https]:
    nginx = before(servers, tmp_path)
    with nginx.running():
        yield logged_in(nginx)


def test_a_large_file_goes_through_and_a_range_comes_back(alice: Https) -> None:
    tenant = alice.request("POST", "/api/v1/tenants", {"name": "Acme"}).json()["id"]
    content = os.urandom(SIZE)
    name = {"Content-Disposition": 'attachment; filename="large.bin"'}
    uploaded = alice.request("POST", f"/api/v1/tenants/{tenant}/files", content, **name)
    assert uploaded.status == 201, uploaded.content
    download = f"/api/v1/tenants/{tenant}/files/{uploaded.json()['id']}/download"
    assert alice.request("GET", download).content == content
    part = alice.request("GET", download, Range=f"bytes={SIZE - 10}-")
    assert (part.status, part.content) == (206, content[-10:])


def test_the_server_compresses_and_nginx_does_not(alice: Https) -> None:
    """A page has a secret, and a weakened entity tag would fail in If-Match."""
    tenant = "/api/v1/tenants/" + alice.request("POST", "/api/v1/tenants", {"name": "Acme"}).json()["id"]
    for number in range(4):
        alice.request("POST", f"{tenant}/folders", {"name": f"folder {number}"})
    coded = {"Accept-Encoding": "gzip"}
    listed = alice.request("GET", f"{tenant}/owners/me/files", **coded)
    assert (listed.headers["Content-Encoding"], listed.headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert len(json.loads(gzip.decompress(listed.content))["data"]) == 4
    one = alice.request("GET", tenant, **coded)
    changed = {**coded, "If-Match": one.headers["ETag"]}
    assert alice.request("PATCH", tenant, {"name": "Other"}, **changed).status == 200
    page = alice.request("GET", "/docs", **coded)
    assert (page.headers["Content-Type"], len(page.content) > 20) == ("text/html; charset=utf-8", True)
    assert "Content-Encoding" not in page.headers


@on_sqlite
def test_nginx_itself_sends_the_files_of_a_folder(server: Server, tmp_path: Path) -> None:
    port = int(server.url.rpartition(":")[2])
    folder = tmp_path / "nginx"
    folder.mkdir()
    nginx = nginx_before(folder, [port, port], tmp_path / "files")
    with nginx.running():
        alice = logged_in(nginx)
        tenant = alice.request("POST", "/api/v1/tenants", {"name": "Acme"}).json()["id"]
        name = {"Content-Disposition": 'attachment; filename="naive.bin"'}
        node = alice.request("POST", f"/api/v1/tenants/{tenant}/files", b"kept", **name).json()
        answer = alice.request("GET", f"/api/v1/tenants/{tenant}/files/{node['id']}/download")
        (stored,) = stored_files(tmp_path / "files")
        hidden = alice.request("GET", f"/_strongroom{stored}")
    assert (answer.status, answer.content) == (200, b"kept")
    assert answer.headers["Server"] == "nginx"
    assert "X-Accel-Redirect" not in answer.headers
    assert answer.headers["ETag"] == f'"{node["checksum"].removeprefix("sha256:")}"'
    for header in ("Strict-Transport-Security", "Content-Security-Policy", "X-Content-Type-Options"):
        assert len(answer.headers.get_all(header, [])) == 1, header
    assert hidden.status == 404


def test_a_token_is_good_on_either_server_until_it_is_revoked(alice: Https) -> None:
    assert {alice.request("GET", "/api/v1/tenants").status for _ in range(8)} == {200}
    assert alice.request("DELETE", "/authorizations/current").status == 200
    assert {alice.request("GET", "/api/v1/tenants").status for _ in range(8)} == {401}


def test_an_address_that_a_client_claims_is_not_believed(
    alice: Https, servers: tuple[Server, Server]
) -> None:
    alice.request("GET", "/users/me", **{"X-Forwarded-For": "203.0.113.9"})
    listed = alice.request("GET", "/users/me/authorizations", **{"X-Forwarded-For": "203.0.113.9"})
    assert listed.status == 200
    assert b"203.0.113.9" not in listed.content
    assert b"127.0.0.1" in listed.content


def test_the_log_names_requests_by_their_id_and_holds_no_token(
    servers: tuple[Server, Server], tmp_path: Path
) -> None:
    nginx = before(servers, tmp_path)
    # A line is written after its answer was sent, and by the end of nginx at the latest.
    with nginx.running():
        alice = logged_in(nginx)
        answer = alice.request("DELETE", f"/authorizations/{alice.token}")
        assert answer.status == 200
        alice.request("GET", "/credentials/somebody@example.com/available")
        for path in ("/s/hidden", "/s/hidden/users/s/a.txt", "/api/v1/shares/hidden/files"):
            alice.request("GET", path)
    log = nginx.access_log()
    assert nginx.upstream_log() == ""
    assert answer.headers["X-Request-Id"] in log
    assert "/authorizations/..." in log
    assert "/credentials/.../available" in log
    assert alice.token not in log
    assert "somebody" not in log
    assert "/s/.../users/s/a.txt" in log
    assert "/api/v1/shares/.../files" in log
    assert "hidden" not in log


def test_a_server_that_is_away_is_logged_without_the_token_of_the_request(tmp_path: Path) -> None:
    nginx = nginx_before(tmp_path, [free_port(), free_port()])
    with nginx.running():
        answer = Https(nginx).request("DELETE", "/authorizations/a-token-in-the-path")
    assert answer.status == 502
    assert "/authorizations/... 502" in nginx.upstream_log()
    for log in tmp_path.glob("*.log"):
        assert "a-token-in-the-path" not in log.read_text(), log


def test_an_office_behind_one_address_is_not_refused(
    servers: tuple[Server, Server], tmp_path: Path
) -> None:
    """200 concurrent requests; the limit of an address was 64."""
    nginx = before(servers, tmp_path)
    with nginx.running(), ExitStack() as stack:
        half = half_sent("/authorizations", 4000, "Content-Type: application/json")
        stack.enter_context(attacking(Attack("", half), nginx.port, 200, nginx.context()))
        assert Https(nginx).request("GET", "/livez").status == 200


@pytest.mark.parametrize(
    ("head", "status", "code"),
    [
        (b"GET /livez?a=" + b"b" * 9_000 + b" HTTP/1.1\r\nHost: a", 414, "error.uri-too-long"),
        (b"GET /livez HTTP/1.1\r\nHost: a\r\nA: " + b"b" * 9_000, 431, "error.header-fields-too-large"),
        (b"GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: b", 400, "error.malformed-request"),
        (b"GET /livez HTTP/1.1", 400, "error.malformed-request"),
        (b"GET\t/livez", 400, "error.malformed-request"),
    ],
)
def test_what_nginx_refuses_has_the_error_body(
    refusing: Nginx, head: bytes, status: int, code: str
) -> None:
    with (
        socket.create_connection(("127.0.0.1", refusing.port), timeout=60) as plain,
        refusing.context().wrap_socket(plain) as connection,
    ):
        connection.sendall(head + b"\r\n\r\n")
        response = http.client.HTTPResponse(connection)
        response.begin()
        check_error(response.status, response.headers, response.read(), (status, code))


def test_an_instance_that_is_away_has_the_error_body(refusing: Nginx) -> None:
    answer = Https(refusing).request("GET", "/livez")
    check_error(answer.status, answer.headers, answer.content, (502, "error.unavailable"))
    assert answer.headers["Retry-After"] == "1"


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    """nginx before servers that do not run."""
    nginx = nginx_before(tmp_path_factory.mktemp("nginx"), [free_port(), free_port()])
    with nginx.running():
        yield nginx


def check_error(
    status: int, headers: http.client.HTTPMessage, content: bytes, expected: tuple[int, str]
) -> None:
    error = json.loads(content)["error"]
    assert (status, error["code"]) == expected
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Request-Id"] == error["requestId"]
    texts = {kind.code: kind.message for kind in catalogue()}
    assert (error["message"], error["details"]) == (texts[error["code"]], [])
