"""Screenshots of the documentation show the pages of this version (``make screenshots``).

Next to each image is the accessible structure of the page, which is compared instead of pixels.
"""

import os
import re
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, ViewportSize
from tests.support.browsers import CHROMIUM, chromium
from tests.support.source_tree import ROOT

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, live_server

IMAGES: Final = ROOT / "docs/images"
WRITES: Final = os.environ.get("STRONGROOM_TEST_SCREENSHOTS") == "write"
EMAIL: Final = "alice@example.com"
PLUGINS: Final = ("factor_totp", "login_pages", "share_links")
SIZE: Final = ViewportSize(width=960, height=640)
NAMES: Final = ("login", "account", "share", "drop-box")

needs_browser = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no browser at {CHROMIUM}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("server"), plugins=PLUGINS) as server:
        yield server


@pytest.fixture(scope="module")
def alice(server: LiveServer) -> LiveUser:
    arguments = ("--email", EMAIL, "--name", "Alice", "--password-stdin", "--json")
    server.command("users", "create", *arguments, stdin=PASSWORD)
    return LiveUser("me", EMAIL, server.log_in(EMAIL))


@pytest.fixture(scope="module")
def folder(server: LiveServer, alice: LiveUser) -> str:
    """The path of a folder with content."""
    tenant = server.tenant(alice)
    folder = str(server.folder_in(tenant, alice, "Reports", None)["id"])
    server.folder_in(tenant, alice, "Drafts", folder)
    for name in ("Annual report.pdf", "Budget.csv", "Notes.txt"):
        server.upload(tenant, alice, name, name.encode() * 100, folder)
    return f"/api/v1/tenants/{tenant}/files/{folder}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(locale="en-US", viewport=SIZE)
    yield context.new_page()
    context.close()


def show_login(page: Page, server: LiveServer) -> None:
    page.goto(f"{server.url}/account/login")
    page.get_by_label("Name").first.fill(EMAIL)


def show_account(page: Page, server: LiveServer) -> None:
    show_login(page, server)
    page.get_by_label("Password").first.fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/account/")


def share(server: LiveServer, alice: LiveUser, folder: str, kind: str) -> str:
    shared = server.succeed("POST", f"{folder}/shares", by=alice, json_body={"kind": kind})
    return str(shared["url"])


def structure(page: Page) -> str:
    """Return the accessible structure of a page, without addresses and numbers, which vary."""
    lines = page.locator("body").aria_snapshot().splitlines()
    kept = [line.removesuffix(":") for line in lines if "/url:" not in line]
    return re.sub(r"[0-9]+", "0", "\n".join(kept)) + "\n"


def check(name: str, page: Page) -> None:
    found, path = structure(page), IMAGES / f"{name}.txt"
    if WRITES:
        IMAGES.mkdir(exist_ok=True)
        path.write_text(found)
        page.screenshot(path=IMAGES / f"{name}.png")
    assert found == path.read_text(), "the page has changed; run: make screenshots"


@needs_browser
def test_the_login_page_is_as_shown(page: Page, server: LiveServer, alice: LiveUser) -> None:
    show_login(page, server)
    check("login", page)


@needs_browser
def test_the_account_page_is_as_shown(page: Page, server: LiveServer, alice: LiveUser) -> None:
    show_account(page, server)
    check("account", page)


@needs_browser
@pytest.mark.parametrize(("name", "kind"), [("share", "read"), ("drop-box", "drop")])
def test_a_share_is_as_shown(
    page: Page, server: LiveServer, alice: LiveUser, folder: str, name: str, kind: str
) -> None:
    page.goto(share(server, alice, folder, kind))
    check(name, page)


@pytest.mark.parametrize("name", NAMES)
def test_each_image_is_small_and_on_a_page(name: str) -> None:
    image = IMAGES / f"{name}.png"
    assert image.read_bytes().startswith(b"\x89PNG")
    assert image.stat().st_size < 200_000
    assert any(f"images/{name}.png" in page.read_text() for page in (ROOT / "docs").rglob("*.md"))
