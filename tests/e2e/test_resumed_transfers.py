"""Real clients over an unreliable network: tus-js-client resumes uploads, curl downloads."""

import hashlib
import json
import os
import random
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.support.client import Client
from tests.support.proxy import cutting
from tests.support.server import Server, serving, write_config

pytestmark = pytest.mark.extended

MEBIBYTE = 1024 * 1024
SIZE = int(os.environ.get("STRONGROOM_TEST_RESUME_MIB", "12")) * MEBIBYTE
CUTS = [2 * MEBIBYTE, 3 * MEBIBYTE, 1 * MEBIBYTE]
TUS_CLIENT = "tus-js-client@4.3.1"
SCRIPT = Path(__file__).parent / "tus" / "upload.mjs"
PATIENCE = 600
CURL_PARTIAL_FILE, CURL_RECEIVE_ERROR = 18, 56


@pytest.fixture(scope="module")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tus-js-client is installed."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not on this machine")
    folder = tmp_path_factory.mktemp("npm")
    options = ("--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline")
    result = subprocess.run(
        [npm, "install", *options, TUS_CLIENT], capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        pytest.skip(f"npm could not install {TUS_CLIENT}: {result.stderr.strip()[:200]}")
    return folder


def content() -> bytes:
    return random.Random(SIZE).randbytes(SIZE)


def test_tus_js_client_uploads_through_three_cuts(node_modules: Path, tmp_path: Path) -> None:
    path, script = tmp_path / "large.bin", node_modules / "upload.mjs"
    path.write_bytes(content())
    script.write_text(SCRIPT.read_text())
    with cutting(list(CUTS), towards_server=True) as proxy:
        # The server returns URLs that lead through the proxy, as behind a load balancer.
        public_url = f"http://127.0.0.1:{proxy.port}"
        url = f"sqlite:///{tmp_path}/strongroom.sqlite3"
        config = write_config(tmp_path, url, {"server": {"public_url": public_url}})
        with serving(config) as server:
            proxy.server_port = int(server.url.rpartition(":")[2])
            server.create_user("alice@example.com")
            client = Client.logged_in(server.url, "alice@example.com")
            tenant = client.make_tenant("tus")
            endpoint, token = f"{public_url}{tenant}/uploads", client.token or ""
            command: list[str | Path] = ["node", script, node_modules, endpoint, token, path, path.name]
            result = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=PATIENCE
            )
            assert result.returncode == 0, result.stderr
            assert proxy.made == len(CUTS)
            assert json.loads(result.stdout)["retries"] >= len(CUTS)
            (file,) = client.files(tenant)
    assert file["size"] == SIZE
    assert file["checksum"] == f"sha256:{hashlib.sha256(content()).hexdigest()}"


def curl(*arguments: str | Path) -> int:
    """Run curl, and return its exit code."""
    command = ["curl", "--silent", "--show-error", "--max-time", str(PATIENCE), *arguments]
    return subprocess.run(command, check=False, capture_output=True).returncode


def test_curl_goes_on_with_a_file(server: Server, client: Client, tmp_path: Path) -> None:
    tenant = client.make_tenant("file")
    file = client.upload(tenant, "large.bin", content())
    target = tmp_path / "large.bin"
    path = f"{tenant}/files/{file['id']}/download"
    header = f"Authorization: Bearer {client.token}"
    with cutting(list(CUTS), towards_server=False, server_url=server.url) as proxy:
        url = f"http://127.0.0.1:{proxy.port}{path}"
        codes = [curl("-C", "-", "-H", header, "-o", target, url) for _ in range(len(CUTS) + 1)]
    assert set(codes[:-1]) <= {CURL_PARTIAL_FILE, CURL_RECEIVE_ERROR}
    assert codes[-1] == 0
    assert target.read_bytes() == content()


def test_curl_goes_on_with_a_bundle(server: Server, client: Client, tmp_path: Path) -> None:
    tenant = client.make_tenant("bundle")
    half = SIZE // 2
    files = [client.upload(tenant, f"{n}.bin", content()[n * half :][:half]) for n in range(2)]
    target, headers = tmp_path / "bundle.zip", tmp_path / "headers"
    body = json.dumps({"fileIds": [file["id"] for file in files]})
    common = ("-H", f"Authorization: Bearer {client.token}", "-o", target)
    with cutting(list(CUTS), towards_server=False, server_url=server.url) as proxy:
        origin = f"http://127.0.0.1:{proxy.port}"
        first = curl(*common, "--json", body, "-D", headers, f"{origin}{tenant}/multi-files-download")
        received = dict(line.split(": ", 1) for line in headers.read_text().splitlines() if ": " in line)
        received = {name.lower(): value for name, value in received.items()}
        resume = (*common, "-C", "-", "-H", f"If-Range: {received['etag']}")
        codes = [curl(*resume, origin + received["content-location"]) for _ in CUTS]
    assert {first, *codes[:-1]} <= {CURL_PARTIAL_FILE, CURL_RECEIVE_ERROR}
    assert codes[-1] == 0
    assert target.stat().st_size == int(received["content-length"])
    with zipfile.ZipFile(target) as archive:
        assert archive.testzip() is None
        assert b"".join(archive.read(name) for name in archive.namelist()) == content()
    assert subprocess.run(["unzip", "-tq", target], check=False, capture_output=True).returncode == 0
