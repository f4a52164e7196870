"""Outsiders with a link: Chromium with and without scripts, curl, rclone, and 64 at the same moment."""

import json
import re
import shutil
import subprocess
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from http.client import HTTPConnection
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, FilePayload, Page, Route, expect
from tests.support.browsers import needs_chromium
from tests.support.commands import run_command
from tests.support.http import Caller, at_once
from tests.support.server import serving as serve
from tests.support.server import write_config
from tests.support.shares import ALL_KINDS, PNG

from strongroom.testing.server import LiveServer, LiveUser, live_server

PASSWORD = "open sesame"
CONTENT = b"0123456789" * 1000
WAYS = 64
PART = 2000
"""Bytes beyond the beginning of the content, which probes may read without a download."""
LANGUAGES = {"en": "en-US", "zh": "zh-CN"}
SIZES = {"wide": (1200, 800), "narrow": (360, 740)}

needs_rclone = pytest.mark.skipif(shutil.which("rclone") is None, reason="there is no rclone")


class Site:
    """A server with a shared folder."""

    def __init__(self, server: LiveServer) -> None:
        self.server = server
        self.owner: LiveUser = server.user()
        self.tenant = server.tenant(self.owner)
        self.folder = self.add_folder("Reports", None)
        self.inside = self.add_folder("照片", self.folder)
        self.file = self.upload("May & June.txt", CONTENT, self.folder)
        self.picture = self.upload("dot.png", PNG, self.inside)

    def add_folder(self, name: str, parent: str | None) -> str:
        return str(self.server.folder_in(self.tenant, self.owner, name, parent)["id"])

    def upload(self, name: str, content: bytes, parent: str) -> str:
        return str(self.server.upload(self.tenant, self.owner, name, content, parent)["id"])

    def share(self, kind: str = "read", node: str | None = None, **body: Any) -> str:
        """Share the folder, and return the URL."""
        path = f"/api/v1/tenants/{self.tenant}/files/{node or self.folder}/shares"
        made = self.server.succeed("POST", path, by=self.owner, json_body={"kind": kind, **body})
        return str(made["url"])

    def names(self) -> list[str]:
        """Return the names in the folder."""
        path = f"/api/v1/tenants/{self.tenant}/owners/me/files/{self.folder}/files"
        listed = self.server.succeed("GET", path, by=self.owner)["data"]
        return [item["name"] for item in listed]


def serving(folder: Path, **options: Any) -> Any:
    config = {
        "plugins": {"share_links": {"kinds": ALL_KINDS, "anonymous_per_address": ["1000000/hour"]}}
    }
    return live_server(folder, plugins=["share_links"], config=config, **options)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving(tmp_path_factory.mktemp("site")) as server:
        yield Site(server)


def test_of_64_downloads_of_the_last_one_exactly_one_gets_the_body(
    tmp_path: Path, database_url: str
) -> None:
    with serving(tmp_path, database_url=database_url) as server:
        site = Site(server)
        whole: dict[str, str] = {}
        part = {"Range": f"bytes=0-{PART - 1}"}
        for headers, body in ((whole, CONTENT), (part, CONTENT[:PART])):
            secret = site.share(maxDownloads=1).rpartition("/")[2]
            path = f"/api/v1/shares/{secret}/files/{site.file}/download"
            # One visitor's requests are one download.
            agents = ({"User-Agent": f"visitor {number}"} for number in range(WAYS))
            fetch = partial(server.request, "GET", path)
            replies = at_once([partial(fetch, headers={**headers, **agent}) for agent in agents])
            assert Counter(reply.status < 300 for reply in replies) == {True: 1, False: WAYS - 1}
            assert [reply.body for reply in replies if reply.status < 300] == [body]
            refused = [reply for reply in replies if reply.status >= 300]
            assert {reply.error for reply in refused} == {"error.share-unavailable"}
        assert secret not in server.log.read_text()


URL = re.compile(r"""(?:href|src|action|data-\w+)="([^"]+)"|"(https?://[^"]+|/[^"\s]*)\"""")


def urls_in(reply: Any, base: str) -> set[str]:
    """Return all that looks like a URL in a response, its headers included."""
    found = {match[1] or match[2] for match in URL.finditer(reply.text)}
    found |= {value for name, value in reply.headers.items() if name in ("location", "content-location")}
    return {urljoin(base, url) for url in found}


def test_no_url_in_an_answer_without_the_proof_gives_a_byte(site: Site) -> None:
    """Guess the ids as well, as a former member could, who has seen them."""
    urls = [site.share(kind, password=PASSWORD, label="Hidden label") for kind in ("read", "preview")]
    urls += [site.share(kind, password=PASSWORD) for kind in ("write", "drop")]
    secrets = [PASSWORD, "Reports", "Hidden label", "May", "dot.png", "照片", site.file, site.folder]
    for url in urls:
        api = url.replace("/s/", "/api/v1/shares/")
        ways = ("", "/files", "/download", "/multi-files-download/x", "/uploads/x")
        nodes = (site.folder, site.inside, site.file, site.picture)
        below = [f"/files/{n}{p}" for n in nodes for p in ("", "/download", "/preview", "/files")]
        names = ["/", "/Reports/", "/照片/", "/照片/dot.png", "/May%20%26%20June.txt"]
        waiting = [*(api + way for way in (*ways, *below)), *(url + name for name in names), url]
        seen: set[str] = set()
        while waiting:
            visited = waiting.pop()
            if visited in seen or not visited.startswith(site.server.url):
                continue
            seen.add(visited)
            path = visited.removeprefix(site.server.url).replace("照片", "%E7%85%A7%E7%89%87")
            for method in ("GET", "HEAD", "POST"):
                reply = site.server.request(method, path, json_body=None if method != "POST" else {})
                assert CONTENT[:20] not in reply.body, (method, path)
                assert reply.body[:8] != PNG[:8], (method, path)
                assert not any(text in reply.text for text in secrets), (method, path, reply.text)
                if "/static/" not in path:
                    waiting += urls_in(reply, visited)
        assert len(seen) > 20


def test_the_secret_is_in_no_log(site: Site) -> None:
    urls = [site.share(), site.share(password=PASSWORD)]
    for url in urls:
        secret = url.rpartition("/")[2]
        for path in (f"/s/{secret}", f"/s/{secret}/nothing", f"/api/v1/shares/{secret}/nothing"):
            site.server.request("GET", path)
        site.server.request("POST", f"/api/v1/shares/{secret}/proofs", json_body={"password": 5})
        assert secret not in site.server.log.read_text()


def run(*command: str) -> str:
    """Run a program, and return its output."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_curl_downloads_continues_and_drops(site: Site, tmp_path: Path) -> None:
    url, jar, target = site.share(maxDownloads=2), tmp_path / "jar", tmp_path / "may.txt"
    api = url.replace("/s/", "/api/v1/shares/")
    run("curl", "-fsS", "-o", str(target), f"{url}/May%20%26%20June.txt")
    assert target.read_bytes() == CONTENT
    cookies = ("-b", str(jar), "-c", str(jar))
    file = f"{api}/files/{site.file}/download"
    run("curl", "-fsS", *cookies, "-r", "0-99", "-o", str(target), file)
    run("curl", "-fsS", *cookies, "-C", "-", "-o", str(target), file)
    assert target.read_bytes() == CONTENT
    for agent, status in (("wget", "200"), ("another", "404")):
        options = ("-A", agent, "-o", "/dev/null", "-w", "%{http_code}")
        assert run("curl", "-sS", *options, file) == status
    closed = site.share("drop", password=PASSWORD).replace("/s/", "/api/v1/shares/")
    body = ("-H", "Content-Type: application/json", "-d", json.dumps({"password": PASSWORD}))
    run("curl", "-fsS", *cookies, *body, f"{closed}/proofs")
    dropped = run("curl", "-fsS", *cookies, "-F", f"file=@{target}", f"{closed}/files?uploadedBy=Anna")
    assert json.loads(dropped) == {"name": "may.txt", "size": len(CONTENT)}
    assert "may.txt" in site.names()


@needs_rclone
def test_rclone_copies_a_share(site: Site, tmp_path: Path) -> None:
    url = site.share()
    remote = f":http,url='{url}/':"
    listed = run("rclone", "lsf", "-R", remote)
    assert {"照片/", "照片/dot.png", "May & June.txt"} <= set(listed.splitlines())
    run("rclone", "copy", remote, str(tmp_path / "copy"))
    assert (tmp_path / "copy" / "May & June.txt").read_bytes() == CONTENT
    assert (tmp_path / "copy" / "照片" / "dot.png").read_bytes() == PNG


def test_a_page_is_protected(site: Site) -> None:
    for url in (site.share(), site.share(password=PASSWORD), f"{site.server.url}/s/unknown"):
        reply = site.server.request("GET", url.removeprefix(site.server.url))
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cache-control"] == "private, no-store"
        assert "noindex" in reply.headers["x-robots-tag"]
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "http" not in policy
        assert "unsafe" not in policy


@needs_chromium
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pages_are_accessible(site: Site, browser: Browser, language: str, size: str) -> None:
    width, height = SIZES[size]
    page = browser.new_page(locale=LANGUAGES[language], viewport={"width": width, "height": height})
    urls = {
        "folder": site.share(label="For you", maxDownloads=3),
        "path": f"{site.share()}/照片/",
        "file": site.share(node=site.file),
        "view": f"{site.share()}/照片/?view=dot.png",
        "text": f"{site.share()}/?view=May%20%26%20June.txt",
        "preview": site.share("preview", node=site.picture),
        "password": site.share(password=PASSWORD),
        "drop": site.share("drop", drop={"requireName": True, "allowedTypes": ["image/*"]}),
        "write": site.share("write"),
        "closed": f"{site.server.url}/s/unknown",
        "members": site.share(audience="members"),
    }
    for name, url in urls.items():
        page.goto(url)
        assert page.evaluate("document.documentElement.lang") == language, name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        violations = Axe().run(page).response["violations"]
        assert violations == [], (name, [violation["id"] for violation in violations])
    page.close()


@pytest.fixture
def plain(browser: Browser) -> Iterator[Page]:
    """A browser without scripts."""
    context = browser.new_context(java_script_enabled=False, accept_downloads=True)
    yield context.new_page()
    context.close()


@needs_chromium
def test_a_browser_without_scripts_downloads_behind_a_password(site: Site, plain: Page) -> None:
    plain.goto(site.share(password=PASSWORD))
    plain.get_by_label("Password").fill("wrong password")
    plain.get_by_role("button").click()
    expect(plain.locator("#password-fault")).to_have_text("The password is wrong.")
    plain.get_by_label("Password").fill(PASSWORD)
    plain.get_by_role("button").click()
    assert PASSWORD not in plain.url
    with plain.expect_download() as waiting:
        plain.get_by_role("link", name="Download all").click()
    archive = zipfile.ZipFile(BytesIO(Path(waiting.value.path()).read_bytes()))
    assert archive.read("Reports/May & June.txt") == CONTENT
    plain.get_by_role("link", name="照片").click()
    with plain.expect_download() as waiting:
        plain.get_by_role("link", name="Download dot.png").click()
    assert Path(waiting.value.path()).read_bytes() == PNG


@needs_chromium
def test_a_browser_without_scripts_goes_from_file_to_file(site: Site, plain: Page) -> None:
    plain.goto(site.share())
    plain.get_by_role("link", name="照片").click()
    plain.get_by_role("link", name="dot.png", exact=True).click()
    expect(plain.get_by_role("img", name="dot.png")).to_be_visible()
    plain.get_by_role("link", name="Back to the folder").click()
    expect(plain.get_by_role("heading", name="照片")).to_be_visible()


@needs_chromium
def test_keys_lead_from_file_to_file(site: Site, browser: Browser) -> None:
    page = browser.new_page(locale="en-US")
    page.goto(f"{site.share()}/?view=May%20%26%20June.txt")
    expect(page.locator("pre")).to_contain_text(CONTENT[:20].decode())
    page.keyboard.press("Escape")
    page.get_by_role("link", name="照片").wait_for()
    page.close()


def swipe(page: Page, left: int, to: int) -> None:
    """Move a finger sideways."""
    finger = page.context.new_cdp_session(page)
    for kind, x in (("touchStart", left), ("touchMove", to)):
        points = [{"x": x, "y": 400}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@needs_chromium
def test_swipes_lead_from_file_to_file(site: Site, browser: Browser) -> None:
    folder = site.add_folder("Swiped", site.folder)
    for name in ("first.txt", "second.txt"):
        site.upload(name, name.encode(), folder)
    page = browser.new_page(locale="en-US", has_touch=True, viewport={"width": 360, "height": 740})
    page.goto(f"{site.share(node=folder)}/?view=first.txt")
    swipe(page, 300, 100)
    expect(page.locator("pre")).to_have_text("second.txt")
    swipe(page, 100, 300)
    expect(page.locator("pre")).to_have_text("first.txt")
    swipe(page, 300, 280)
    expect(page.locator("pre")).to_have_text("first.txt")
    page.close()


@needs_chromium
def test_a_long_name_stays_within_a_phone(site: Site, browser: Browser) -> None:
    name = f"{'Donaudampfschiff' * 15}.txt"
    site.upload(name, b"text", site.add_folder("Long", site.folder))
    page = browser.new_page(locale="en-US", viewport={"width": 360, "height": 740})
    page.goto(f"{site.share()}/Long/?view={name}")
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.close()


@needs_chromium
def test_a_browser_without_scripts_drops_a_file(site: Site, plain: Page) -> None:
    plain.goto(site.share("drop", drop={"requireName": True}))
    expect(plain.locator("#drop")).to_be_hidden()
    plain.get_by_label("Your name").fill("Anna & Bob")
    plain.get_by_role("button", name="Continue").click()
    sent = FilePayload(name="plain.txt", mimeType="text/plain", buffer=b"plain")
    plain.get_by_label("File").set_input_files([sent])
    plain.get_by_role("button", name="Upload").click()
    expect(plain.get_by_role("status").first).to_contain_text("Thank you. The file has arrived.")
    assert "plain.txt" in site.names()


@pytest.mark.extended
@needs_chromium
def test_a_broken_upload_of_a_browser_continues(site: Site, browser: Browser) -> None:
    page = browser.new_page()
    page_errors: list[str] = []
    page.on("pageerror", lambda error: page_errors.append(str(error)))
    offsets: list[str | None] = []

    def break_once(route: Route) -> None:
        offsets.append(route.request.headers.get("upload-offset"))
        if route.request.method == "PATCH" and len(offsets) == 2:
            route.abort()
        else:
            route.continue_()

    page.route("**/uploads/*", break_once)
    page.goto(site.share("drop", drop={"allowedTypes": ["text/plain", "image/*"]}))
    page.get_by_label("Your name").fill("Anna")
    content = b"a line of text\n" * 1_200_000
    big = FilePayload(name="big.txt", mimeType="text/plain", buffer=content)
    other = FilePayload(name="no.bin", mimeType="text/plain", buffer=bytes(9))
    page.get_by_label("File").set_input_files([big, other])
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("1 of 2 files arrived")).to_be_visible()
    expect(page.locator(".upload.good")).to_have_text("big.txtArrived")
    expect(page.locator(".upload.bad")).to_have_text("no.binFiles of this type are not accepted.")
    assert "big.txt" in site.names()
    assert "no.bin" not in site.names()
    # The first piece was not sent again.
    assert offsets.count("0") == 2
    assert page_errors == []
    page.close()


@needs_chromium
def test_a_browser_drops_a_folder(site: Site, browser: Browser, tmp_path: Path) -> None:
    for name in ("one.txt", "sub/two.txt"):
        file = tmp_path / "dropped" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    page = browser.new_page()
    page.goto(site.share("drop"))
    page.get_by_label("Or a folder").set_input_files(tmp_path / "dropped")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("2 files arrived")).to_be_visible()
    for path in ("dropped/one.txt", "dropped/sub/two.txt"):
        expect(page.locator(".upload.good", has_text=path)).to_be_visible()
    assert "dropped" in site.names()
    page.close()


def test_a_share_survives_a_backup(site: Site, tmp_path: Path) -> None:
    """Its password, its count of downloads and its URL are those of before."""
    secret = site.share(password=PASSWORD, maxDownloads=2).rpartition("/")[2]
    api = f"/api/v1/shares/{secret}"

    def download(url: str, visitor: int) -> int:
        caller = Caller(url)
        proven = caller.send("POST", f"{api}/proofs", {"password": PASSWORD})
        headers = {name.lower(): value for name, value in proven.headers.items()}
        proof = {"X-Share-Proof": headers.get("x-share-proof", ""), "User-Agent": f"visitor {visitor}"}
        connection = HTTPConnection(urlsplit(url).netloc)
        with closing(connection):
            connection.request("GET", f"{api}/files/{site.file}/download", headers=proof)
            return connection.getresponse().status

    assert download(site.server.url, 0) == 200
    archive = tmp_path / "backup.tar"
    site.server.command("backup", "create", str(archive))
    plugins = {"enabled": ["storage_local", "share_links"], "share_links": {"kinds": ALL_KINDS}}
    config = write_config(tmp_path, f"sqlite:///{tmp_path}/restored.sqlite3", {"plugins": plugins})
    result = run_command("--config", str(config), "backup", "restore", str(archive))
    assert result.returncode == 0, result.stderr
    with serve(config) as restored:
        assert [download(restored.url, visitor) for visitor in (1, 2)] == [200, 404]
