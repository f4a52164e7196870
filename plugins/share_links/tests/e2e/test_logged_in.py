"""A browser opens a share for logged-in users: over the login and back, and then without it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, FilePayload, Page, expect
from tests.support.browsers import needs_chromium
from tests.support.shares import ALL_KINDS, PNG

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, live_server

LOCALES = {"en": "en-US", "zh": "zh-CN"}
LOG_IN = {"en": "Log in", "zh": "登录"}

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    config = {"plugins": {"share_links": {"kinds": ALL_KINDS}}}
    folder = tmp_path_factory.mktemp("server")
    with live_server(folder, plugins=["share_links", "login_pages"], config=config) as server:
        yield server


@pytest.fixture(scope="module")
def maker(server: LiveServer) -> LiveUser:
    return server.user()


@pytest.fixture(scope="module")
def folder(server: LiveServer, maker: LiveUser) -> str:
    """The path of a folder with a picture."""
    tenant = server.tenant(maker)
    folder = str(server.folder_in(tenant, maker, "Reports", None)["id"])
    server.upload(tenant, maker, "dot.png", PNG, folder)
    return f"/api/v1/tenants/{tenant}/files/{folder}"


def share(server: LiveServer, maker: LiveUser, folder: str, kind: str) -> str:
    body = {"kind": kind, "audience": "logged-in"}
    return str(server.succeed("POST", f"{folder}/shares", by=maker, json_body=body)["url"])


def log_in(page: Page, user: LiveUser) -> None:
    """Log in on the page that a share leads to, without its labels, which are in two languages."""
    page.locator("input[name=username]").fill(user.email)
    page.locator("input[name=password]").fill(PASSWORD)
    page.locator("input[name=password]").press("Enter")


def context_of(browser: Browser, language: str, *, scripts: bool) -> BrowserContext:
    locale = LOCALES[language]
    return browser.new_context(locale=locale, java_script_enabled=scripts, accept_downloads=True)


@pytest.mark.parametrize(
    ("language", "scripts"),
    [
        ("en", True),
        pytest.param("en", False, marks=pytest.mark.extended),
        pytest.param("zh", True, marks=pytest.mark.extended),
    ],
)
def test_the_share_opens_after_the_login_and_its_downloads_work(
    server: LiveServer,
    browser: Browser,
    maker: LiveUser,
    folder: str,
    language: str,
    scripts: bool,
) -> None:
    url = share(server, maker, folder, "read")
    context = context_of(browser, language, scripts=scripts)
    page = context.new_page()
    page.goto(url)
    page.get_by_role("link", name=LOG_IN[language], exact=True).click()
    log_in(page, server.user())
    page.wait_for_url("**/s/**")
    expect(page.get_by_role("link", name="dot.png", exact=True)).to_be_visible()
    with page.expect_download() as archive:
        page.locator("a.button.primary").click()
    assert archive.value.path().read_bytes()[:2] == b"PK"
    other = share(server, maker, folder, "preview")
    page.goto(other)
    expect(page.get_by_role("link", name="dot.png", exact=True)).to_be_visible()
    # The link of the share is a capability, which the log must not have.
    assert url.rpartition("/")[2] not in server.log.read_text()
    context.close()


@pytest.mark.parametrize("scripts", [True, pytest.param(False, marks=pytest.mark.extended)])
def test_a_logged_in_visitor_drops_a_file(
    server: LiveServer, browser: Browser, maker: LiveUser, folder: str, scripts: bool
) -> None:
    context = context_of(browser, "en", scripts=scripts)
    page = context.new_page()
    page.goto(share(server, maker, folder, "drop"))
    page.get_by_role("link", name="Log in", exact=True).click()
    log_in(page, server.user())
    page.wait_for_url("**/s/**")
    name = "scripted.txt" if scripts else "plain.txt"
    sent = FilePayload(name=name, mimeType="text/plain", buffer=b"plain")
    page.locator("#file").set_input_files([sent])
    page.get_by_role("button", name="Upload").click()
    text = f"Arrived: {name}" if scripts else "Thank you. The file has arrived."
    expect(page.get_by_text(text).first).to_be_visible()
    context.close()
