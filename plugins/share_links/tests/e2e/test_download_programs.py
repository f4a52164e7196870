"""Programs that download: each uses one of the downloads of a share, and gets all bytes.

Each share has one download. The program runs first, then another visitor is refused.
"""

import hashlib
import io
import random
import shutil
import subprocess
import wave
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from tests.support.browsers import needs_chromium
from tests.support.proxy import cutting
from tests.support.shares import ALL_KINDS

from strongroom.testing.server import LiveServer, LiveUser, live_server

MEBIBYTE = 1024 * 1024
SIZE = 16 * MEBIBYTE
CONTENT = random.Random(SIZE).randbytes(SIZE)
CUTS = [3 * MEBIBYTE, 5 * MEBIBYTE]

pytestmark = pytest.mark.extended


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"there is no {program}")


class DownloadSite:
    """A server with shares of one download each."""

    def __init__(self, server: LiveServer) -> None:
        self.server = server
        self.owner: LiveUser = server.user()
        self.tenant = server.tenant(self.owner)
        self.folder = str(server.folder_in(self.tenant, self.owner, "Films", None)["id"])
        self.film = self._upload("film.bin", CONTENT)
        self.sound = self._upload("sound.wav", recording())

    def _upload(self, name: str, content: bytes) -> str:
        return str(self.server.upload(self.tenant, self.owner, name, content, self.folder)["id"])

    def share(self, node: str) -> "OneDownload":
        path = f"/api/v1/tenants/{self.tenant}/files/{node}/shares"
        made = self.server.succeed(
            "POST", path, by=self.owner, json_body={"kind": "read", "maxDownloads": 1}
        )
        return OneDownload(self, made["id"], made["url"].replace("/s/", "/api/v1/shares/"))


class OneDownload:
    """A share with one download."""

    def __init__(self, site: DownloadSite, share_id: str, api: str) -> None:
        self._site = site
        self._id = share_id
        self.url = f"{api}/files/{site.film}/download"
        self.sound_url = f"{api}/files/{site.sound}/download"
        self.archive_url = f"{api}/download"

    def assert_used(self, url: str) -> None:
        """Assert that one download was counted, and that another visitor gets no byte."""
        path = f"/api/v1/tenants/{self._site.tenant}/shares/{self._id}"
        assert self._site.server.succeed("GET", path, by=self._site.owner)["downloads"] == 1
        refused = self._site.server.request(
            "GET", url.removeprefix(self._site.server.url), headers={"User-Agent": "another"}
        )
        assert (refused.status, refused.error) == (404, "error.share-unavailable")


def recording() -> bytes:
    """Return two minutes of noise, which players can show the length of only at its beginning."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(44_100)
        sound.writeframes(random.Random(2).randbytes(120 * 44_100 * 2))
    return buffer.getvalue()


def run(*command: str | Path, status: int = 0) -> None:
    """Run a program."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DownloadSite]:
    config = {
        "plugins": {"share_links": {"kinds": ALL_KINDS, "anonymous_per_address": ["1000000/hour"]}}
    }
    folder = tmp_path_factory.mktemp("site")
    with live_server(folder, plugins=["share_links"], config=config) as server:
        yield DownloadSite(server)


@needs("aria2c")
def test_aria2_with_eight_connections(site: DownloadSite, tmp_path: Path) -> None:
    share = site.share(site.folder)
    options = ("-x8", "-s8", "-k1M", "--file-allocation=none", "--no-conf", "--quiet")
    checksum = f"--checksum=sha-256={hashlib.sha256(CONTENT).hexdigest()}"
    log = ("--log-level=info", "--log", tmp_path / "aria2.log")
    run("aria2c", *options, *log, checksum, "-d", tmp_path, "-o", "film.bin", share.url)
    assert (tmp_path / "aria2.log").read_text().count("\nRange: bytes=") >= 7
    assert (tmp_path / "film.bin").read_bytes() == CONTENT
    share.assert_used(share.url)


@needs("wget")
def test_wget_continues_a_partial_file(site: DownloadSite, tmp_path: Path) -> None:
    share, target = site.share(site.folder), tmp_path / "film.bin"
    target.write_bytes(CONTENT[: SIZE // 3])
    run("wget", "-q", "-c", "-O", target, share.url)
    assert target.read_bytes() == CONTENT
    share.assert_used(share.url)


@needs("wget")
def test_wget_goes_on_after_lost_connections(site: DownloadSite, tmp_path: Path) -> None:
    share, target = site.share(site.folder), tmp_path / "film.bin"
    with cutting(list(CUTS), towards_server=False, server_url=site.server.url) as proxy:
        url = share.url.replace(site.server.url, f"http://127.0.0.1:{proxy.port}")
        run("wget", "-q", "-c", "--tries=5", "--waitretry=0", "-O", target, url)
        assert proxy.made == len(CUTS)
    assert target.read_bytes() == CONTENT
    share.assert_used(share.url)


@needs("curl")
def test_curl_goes_on_after_a_lost_connection(site: DownloadSite, tmp_path: Path) -> None:
    share, target = site.share(site.folder), tmp_path / "film.bin"
    with cutting([CUTS[0]], towards_server=False, server_url=site.server.url) as proxy:
        url = share.url.replace(site.server.url, f"http://127.0.0.1:{proxy.port}")
        lost = subprocess.run(["curl", "-sf", "-o", target, url], check=False)
        assert lost.returncode in (18, 56), lost
        run("curl", "-fsS", "-C", "-", "-o", target, url)
    assert target.read_bytes() == CONTENT
    share.assert_used(share.url)


@needs("curl")
def test_an_archive_goes_on_after_a_lost_connection(site: DownloadSite, tmp_path: Path) -> None:
    share, target = site.share(site.folder), tmp_path / "films.zip"
    with cutting([CUTS[0]], towards_server=False, server_url=site.server.url) as proxy:
        url = share.archive_url.replace(site.server.url, f"http://127.0.0.1:{proxy.port}")
        lost = subprocess.run(["curl", "-sf", "-o", target, url], check=False)
        assert lost.returncode in (18, 56), lost
        run("curl", "-fsS", "-C", "-", "-o", target, url)
    with zipfile.ZipFile(target) as archive:
        assert archive.testzip() is None
        assert archive.read("Films/film.bin") == CONTENT
    share.assert_used(share.archive_url)


PLAY = """async (url) => {
    const player = new Audio(url);
    const reached = (name) => new Promise((resolve, reject) => {
        player.addEventListener(name, resolve, { once: true });
        player.addEventListener("error", () => reject(player.error.message), { once: true });
    });
    player.preload = "auto";
    await reached("canplay");
    const positions = [];
    for (const position of [100, 20, 70, 110, 5]) {
        const sought = reached("seeked");
        player.currentTime = position;
        await sought;
        positions.push(player.currentTime);
    }
    return { duration: player.duration, positions };
}"""


@needs_chromium
def test_a_player_that_jumps(site: DownloadSite, browser: Browser) -> None:
    share = site.share(site.folder)
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(f"{site.server.url}/s/unknown")
    ranges: list[str] = []
    page.on("request", lambda request: ranges.append(request.headers.get("range", "")))
    seen: Any = page.evaluate(PLAY, share.sound_url)
    assert seen == {"duration": 120, "positions": [100, 20, 70, 110, 5]}
    assert len(set(ranges)) >= 3, ranges
    share.assert_used(share.sound_url)
    context.close()
