"""Programs that open the links of e-mails in a real browser log in nowhere, and use up nothing."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from tests.support.browsers import chromium, needs_chromium

from strongroom.testing.server import LiveServer, LiveUser, live_server

pytestmark = [
    pytest.mark.extended,
    needs_chromium,
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    config = {
        "login": {"methods": ["password", "email_code"]},
        "captcha": {"provider": "fixed", "answer": "42"},
    }
    folder = tmp_path_factory.mktemp("server")
    with live_server(folder, plugins=["login_email", "login_pages"], config=config) as server:
        yield server


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def user(server: LiveServer) -> LiveUser:
    return server.user()


def begin(page: Page, server: LiveServer, user: LiveUser) -> str:
    """Request a login code in a browser, and return the URL in the e-mail."""
    page.goto(f"{server.url}/account/login")
    page.fill("#username", user.email)
    page.click("button[value=code]")
    page.fill("#captcha", "42")
    page.click("main form:has(#captcha) button")
    page.wait_for_url("**/login/code/entry")
    link = server.messages()[-1]["text"].partition("/account/l/")[2].split()[0]
    return f"{server.url}/account/l/{link}"


def logins(server: LiveServer, user: LiveUser) -> int:
    """Return how many logins the user has, without that of the test."""
    page = server.succeed("GET", "/users/me/authorizations", by=user)
    return len(page["data"]) - 1


def scan(context: BrowserContext, link: str, *, presses: bool) -> str:
    """Open a link as a scanner does, run its scripts, and perhaps press every button."""
    page = context.new_page()
    page.goto(link, wait_until="networkidle")
    if presses:
        for button in page.get_by_role("button").all():
            button.click()
    page.goto(f"{link.partition('/account/')[0]}/account/", wait_until="networkidle")
    return urlsplit(page.url).path


@pytest.mark.parametrize("scripts", [True, False])
def test_a_scanner_logs_in_nowhere_and_the_link_still_works(
    server: LiveServer, chrome: Browser, user: LiveUser, scripts: bool
) -> None:
    owner = chrome.new_context()
    page = owner.new_page()
    link = begin(page, server, user)
    for presses in (False, True, True):
        scanner = chrome.new_context(java_script_enabled=scripts)
        assert scan(scanner, link, presses=presses) == "/account/login"
        scanner.close()
    # The owner's browser opens it without pressing the button, as a preview does.
    assert scan(owner, link, presses=False) == "/account/login"
    assert logins(server, user) == 0
    page.goto(link)
    page.click("main form button")
    page.wait_for_url("**/account/")
    assert logins(server, user) == 1
    owner.close()
