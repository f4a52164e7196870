"""A real browser without scripts connects a WeChat account on the page of the account."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.support.browsers import needs_chromium
from tests.support.config import Table, merged
from tests.support.server import Server
from tests.support.wechat import WeChat, wechat

from strongroom.testing.server import PASSWORD, free_port

PLUGINS = {"enabled": ["storage_local", "login_wechat", "login_pages"]}

pytestmark = [
    pytest.mark.extended,
    needs_chromium,
]


@pytest.fixture(scope="module")
def platform() -> Iterator[WeChat]:
    with wechat() as platform:
        yield platform


@pytest.fixture(scope="module")
def shared_changes(platform: WeChat) -> Table:
    port = free_port()
    changes = {**platform.config(f"http://127.0.0.1:{port}"), "plugins": PLUGINS}
    return merged(changes, {"server": {"port": port}})


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(java_script_enabled=False, locale="en-US")
    yield context.new_page()
    context.close()


def log_in(page: Page, server: Server, name: str) -> None:
    """Log in as a new user who has no contact, so that the password is the proof."""
    server.command("users", "create", "--username", name, "--password-stdin", stdin=PASSWORD)
    page.goto(f"{server.url}/account/login")
    page.get_by_label("Name").first.fill(name)
    page.get_by_label("Password").first.fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()


def scan(page: Page, decision: str) -> None:
    """Press the button, and play the person with the phone on the page of WeChat."""
    page.get_by_role("link", name="Connect WeChat").click()
    page.get_by_label("Ada").check()
    page.get_by_role("button", name=decision).click()


def test_the_password_connects_the_account_that_was_scanned(page: Page, shared_server: Server) -> None:
    log_in(page, shared_server, "alice")
    scan(page, "Confirm")
    page.get_by_label("Current password").fill("Wrong1Horse")
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("status")).to_have_text("The account was connected.")
    page.get_by_role("link", name="Remove WeChat").click()
    expect(page.get_by_role("alert")).to_contain_text("verified e-mail address")


def test_a_denial_returns_to_the_account(page: Page, shared_server: Server) -> None:
    log_in(page, shared_server, "bob")
    scan(page, "Deny")
    expect(page.get_by_role("alert")).to_have_text("You have not connected the account.")
    expect(page.get_by_role("link", name="Connect WeChat")).to_be_visible()
