"""All parts of pages in Chromium: each language, colour scheme and width.

``make contact-sheet`` photographs them into a folder.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, StorageState, ViewportSize, expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser

SHEET: Final = os.environ.get("STRONGROOM_TEST_CONTACT_SHEET")
"""The folder of the photographs."""

EMAIL: Final = "root@example.com"
LOCALES: Final = {"en": "en-US", "zh": "zh-CN"}
PHONE: Final = 700
"""The width below which a device has a touch screen."""

Variant = tuple[str, Literal["light", "dark"], int]
"""A language, a colour scheme and a width."""

pytestmark = [needs_chromium]


@pytest.fixture(scope="module")
def session(server: LiveServer, browser: Browser) -> StorageState:
    """The cookies of an administrator."""
    arguments = ("--email", EMAIL, "--name", "Root", "--password-stdin", "--admin")
    server.command("users", "create", *arguments, stdin=PASSWORD)
    context = browser.new_context()
    Desk(server, LiveUser("", EMAIL, ""), "", context.new_page()).log_in()
    cookies = context.storage_state()
    context.close()
    return cookies


@pytest.fixture
def design(
    server: LiveServer, browser: Browser, session: StorageState, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """The page of the design, for the parameters of the test."""
    variant: Variant = getattr(request, "param", ("en", "light", 1280))
    language, scheme, width = variant
    context = browser.new_context(
        locale=LOCALES[language],
        color_scheme=scheme,
        viewport=ViewportSize(width=width, height=800),
        has_touch=width < PHONE,
        # Axe would measure the colours of a fading part.
        reduced_motion="reduce",
        storage_state=session,
    )
    desk = Desk(server, LiveUser("", EMAIL, ""), "", context.new_page())
    desk.watch(desk.page)
    desk.page.goto(f"{server.url}/console/design")
    yield desk.page
    context.close()
    assert desk.faults == []


@pytest.mark.parametrize(
    "design",
    [
        (language, scheme, width)
        for language in LOCALES
        for scheme in ("light", "dark")
        for width in (1280, 768, 360)
    ],
    indirect=True,
    ids=lambda values: "-".join(map(str, values)),
)
def test_all_parts_are_accessible(design: Page, request: pytest.FixtureRequest) -> None:
    assert design.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(design) == []
    if SHEET:
        name = request.node.callspec.id.removeprefix("chromium-")
        design.screenshot(path=Path(SHEET, f"{name}.png"), full_page=True)


def violations(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{item['id']}: {[node['html'] for node in item['nodes']]}" for item in found]


def test_a_menu_opens_next_to_its_button_and_closes(design: Page) -> None:
    button = design.locator("[popovertarget=menu-file]")
    menu = design.locator("#menu-file")
    button.click()
    expect(menu).to_be_visible()
    edge, area = button.bounding_box(), menu.bounding_box()
    assert edge is not None
    assert area is not None
    assert 0 <= area["y"] - edge["y"] - edge["height"] < 10
    assert violations(design) == []
    design.keyboard.press("Escape")
    expect(menu).to_be_hidden()


def test_a_dialog_finds_people_by_name_and_address(design: Page) -> None:
    design.get_by_role("button", name="Open the dialog").click()
    dialog = design.get_by_role("dialog")
    expect(dialog).to_be_visible()
    dialog.get_by_role("combobox").fill("yan.zh")
    options = dialog.get_by_role("option")
    expect(options).to_have_count(1)
    expect(options.locator(".avatar")).to_have_text("张燕")
    options.click()
    expect(dialog.get_by_role("combobox")).to_have_value("张燕, yan.zhang@acme.example")
    assert violations(design) == []
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_a_toast_is_dismissed(design: Page) -> None:
    toast = design.locator(".toast")
    expect(toast).to_be_visible()
    toast.get_by_role("button", name="Close").click()
    expect(toast).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_of_a_user_precedes_the_system(design: Page, theme: Literal["light", "dark"]) -> None:
    design.emulate_media(color_scheme="dark" if theme == "light" else "light")
    design.goto(f"{design.url}?theme={theme}")
    color = design.evaluate("getComputedStyle(document.body).backgroundColor")
    assert color == {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 18, 22)"}[theme]


def test_times_are_words(design: Page) -> None:
    times = design.locator("time[data-relative]")
    expect(times.first).to_have_text("2 hours ago")
    assert re.search("[0-9]{4}", times.first.get_attribute("title") or "")
