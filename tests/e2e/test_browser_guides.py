"""The JavaScript of the guides, run in a real browser on the origin of a front end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page

from strongroom.testing.server import free_port
from tests.support.browsers import VirtualAuthenticator, needs_chromium
from tests.support.front_end import front_end
from tests.support.http import Caller
from tests.support.pages import blocks_of
from tests.support.server import Server

GUIDES = Path(__file__).parents[2] / "docs/guides"
PASSWORD = "Correct1Horse"
PAGE = """<!doctype html><title>Front end</title>
<form><input name="username" autocomplete="username webauthn"></form>
<script type="module">import * as guide from "{module}"; window.guide = guide;</script>"""

PORTS = {"server": free_port(), "app": free_port()}
SERVER, APP = (f"http://localhost:{PORTS[name]}" for name in ("server", "app"))
CALLBACK = f"{APP}/callback"


pytestmark = [
    needs_chromium,
    pytest.mark.config(
        {
            "server": {"port": PORTS["server"], "public_url": SERVER, "cors_origins": [APP]},
            "plugins": {
                "enabled": ["storage_local", "factor_totp", "login_passkey", "login_pages"],
                "login_pages": {"return_urls": [CALLBACK]},
            },
            "second_factors": {"passkey": {"origins": [APP]}},
        }
    ),
    pytest.mark.extended,
]


def code_of(guide: str) -> str:
    """Return the JavaScript of a guide, for the server and the front end of this test."""
    blocks = [block.content for block in blocks_of(GUIDES / guide) if block.language == "js"]
    code = "\n".join(blocks)
    return code.replace("https://files.example.com", SERVER).replace("https://app.example.com", APP)


@pytest.fixture(scope="module", autouse=True)
def site_of_the_front_end() -> Iterator[None]:
    pages = {
        "/passkeys": PAGE.format(module="/passkeys.js"),
        "/passkeys.js": code_of("passkeys.md"),
        "/folder": PAGE.format(module="/folder-uploads.js").replace(
            "</form>", '</form><input id="folder" type="file" webkitdirectory>'
        ),
        "/folder-uploads.js": code_of("folder-uploads.md"),
        "/callback": PAGE.format(module="/login-pages.js"),
        "/login-pages.js": code_of("login-pages.md"),
    }
    with front_end(PORTS["app"], pages):
        yield


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def email(shared_server: Server) -> str:
    email = f"{uuid4().hex}@example.com"
    shared_server.create_user(email)
    return email


def run(page: Page, call: str, *arguments: Any) -> Any:
    """Call a function of the guide, and return its result."""
    page.wait_for_function("window.guide")
    return page.evaluate(f"arguments => guide.{call}(...arguments)", list(arguments))


def opened(page: Page, path: str = "/passkeys") -> VirtualAuthenticator:
    device = VirtualAuthenticator(page)
    page.goto(APP + path)
    return device


def test_a_passkey_is_added_used_renamed_and_removed(page: Page, email: str) -> None:
    device = opened(page)
    run(page, "logIn", email, PASSWORD)
    factor = run(page, "addPasskey", "Laptop")
    assert factor["name"] == "Laptop"
    assert run(page, "logInByPasskey")["user"]["id"]
    run(page, "stepUp")
    assert run(page, "renamePasskey", factor["id"], "Phone")["name"] == "Phone"
    assert [item["name"] for item in run(page, "listFactors")] == ["Phone"]
    assert len(device.credentials) == 1
    run(page, "removePasskey", factor["id"])
    assert device.credentials == []


def test_autofill_logs_in(page: Page, email: str) -> None:
    opened(page)
    run(page, "logIn", email, PASSWORD)
    run(page, "addPasskey", "Laptop")
    page.reload()
    assert run(page, "offerAutofill")["user"]["id"]


def test_a_passkey_follows_the_password(page: Page, email: str) -> None:
    opened(page)
    run(page, "logIn", email, PASSWORD)
    run(page, "addPasskey", "Laptop")
    page.reload()
    assert run(page, "logIn", email, PASSWORD)["accessToken"]


def test_the_front_end_gets_the_tokens_of_the_login_page(page: Page, email: str) -> None:
    page.goto(CALLBACK)
    run(page, "openLogin")
    page.get_by_label("username").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{CALLBACK}?**")
    tokens = run(page, "finishLogin")
    assert page.url == CALLBACK
    me = Caller(SERVER.replace("localhost", "127.0.0.1")).bearing(tokens["accessToken"])
    assert me.send("GET", "/users/me").status == 200


def test_a_folder_is_uploaded_with_its_folders(page: Page, email: str, tmp_path: Path) -> None:
    for name in ("a.txt", "may/b.txt", "may/c.txt", "june/deep/d.txt"):
        file = tmp_path / "photos" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    caller = Caller(SERVER.replace("localhost", "127.0.0.1"))
    body = {"username": email, "password": PASSWORD}
    token = caller.send("POST", "/authorizations", body).json["accessToken"]
    caller = caller.bearing(token)
    tenant = caller.send("POST", "/api/v1/tenants", {"name": "Acme"}).json["id"]
    page.goto(f"{APP}/folder")
    page.wait_for_function("window.guide")
    page.locator("#folder").set_input_files(tmp_path / "photos")
    code = """async ([tenant, token]) => {
        const files = document.getElementById("folder").files;
        return await guide.uploadFolder(tenant, null, files, token);
    }"""
    uploaded = page.evaluate(code, [tenant, token])
    assert sorted(node["name"] for node in uploaded) == ["a.txt", "b.txt", "c.txt", "d.txt"]
    root = f"/api/v1/tenants/{tenant}"
    parents = {node["name"]: node["parentId"] for node in uploaded}
    folders = {
        name: caller.send("GET", f"{root}/files/{parent}").json["name"]
        for name, parent in parents.items()
    }
    assert folders == {"a.txt": "photos", "b.txt": "may", "c.txt": "may", "d.txt": "deep"}
    assert parents["b.txt"] == parents["c.txt"]
