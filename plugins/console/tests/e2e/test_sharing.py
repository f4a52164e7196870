"""The pages of a file in Chromium: previews, a link that is copied and opened, and accessibility."""

import io
import re
import wave
from collections.abc import Iterator

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk, desk_at
from tests.support.documents import pdf
from tests.support.login_pages import Inspection

from strongroom.testing.server import LiveServer, live_server

HOSTILE = '<img src=x onerror="alert(1)">' + "long" * 20 + ".txt"

pytestmark = [needs_chromium]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    plugins = ["login_pages", "share_links", "console"]
    with live_server(tmp_path_factory.mktemp("console"), plugins=plugins) as server:
        yield server


@pytest.fixture
def desk(server: LiveServer, browser: Browser) -> Iterator[Desk]:
    with desk_at(server, browser) as desk:
        yield desk


def picture() -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (60, 40), "red").save(content, "PNG")
    return content.getvalue()


def sound() -> bytes:
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(16000))
    return content.getvalue()


def open_page(desk: Desk, name: str, content: bytes, tab: str = "") -> str:
    """Upload a file, open its page, and return the URL of the page."""
    node = desk.server.upload(desk.tenant, desk.user, name, content)
    url = f"{desk.server.url}/console/tenants/{desk.tenant}/nodes/{node['id']}"
    desk.page.goto(f"{url}/{tab}" if tab else url)
    return url


def test_a_form_of_another_zone_takes_that_of_the_browser(server: LiveServer, browser: Browser) -> None:
    """The first page of a browser is in UTC, because the server does not know its zone."""
    with desk_at(server, browser, timezone_id="Asia/Shanghai") as desk:
        desk.page.context.clear_cookies(name="timezone")
        open_page(desk, "note.txt", b"Hello", "share")
        link = desk.page.locator("form:has(#link-until)")
        expect(link.locator("bdi[data-zone]")).to_have_text("Asia/Shanghai")
        expect(link.locator("input[name=zone]")).to_have_value("Asia/Shanghai")


@pytest.mark.parametrize(("name", "width"), [("dot.png", 60), ("plan.pdf", 1000)])
def test_pictures_and_documents_are_shown(desk: Desk, name: str, width: int) -> None:
    open_page(desk, name, picture() if name.endswith("png") else pdf())
    image = desk.page.locator(".preview img")
    expect(image).to_be_visible()
    image.evaluate("image => image.decode()")
    assert image.evaluate("image => image.naturalWidth") == width


def test_a_sound_is_played(desk: Desk) -> None:
    open_page(desk, "tone.wav", sound())
    player = desk.page.locator("audio")
    desk.page.wait_for_function("document.querySelector('audio').readyState >= 1")
    assert player.evaluate("audio => audio.duration") == pytest.approx(1, abs=0.1)


def test_a_preview_runs_nothing_when_it_is_opened_alone(desk: Desk) -> None:
    url = open_page(desk, "tone.wav", sound())
    # Its faults are not noted, because the sandbox also refuses parts of the browser's own player. The
    # browser has a copy, which it only revalidates.
    page = desk.context.new_page()
    page.goto(f"{url}/preview")
    assert page.evaluate("window.origin") == "null"


def test_a_link_is_created_copied_and_opened(desk: Desk) -> None:
    page = desk.page
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page(desk, "plan.txt", b"the plan")
    page.get_by_role("link", name="Share", exact=True).click()
    page.get_by_role("button", name="Create link").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    expect(page.locator("[aria-live]", has_text="Copied")).to_be_attached()
    address = page.evaluate("navigator.clipboard.readText()")
    assert address == page.locator("#link-url").inner_text()
    page.goto(f"{desk.server.url}{address[address.index('/s/') :]}")
    expect(page.get_by_role("heading", name="plan.txt")).to_be_visible()


def test_a_person_or_group_is_found_by_typing(desk: Desk) -> None:
    page, path = desk.page, f"/api/v1/tenants/{desk.tenant}"
    for name in ("Äpfel", HOSTILE, *(f"Team {number}" for number in range(1, 12))):
        desk.server.succeed("POST", f"{path}/groups", json_body={"name": name}, by=desk.user)
    for number in range(1, 11):
        body = {"name": f"Robot {number}"}
        desk.server.succeed("POST", f"{path}/service-accounts", json_body=body, by=desk.user)
    open_page(desk, "plan.txt", b"the plan", "share")
    page.set_viewport_size({"width": 320, "height": 640})
    field = page.get_by_role("combobox", name="Person or group")
    found = page.get_by_role("listbox", name="Person or group").get_by_role("option")
    field.fill("zzz")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    field.press("Enter")
    # The form was not sent.
    expect(page.get_by_role("alert")).to_have_count(0)
    # Without its accent, then by the keys alone.
    field.fill("apfel")
    expect(found).to_have_count(1)
    field.press("Enter")
    expect(page.locator(".grant", has_text="Äpfel")).to_be_visible()
    field.fill("team 1")
    expect(found).to_have_text([re.compile(f"^T.*Team {number}Group") for number in (1, 10, 11)])
    field.press("ArrowDown")
    expect(found.nth(1)).to_have_attribute("aria-selected", "true")
    field.press("Enter")
    expect(page.locator(".grant", has_text="Team 10")).to_be_visible()
    page.get_by_text("More options").click()
    page.get_by_role("searchbox", name="Search").fill("robot 7")
    people = page.get_by_role("group", name="People")
    expect(people.get_by_role("checkbox")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.extended
def test_the_pages_are_accessible(desk: Desk) -> None:
    desk.server.succeed(
        "POST", f"/api/v1/tenants/{desk.tenant}/groups", json_body={"name": HOSTILE}, by=desk.user
    )
    url = open_page(desk, HOSTILE, b"Hello")
    inspection = Inspection(desk.page)
    for tab in ("", "/versions", "/share", "/access", "/hold", "/activity"):
        desk.page.goto(f"{url}{tab}")
        inspection.inspect(tab or "details")
    create_link(desk.page, f"{url}/share")
    inspection.inspect("link created")
    desk.page.get_by_role("link", name="Manage").click()
    inspection.inspect("link")
    desk.page.get_by_role("button", name="Actions").click()
    desk.page.get_by_role("link", name="Delete link").click()
    inspection.inspect("link deletion")
    desk.page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/shares/")
    inspection.inspect("links")
    assert inspection.faults == []


def create_link(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_text("More options").click()
    page.get_by_label("Title (optional)").fill(HOSTILE)
    page.get_by_role("button", name="Create link").click()
    expect(page.locator("#link-url")).to_be_visible()
