"""The frame of pages in Chromium: menus, the search of everything, themes and narrow windows."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk, desk_at

from strongroom.testing.server import LiveServer

HOSTILE = '<img src="x" onerror="alert(1)">.txt'

pytestmark = [needs_chromium]


@pytest.fixture
def mute_desk(server: LiveServer, browser: Browser) -> Iterator[Desk]:
    with desk_at(server, browser, java_script_enabled=False) as desk:
        yield desk


def faults(page: Page) -> list[str]:
    return [violation["id"] for violation in Axe().run(page).response["violations"]]


def open_palette(desk: Desk) -> Page:
    desk.open_files()
    desk.page.keyboard.press("Control+k")
    expect(desk.page.locator("#palette [role=option]").first).to_be_visible()
    return desk.page


def test_the_switcher_leads_to_another_space(desk: Desk) -> None:
    name = "Harbour <b>"
    other = desk.server.succeed("POST", "/api/v1/tenants", by=desk.user, json_body={"name": name})["id"]
    page = desk.page
    desk.open_files()
    page.get_by_role("button", name="Switch the space").click()
    link = page.locator("#places").get_by_role("link", name=name)
    expect(page.locator("#places [aria-current=true]")).to_contain_text("Acme")
    assert faults(page) == []
    link.click()
    page.wait_for_url(f"**/console/tenants/{other}/files/")


def test_many_spaces_are_searched_in_the_switcher(desk: Desk) -> None:
    for number in range(9):
        body = {"name": f"Müller {number}"}
        desk.server.succeed("POST", "/api/v1/tenants", by=desk.user, json_body=body)
    page = desk.page
    desk.open_files()
    page.get_by_role("button", name="Switch the space").click()
    page.locator("#places input").fill("muller 7")
    expect(page.locator("#places [data-choices] li:visible")).to_have_count(1)
    page.locator("#places input").fill("nowhere")
    expect(page.locator("#places")).to_contain_text("Nothing found")


def test_the_keyboard_opens_and_closes_menus(desk: Desk) -> None:
    page = desk.page
    desk.open_files()
    person = page.locator("button.me")
    person.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#person")).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#person') !== null")
    page.keyboard.press("Escape")
    expect(page.locator("#person")).to_be_hidden()
    assert page.evaluate("document.activeElement.className") == "me"


def test_the_search_finds_a_file_by_the_keyboard(desk: Desk, server: LiveServer) -> None:
    file = server.upload(desk.tenant, desk.user, HOSTILE, b"x")["id"]
    page = open_palette(desk)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.keyboard.type("onerror", delay=20)
    option = page.locator("#palette [role=option]", has_text="onerror")
    expect(option).to_contain_text(HOSTILE)
    expect(option).to_have_attribute("aria-selected", "true")
    assert len([url for url in requests if "/find/results" in url]) == 1
    assert faults(page) == []
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/nodes/{file}")


def test_arrow_keys_choose_and_escape_closes_the_search(desk: Desk) -> None:
    page = open_palette(desk)
    active = "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))"
    first = page.evaluate(f"{active}.id")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(f"{active}.id") != first
    page.keyboard.press("ArrowUp")
    assert page.evaluate(f"{active}.id") == first
    page.keyboard.press("ArrowUp")
    expect(page.locator("#palette [role=option]").last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()


def test_enter_waits_for_the_results_of_the_text(desk: Desk) -> None:
    page = open_palette(desk)
    page.keyboard.type("trash")
    page.keyboard.press("Enter")
    page.wait_for_url("**/trash/")


def test_the_search_opens_on_the_pages_of_the_account(desk: Desk) -> None:
    page = desk.page
    page.goto(f"{desk.server.url}/account/")
    page.locator(".side [data-palette]").click()
    expect(page.locator("#palette [role=option]", has_text="Acme").first).to_be_visible()


def test_the_theme_is_kept(desk: Desk) -> None:
    page = desk.page
    desk.open_files()
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.locator("button.me").click()
    page.get_by_role("link", name="Dark", exact=True).click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate(background) != light
    page.goto(f"{desk.server.url}/account/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator("button.me").click()
    page.get_by_role("link", name="System", exact=True).click()
    desk.open_files()
    assert page.evaluate(background) == light


@pytest.mark.parametrize("width", [320, 360, 768])
def test_narrow_windows_have_a_drawer_and_sheets(desk: Desk, width: int) -> None:
    page = desk.page
    page.set_viewport_size({"width": width, "height": 640})
    desk.open_files()
    page.locator("[popovertarget=side]:visible").first.click()
    side = page.locator("#side")
    expect(side).to_be_visible()
    assert faults(page) == []
    side.get_by_role("link", name="Trash").click()
    page.wait_for_url("**/trash/")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width < 720:
        expect(page.locator(".dock li")).to_have_count(4)
        page.locator(".dock [popovertarget=person]").click()
        box = page.locator("#person").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] == pytest.approx(640, abs=1)


def test_menus_and_the_search_work_without_scripts(mute_desk: Desk) -> None:
    page = mute_desk.page
    mute_desk.open_files()
    page.get_by_role("button", name="Switch the space").click()
    page.locator("#places").get_by_role("link", name="All spaces").click()
    mute_desk.open_files()
    page.locator("button.me").click()
    page.locator("#person").get_by_role("link", name="Account").click()
    page.wait_for_url("**/account/")
    page.locator(".side .search").click()
    page.get_by_label("Space, file, user or page").fill("acme")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator(".found")).to_contain_text("Acme")
    page.locator("button.me").click()
    page.locator("#person").get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile("/account/login"))
