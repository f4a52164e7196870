"""The panel of a person next to a list of people, in Chromium."""

import base64
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

pytestmark = [needs_chromium]


@pytest.fixture
def members(desk: Desk) -> Page:
    """The list of the members of a space with another member."""
    other = desk.server.user()
    path = f"/api/v1/tenants/{desk.tenant}/members/{other.id}"
    desk.server.succeed("PUT", path, json_body={"role": "member"}, by=desk.user)
    desk.page.set_viewport_size({"width": 1280, "height": 800})
    desk.page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/members/")
    return desk.page


@pytest.fixture
def users(server: LiveServer, browser: Browser) -> Iterator[Page]:
    """The list of the users of a server, in front of an administrator."""
    email = "root@example.com"
    described = ("--admin", "--email", email, "--password-stdin")
    server.command("users", "create", *described, stdin=PASSWORD)
    server.user()
    desk = Desk(server, LiveUser("", email, ""), "", browser.new_page())
    desk.watch(desk.page)
    desk.log_in()
    desk.page.set_viewport_size({"width": 1280, "height": 800})
    desk.page.goto(f"{server.url}/console/server/users/")
    yield desk.page
    desk.page.close()
    assert desk.faults == []


def test_a_press_on_a_row_shows_the_member(members: Page) -> None:
    address, heading = members.url, members.locator("#drawer h1")
    row = members.locator("tr[data-id]").nth(1)
    row.locator("td.tags").click()
    expect(heading).to_have_text(row.locator("a bdi").inner_text())
    expect(row).to_have_class("current")
    members.locator("#drawer").get_by_label("Previous").click()
    expect(heading).to_have_text(members.locator("tr[data-id] a bdi").first.inner_text())
    members.keyboard.press("Escape")
    expect(members.locator("#drawer")).to_be_hidden()
    assert members.url == address


def test_a_change_in_the_panel_shows_in_the_list_and_keeps_the_selection(members: Page) -> None:
    row = members.locator("tr[data-id]").nth(1)
    row.locator("input[type=checkbox]").check()
    row.locator("td a").click()
    drawer = members.locator("#drawer")
    drawer.locator("select[name=role]").select_option("admin")
    drawer.get_by_role("button", name="Save").click()
    expect(row.locator("td.tags")).to_have_text("Administrator")
    expect(row.locator("input[type=checkbox]")).to_be_checked()
    expect(drawer.locator("h1")).to_be_visible()


def test_a_link_to_another_server_leaves_the_list(members: Page) -> None:
    members.route("https://other.example/**", lambda route: route.fulfill(body="Another server"))
    script = "link => { link.href = `https://other.example${link.pathname}`; }"
    link = members.locator("tr[data-id] td a").first
    link.evaluate(script)
    link.click()
    members.wait_for_url("https://other.example/**")


def test_the_tabs_of_a_user_stay_in_the_panel(users: Page) -> None:
    address, drawer = users.url, users.locator("#drawer")
    users.locator("tr[data-id] td a").first.click()
    current = drawer.locator(".tabs [aria-current]")
    drawer.locator(".tabs a[href$='/sessions']").click()
    expect(current).to_have_attribute("href", re.compile("/sessions$"))
    users.keyboard.press("ArrowDown")
    expect(drawer.locator("h1")).to_have_text(users.locator("tr[data-id] a bdi").nth(1).inner_text())
    expect(current).to_have_attribute("href", re.compile("/sessions$"))
    assert users.url == address


def delay(page: Page, url: str) -> None:
    def wait(route: Route) -> None:
        page.wait_for_timeout(800)
        route.continue_()

    page.route(url, wait)


def test_a_slow_page_shows_a_skeleton(members: Page) -> None:
    delay(members, "**/members/*/")
    members.locator("tr[data-id] td a").first.click()
    skeleton = members.locator("#drawer .skeleton")
    expect(skeleton).to_have_css("opacity", "1")
    expect(members.locator("#drawer h1")).to_be_visible()
    expect(skeleton).to_be_hidden()


def test_a_quick_page_shows_none(members: Page) -> None:
    members.locator("tr[data-id] td a").first.click()
    expect(members.locator("#drawer h1")).to_be_visible()
    expect(members.locator("#drawer .skeleton")).to_be_hidden()


def test_slow_results_show_a_skeleton(members: Page) -> None:
    delay(members, "**/find/results*")
    members.keyboard.press("Control+k")
    skeleton = members.locator("#palette .skeleton")
    expect(skeleton).to_have_css("opacity", "1")
    expect(members.locator("#palette [role=option]").first).to_be_visible()
    expect(skeleton).to_be_hidden()


def test_a_slow_preview_shows_a_skeleton_also_with_reduced_motion(desk: Desk) -> None:
    desk.server.upload(desk.tenant, desk.user, "dot.png", PNG)
    desk.page.emulate_media(reduced_motion="reduce")
    desk.open_files()
    delay(desk.page, "**/preview")
    desk.page.locator("#nodes .name a").click()
    skeleton = desk.page.locator("#drawer .preview .skeleton")
    expect(skeleton).to_have_css("opacity", "1")
    expect(skeleton.locator("span").first).to_have_css("animation-name", "none")
    expect(skeleton).to_be_hidden()
