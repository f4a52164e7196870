"""Screenshots of the documentation show the pages of this version (``make screenshots``).

Next to each image is the accessible structure of the page, which is compared instead of pixels.
"""

import json
import os
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Final

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize
from tests.support.browsers import needs_chromium
from tests.support.config import Table
from tests.support.examples import brand
from tests.support.source_tree import ROOT

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, live_server

IMAGES: Final = ROOT / "docs/images"
WRITES: Final = os.environ.get("STRONGROOM_TEST_SCREENSHOTS") == "write"
EMAIL: Final = "alice@example.com"
PLUGINS: Final = ("factor_totp", "login_pages", "share_links")
SIZE: Final = ViewportSize(width=960, height=640)
SMALL: Final = ViewportSize(width=640, height=560)
WIDE: Final = ViewportSize(width=1200, height=720)
TALL: Final = ViewportSize(width=640, height=1000)
NAMES: Final = (
    "login",
    "account",
    "share",
    "drop-box",
    "registration",
    "reset",
    "share-login",
    "brand",
    "providers",
    "console-files",
    "console-details",
    "console-share",
    "console-space",
    "console-users",
    "console-server",
)
CONSOLE: Final = {
    "files": "tenants/{tenant}/files/{folder}/",
    "details": "tenants/{tenant}/nodes/{file}",
    "share": "tenants/{tenant}/nodes/{file}/share",
    "space": "tenants/{tenant}/members/",
    "users": "server/users/",
    "server": "server/",
}
"""The pages of the console by the names of their images."""


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


def share(server: LiveServer, alice: LiveUser, folder: str, kind: str, **body: str) -> str:
    body = {"kind": kind, **body}
    shared = server.succeed("POST", f"{folder}/shares", by=alice, json_body=body)
    return str(shared["url"])


def structure(page: Page) -> str:
    """Return the accessible structure of a page, without addresses, numbers and days, which vary."""
    lines = page.locator("body").aria_snapshot().splitlines()
    kept = [line.removesuffix(":") for line in lines if "/url:" not in line]
    text = re.sub(r"[0-9]+", "0", "\n".join(kept)) + "\n"
    return re.sub(r"[A-Z][a-z]{2} 0, 0", "DAY", text)


def check(name: str, page: Page) -> None:
    found, path = structure(page), IMAGES / f"{name}.txt"
    if WRITES:
        IMAGES.mkdir(exist_ok=True)
        path.write_text(found)
        picture = Image.open(BytesIO(page.screenshot()))
        # Pages have few colours.
        picture.quantize(96, dither=Image.Dither.NONE).save(IMAGES / f"{name}.png", optimize=True)
    assert found == path.read_text(), "the page has changed; run: make screenshots"


@needs_chromium
def test_the_login_page_is_as_shown(page: Page, server: LiveServer, alice: LiveUser) -> None:
    show_login(page, server)
    check("login", page)


@needs_chromium
def test_the_account_page_is_as_shown(page: Page, server: LiveServer, alice: LiveUser) -> None:
    show_account(page, server)
    check("account", page)


@needs_chromium
@pytest.mark.parametrize(("name", "kind"), [("share", "read"), ("drop-box", "drop")])
def test_a_share_is_as_shown(
    page: Page, server: LiveServer, alice: LiveUser, folder: str, name: str, kind: str
) -> None:
    page.goto(share(server, alice, folder, kind))
    check(name, page)


@needs_chromium
@pytest.mark.parametrize(
    ("name", "path"), [("registration", "/account/register"), ("reset", "/account/forgot")]
)
def test_a_form_of_the_sign_up_is_as_shown(page: Page, server: LiveServer, name: str, path: str) -> None:
    page.set_viewport_size(SMALL)
    page.goto(f"{server.url}{path}")
    check(name, page)


@needs_chromium
def test_a_share_that_needs_a_login_is_as_shown(
    page: Page, server: LiveServer, alice: LiveUser, folder: str
) -> None:
    page.set_viewport_size(SMALL)
    page.goto(share(server, alice, folder, "read", audience="logged-in"))
    check("share-login", page)


@needs_chromium
def test_the_brand_of_a_company_is_as_shown(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(locale="zh-CN", color_scheme="dark", viewport=SMALL)
    page = context.new_page()
    with live_server(tmp_path, plugins=PLUGINS, config={"pages": brand()}) as server:
        page.goto(f"{server.url}/account/login")
        check("brand", page)
    context.close()


@needs_chromium
def test_the_login_with_providers_is_as_shown(page: Page, tmp_path: Path) -> None:
    app = {"client_id": "strongroom", "client_secret": "a-secret"}
    presets = ("google", "microsoft", "github", "gitlab", "gitee")
    config: Table = {
        "login": {
            "methods": ["password", "wecom", "oidc"],
            "wecom": {"apps": {"main": {"corpid": "ww00", "agentid": 1000002, "secret": "a-secret"}}},
            "oidc": {"providers": {name: {"preset": name, **app} for name in presets}},
        }
    }
    plugins = ("login_pages", "login_wecom", "login_oidc")
    with live_server(tmp_path, plugins=plugins, config=config) as server:
        page.set_viewport_size(TALL)
        page.goto(f"{server.url}/account/login")
        check("providers", page)


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LiveServer, dict[str, str]]]:
    """A server with the console, and the ids of what its users have."""
    plugins = (*PLUGINS, "webhooks", "console")
    with live_server(tmp_path_factory.mktemp("console"), plugins=plugins) as server:
        for email, name, *admin in ((EMAIL, "Alice", "--admin"), ("ben@example.com", "Ben")):
            arguments = ("--email", email, "--name", name, "--password-stdin", "--json", *admin)
            created = json.loads(server.command("users", "create", *arguments, stdin=PASSWORD))
        alice = LiveUser("me", EMAIL, server.log_in(EMAIL))
        tenant = server.tenant(alice)
        server.join(tenant, alice, LiveUser(created["id"], "", ""))
        folder = str(server.folder_in(tenant, alice, "Reports")["id"])
        server.folder_in(tenant, alice, "Drafts", folder)
        for name in ("Annual report.pdf", "Budget.csv", "Plan.txt"):
            file = server.upload(tenant, alice, name, name.encode() * 100, folder)["id"]
        path = f"/api/v1/tenants/{tenant}/files/{file}"
        grant = {"ownerId": created["id"], "permission": "read"}
        server.succeed("POST", f"{path}/owners", by=alice, json_body=grant)
        server.succeed("POST", f"{path}/shares", by=alice, json_body={"kind": "read"})
        yield server, {"tenant": tenant, "folder": folder, "file": file}


@needs_chromium
@pytest.mark.parametrize("name", CONSOLE)
def test_a_page_of_the_console_is_as_shown(
    page: Page, console: tuple[LiveServer, dict[str, str]], name: str
) -> None:
    server, ids = console
    page.set_viewport_size(WIDE)
    show_account(page, server)
    page.goto(f"{server.url}/console/{CONSOLE[name].format(**ids)}")
    check(f"console-{name}", page)


@pytest.mark.parametrize("name", NAMES)
def test_each_image_is_small_and_on_a_page(name: str) -> None:
    image = IMAGES / f"{name}.png"
    assert image.read_bytes().startswith(b"\x89PNG")
    assert image.stat().st_size < 60_000
    assert any(f"images/{name}.png" in page.read_text() for page in (ROOT / "docs").rglob("*.md"))
