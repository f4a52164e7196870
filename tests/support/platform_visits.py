"""Visits without scripts to the login page, and from there to the pages of simulated platforms."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Browser, Locator, Page, expect

from strongroom.testing.server import PASSWORD
from tests.support.server import Server

REFUSED: Final = {"en-US": "You cancelled at", "zh-CN": "取消登录"}
"""A part of the text on the login page for people who have refused, by locale."""

NOT_MEMBER: Final = {"en-US": "Only members", "zh-CN": "只有该组织的成员"}
"""That for people who are not members."""

Visit = Callable[..., Page]
"""Opens the login page; its arguments are the locale and the ``User-Agent``."""


@contextmanager
def visits(browser: Browser, server: Server) -> Iterator[Visit]:
    """Open the login page in a window of its own for each visit."""
    contexts = []

    def open_page(locale: str = "en-US", user_agent: str | None = None) -> Page:
        context = browser.new_context(java_script_enabled=False, locale=locale, user_agent=user_agent)
        contexts.append(context)
        page = context.new_page()
        page.goto(f"{server.url}/account/login")
        return page

    yield open_page
    for context in contexts:
        context.close()


def decide(page: Page, person: str, decision: str = "Confirm") -> None:
    """Choose a person and a decision on the page of a simulated platform."""
    page.get_by_label(person).check()
    page.get_by_role("button", name=decision).click()


def reason(page: Page) -> Locator:
    """Return what the login page says about a login that a platform has ended."""
    return page.locator("[role=alert]:not(:empty), [role=status]:not(:empty)")


def connect_account(page: Page, server: Server, *, platform: str, person: str) -> None:
    """Log a new user in by the password on the login page, and connect a person's account."""
    server.command("users", "create", "--username", "alice", "--password-stdin", stdin=PASSWORD)
    page.get_by_label("Name").first.fill("alice")
    page.get_by_label("Password").first.fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()
    page.get_by_role("link", name=f"Connect {platform}").click()
    decide(page, person)
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("status")).to_have_text("The account was connected.")
