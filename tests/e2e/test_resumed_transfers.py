"""Real clients over an unreliable network.

tus-js-client, tuspy and Uppy upload; curl, aria2 and rclone download.
"""

import hashlib
import json
import os
import random
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from strongroom.testing.server import free_port
from tests.support.browsers import needs_chromium
from tests.support.client import Client, Json
from tests.support.databases import on_sqlite
from tests.support.environment import Environment
from tests.support.front_end import front_end
from tests.support.npm import install_packages
from tests.support.proxy import CuttingProxy, cutting
from tests.support.server import Server, serving, write_config

pytestmark = pytest.mark.extended

MEBIBYTE = 1024 * 1024
SIZE = int(os.environ.get("STRONGROOM_TEST_RESUME_MIB", "12")) * MEBIBYTE
CUTS = [2 * MEBIBYTE, 3 * MEBIBYTE, 1 * MEBIBYTE]
PACKAGES = ("tus-js-client@4.3.1", "@uppy/core@6.3.1", "@uppy/tus@6.0.0", "esbuild@0.28.2")
TUSPY = "tuspy==1.1.0"
TUSPY_PROGRAM = """
import sys
from tusclient.client import TusClient

endpoint, token, path, name = sys.argv[1:]
client = TusClient(endpoint, headers={"Authorization": f"Bearer {token}"})
client.uploader(path, metadata={"filename": name}, retries=9, retry_delay=1).upload()
"""
SCRIPTS = Path(__file__).parent / "tus"
APP_PORT = free_port()
APP = f"http://localhost:{APP_PORT}"
PATIENCE = 600
CURL_PARTIAL_FILE, CURL_RECEIVE_ERROR = 18, 56


@pytest.fixture(scope="module")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tus-js-client and Uppy are installed."""
    folder = tmp_path_factory.mktemp("npm")
    install_packages(folder, *PACKAGES, options=("--ignore-scripts",))
    return folder


def content() -> bytes:
    return random.Random(SIZE).randbytes(SIZE)


@pytest.fixture(scope="module")
def python_with_tuspy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with tuspy."""
    environment = Environment.create(tmp_path_factory.mktemp("tuspy"))
    install = (environment.python, "-m", "pip", "install", "--quiet", TUSPY)
    result = subprocess.run(install, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        pytest.skip(f"pip could not install {TUSPY}: {result.stderr.strip()[:200]}")
    return environment.python


@dataclass(frozen=True)
class CutUploads:
    """Uploads through a proxy that cuts three connections."""

    proxy: CuttingProxy
    client: Client
    tenant: str

    @property
    def arguments(self) -> tuple[str, str]:
        """The URL of the uploads, and the token."""
        return f"http://127.0.0.1:{self.proxy.port}{self.tenant}/uploads", self.client.token or ""

    def assert_complete(self) -> None:
        assert self.proxy.made == len(CUTS)
        (file,) = self.client.files(self.tenant)
        assert file["size"] == SIZE
        assert file["checksum"] == f"sha256:{hashlib.sha256(content()).hexdigest()}"


@pytest.fixture
def uploads(tmp_path: Path) -> Iterator[CutUploads]:
    with cutting(list(CUTS), towards_server=True) as proxy:
        # The server returns URLs that lead through the proxy, as behind a load balancer.
        public = {"public_url": f"http://127.0.0.1:{proxy.port}", "cors_origins": [APP]}
        url = f"sqlite:///{tmp_path}/strongroom.sqlite3"
        with serving(write_config(tmp_path, url, {"server": public})) as server:
            proxy.server_port = int(server.url.rpartition(":")[2])
            server.create_user("alice@example.com")
            client = Client.logged_in(server.url, "alice@example.com")
            yield CutUploads(proxy, client, client.make_tenant("tus"))


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.bin"
    path.write_bytes(content())
    return path


def output_of(*command: str | Path) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_tus_js_client_uploads_through_three_cuts(
    node_modules: Path, uploads: CutUploads, large: Path
) -> None:
    script = shutil.copy(SCRIPTS / "upload.mjs", node_modules)
    output = output_of("node", script, node_modules, *uploads.arguments, large, large.name)
    assert json.loads(output)["retries"] >= len(CUTS)
    uploads.assert_complete()


def test_tuspy_uploads_through_three_cuts(
    python_with_tuspy: Path, uploads: CutUploads, large: Path
) -> None:
    output_of(python_with_tuspy, "-c", TUSPY_PROGRAM, *uploads.arguments, large, large.name)
    uploads.assert_complete()


@needs_chromium
def test_uppy_uploads_through_three_cuts(
    node_modules: Path, uploads: CutUploads, large: Path, browser: Browser
) -> None:
    script, bundle = shutil.copy(SCRIPTS / "uppy.mjs", node_modules), node_modules / "bundle.js"
    esbuild = node_modules / "node_modules" / ".bin" / "esbuild"
    output_of(esbuild, script, "--bundle", "--format=iife", f"--outfile={bundle}")
    page_text = '<!doctype html><title>Uppy</title><input type="file"><script src="/uppy.js"></script>'
    with front_end(APP_PORT, {"/": page_text, "/uppy.js": bundle.read_text()}):
        page = browser.new_page()
        page.goto(APP)
        page.locator("input").set_input_files(large)
        result: Json = page.evaluate("([url, token]) => upload(url, token)", list(uploads.arguments))
        page.close()
    assert result == {"successful": ["large.bin"], "failed": []}
    uploads.assert_complete()


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


@on_sqlite
@pytest.mark.skipif(shutil.which("aria2c") is None, reason="there is no aria2")
def test_aria2_goes_on_over_eight_connections(server: Server, client: Client, tmp_path: Path) -> None:
    tenant = client.make_tenant("aria2")
    file = client.upload(tenant, "large.bin", content())
    checksum = f"--checksum=sha-256={hashlib.sha256(content()).hexdigest()}"
    options = ("-x8", "-s8", "-k1M", "--retry-wait=0", "--file-allocation=none", "--no-conf", "--quiet")
    token = f"--header=Authorization: Bearer {client.token}"
    cuts = [MEBIBYTE // 2] * 3
    with cutting(cuts, towards_server=False, server_url=server.url) as proxy:
        url = f"http://127.0.0.1:{proxy.port}{tenant}/files/{file['id']}/download"
        output_of("aria2c", *options, checksum, token, "-d", tmp_path, "-o", "large.bin", url)
        assert proxy.made == 3
    assert (tmp_path / "large.bin").read_bytes() == content()


@on_sqlite
@pytest.mark.skipif(shutil.which("rclone") is None, reason="there is no rclone")
def test_rclone_copies_a_file(server: Server, client: Client, tmp_path: Path) -> None:
    tenant = client.make_tenant("rclone")
    file = client.upload(tenant, "large.bin", content())
    url = f"{server.url}{tenant}/files/{file['id']}/download"
    token = ("--header", f"Authorization: Bearer {client.token}")
    output_of("rclone", "copyurl", "--auto-filename", "--header-filename", *token, url, tmp_path)
    assert (tmp_path / "large.bin").read_bytes() == content()


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
