"""Names of other scripts, from right to left, and of 255 characters fit on the pages of the console."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk, desk_at

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser

LONG = "Donaudampfschifffahrt" * 13
AVATARS = {
    "Änne Müller-Lüdenscheidt": "ÄM",
    "欧阳小明": "小明",
    "أحمد الكعبي": "\u0623\u200c\u0627",
    LONG[:255]: "D",
}
FILES = (
    "تقرير سنوي ٢٠٢٦.pdf",
    "Übersicht der Straßen.txt",
    "年度报告.txt",
    f"{'ب' * 120}.txt",
    f"{'x' * 251}.txt",
)
PAGES = ("files/?view=list", "files/?view=grid", "members/", "activity/", "groups/", "usage/")

pytestmark = [needs_chromium, pytest.mark.extended]


@pytest.fixture(scope="module")
def named(server: LiveServer, browser: Browser) -> Iterator[Desk]:
    root = server.user(admin=True)
    with desk_at(server, browser, locale="en-US") as desk:
        for name in AVATARS:
            email = f"{uuid4().hex}@example.com"
            body = {"name": name, "email": email, "emailVerified": True, "password": PASSWORD}
            user = server.succeed("POST", "/users", by=root, json_body=body)["id"]
            server.join(desk.tenant, desk.user, LiveUser(user, email, ""))
        for name in FILES:
            server.upload(desk.tenant, desk.user, name, b"x")
        yield desk


@pytest.mark.parametrize("width", [320, 768, 1280])
@pytest.mark.parametrize("path", PAGES)
def test_a_page_does_not_scroll_sideways(named: Desk, path: str, width: int) -> None:
    named.page.set_viewport_size({"width": width, "height": 800})
    named.page.goto(f"{named.server.url}/console/tenants/{named.tenant}/{path}")
    expect(named.page.locator("h1")).to_be_visible()
    assert named.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_members_of_a_group_fit(named: Desk) -> None:
    root = f"/api/v1/tenants/{named.tenant}"
    body = {"name": LONG[:255]}
    group = named.server.succeed("POST", f"{root}/groups", by=named.user, json_body=body)["id"]
    for item in named.server.succeed("GET", f"{root}/members", by=named.user)["data"]:
        path = f"{root}/groups/{group}/members/{item['user']['$ref']}"
        named.server.succeed("PUT", path, by=named.user)
    named.page.set_viewport_size({"width": 320, "height": 640})
    named.page.goto(f"{named.server.url}/console/tenants/{named.tenant}/groups/{group}/")
    assert named.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    lines = "item => item.getBoundingClientRect().height / parseFloat(getComputedStyle(item).lineHeight)"
    assert named.page.locator("h1").evaluate(lines) < 4


def test_an_avatar_has_the_initials_of_a_name(named: Desk) -> None:
    named.page.goto(f"{named.server.url}/console/tenants/{named.tenant}/members/")
    for name, initials in AVATARS.items():
        row = named.page.get_by_role("row").filter(has_text=name)
        expect(row.locator(".avatar")).to_have_text(initials)


def test_a_name_has_its_own_direction(named: Desk) -> None:
    named.open_files()
    name = named.page.locator("#nodes bdi", has_text="تقرير")
    assert name.evaluate("item => getComputedStyle(item).unicodeBidi") == "isolate"
