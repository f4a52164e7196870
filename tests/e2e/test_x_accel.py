"""nginx gives files out that the server points it to, by the configuration that the guide shows."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPResponse
from pathlib import Path

import pytest

from strongroom.testing.server import free_port
from tests.support.client import Client
from tests.support.server import Server, is_listening
from tests.support.stores import stored_files
from tests.support.waiting import wait_until

GUIDE = Path(__file__).parents[2] / "docs/guides/file-delivery.md"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
CONTENT = bytes(range(256)) * 4000
START_SECONDS = 60

NGINX_CONFIG = """
user root;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/nginx-body;
    proxy_temp_path {folder}/nginx-proxy;
    fastcgi_temp_path {folder}/nginx-fastcgi;
    uwsgi_temp_path {folder}/nginx-uwsgi;
    scgi_temp_path {folder}/nginx-scgi;
    server {{
        listen 127.0.0.1:{port};
        {locations}
    }}
}}
"""


pytestmark = [pytest.mark.config({"storages": {"main": {"downloads": "x_accel"}}}), pytest.mark.extended]


@pytest.fixture
def front(tmp_path: Path, server: Server) -> Iterator[str]:
    """The URL of an nginx in front of the server."""
    if NGINX is None:
        pytest.skip("NOT TESTED: nginx is not installed here")
    guide = GUIDE.read_text()
    (locations,) = re.findall(r"```nginx\n(.*?)```", guide, re.DOTALL)
    locations = locations.replace("/srv/strongroom/files", f"{tmp_path}/files")
    locations = locations.replace("http://127.0.0.1:8000", server.url)
    port = free_port()
    path = tmp_path / "nginx.conf"
    path.write_text(NGINX_CONFIG.format(folder=tmp_path, port=port, locations=locations))
    with subprocess.Popen([NGINX, "-c", path, "-p", tmp_path], stderr=subprocess.DEVNULL) as nginx:
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: is_listening(port))
        yield url
        nginx.terminate()


def get(client: Client, path: str, **headers: str) -> tuple[HTTPResponse, bytes]:
    with closing(client.connect()) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", path, headers=client.headers(named))
        response = connection.getresponse()
        return response, response.read()


def test_nginx_sends_the_file_with_the_servers_headers(server: Server, front: str) -> None:
    client = Client.logged_in(front, "alice@example.com")
    tenant = client.make_tenant("Acme")
    node = client.upload(tenant, "naive.bin", CONTENT)
    path = f"{tenant}/files/{node['id']}/download"
    response, content = get(client, path)
    assert (response.status, content) == (200, CONTENT)
    assert response.headers["Server"].startswith("nginx")
    assert response.headers["Content-Length"] == str(len(CONTENT))
    assert response.headers["Content-Disposition"] == 'attachment; filename="naive.bin"'
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in response.headers["Content-Security-Policy"]
    assert "X-Accel-Redirect" not in response.headers
    etag = response.headers["ETag"]
    assert etag == f'"{node["checksum"].removeprefix("sha256:")}"'
    response, content = get(client, path, Range="bytes=1000-1999", If_Range=etag)
    assert (response.status, content) == (206, CONTENT[1000:2000])
    assert response.headers["Content-Range"] == f"bytes 1000-1999/{len(CONTENT)}"
    response, content = get(client, path, Range="bytes=1000-1999", If_Range='"other"')
    assert (response.status, len(content)) == (200, len(CONTENT))
    assert get(client, path, If_None_Match=etag)[0].status == 304
    assert get(client, path, Range="bytes=9999999-")[0].status == 416


def test_the_files_are_not_served_without_the_server(server: Server, front: str, tmp_path: Path) -> None:
    client = Client.logged_in(front, "alice@example.com")
    tenant = client.make_tenant("Acme")
    node = client.upload(tenant, "a.bin", CONTENT)
    (stored,) = stored_files(tmp_path / "files")
    assert get(Client(front), f"/_strongroom{stored}")[0].status == 404
    assert get(Client(front), f"{tenant}/files/{node['id']}/download")[0].status == 401


def test_the_server_alone_only_names_the_file(server: Server, tmp_path: Path) -> None:
    client = Client.logged_in(server.url, "alice@example.com")
    tenant = client.make_tenant("Acme")
    node = client.upload(tenant, "a.bin", CONTENT)
    response, content = get(client, f"{tenant}/files/{node['id']}/download", Range="bytes=0-9")
    assert (response.status, content) == (200, b"")
    (stored,) = stored_files(tmp_path / "files")
    assert response.headers["X-Accel-Redirect"] == f"/_strongroom{stored}"
    assert "Content-Range" not in response.headers
