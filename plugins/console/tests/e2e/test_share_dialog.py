"""The dialog of sharing in Chromium: over the list, by keyboard, for screen readers, and as a page."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk, desk_at

from strongroom.testing.server import LiveServer, live_server

MEMBERS = 332
HOSTILE = '<img src=x onerror="alert(1)">'

pytestmark = [needs_chromium]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    plugins = ["login_pages", "share_links", "console"]
    with live_server(tmp_path_factory.mktemp("console"), plugins=plugins) as server:
        yield server


@pytest.fixture
def desk(server: LiveServer, browser: Browser) -> Iterator[Desk]:
    with desk_at(server, browser) as desk:
        desk.page.set_default_timeout(8000)
        desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
        desk.server.upload(desk.tenant, desk.user, "plan.txt", b"the plan")
        yield desk


def add_members(desk: Desk, *names: str) -> None:
    for name in names:
        path = f"/api/v1/tenants/{desk.tenant}/service-accounts"
        desk.server.succeed("POST", path, json_body={"name": name}, by=desk.user)


def open_dialog(desk: Desk) -> Locator:
    desk.open_files()
    desk.page.get_by_role("link", name="Share: plan.txt").click()
    dialog = desk.page.get_by_role("dialog", name="Share “\u2068plan.txt\u2069”")
    expect(dialog).to_be_visible()
    return dialog


def field(root: Page | Locator) -> Locator:
    return root.get_by_role("combobox", name="Person or group")


def found(root: Page | Locator) -> Locator:
    return root.get_by_role("listbox", name="Person or group").get_by_role("option")


def row(root: Page | Locator, name: str) -> Locator:
    return root.locator(".grant", has_text=name)


def test_one_of_332_members_has_access_after_three_presses_and_a_name(desk: Desk) -> None:
    add_members(desk, *(f"Colleague {number}" for number in range(1, MEMBERS)))
    desk.open_files()
    desk.page.get_by_role("link", name="plan.txt", exact=True).focus()
    presses = 0
    for key in ("Tab", "Enter"):
        desk.page.keyboard.press(key)
        presses += 1
    expect(field(desk.page)).to_be_focused()
    desk.page.keyboard.type("league 217")
    expect(desk.page.get_by_role("option", name="Colleague 217")).to_be_visible()
    desk.page.keyboard.press("Enter")
    presses += 1
    expect(row(desk.page, "Colleague 217")).to_contain_text("Can view")
    expect(field(desk.page)).to_be_focused()
    assert presses <= 4


def test_the_keyboard_does_everything(desk: Desk) -> None:
    add_members(desk, "Zhang Yan", "Zhang Wei")
    dialog = open_dialog(desk)
    field(dialog).press_sequentially("zhang")
    options = found(dialog)
    expect(options).to_have_count(2)
    active = field(dialog).get_attribute("aria-activedescendant")
    assert active == options.first.get_attribute("id")
    field(dialog).press("ArrowDown")
    assert field(dialog).get_attribute("aria-activedescendant") != active
    # Escape closes the list first, and then the dialog.
    field(dialog).press("Escape")
    expect(field(dialog)).to_have_attribute("aria-expanded", "false")
    expect(dialog).to_be_visible()
    field(dialog).press("Escape")
    expect(dialog).to_be_hidden()
    expect(desk.page.get_by_role("link", name="Share: plan.txt")).to_be_focused()


def test_leaving_the_field_shares_nothing(desk: Desk) -> None:
    add_members(desk, "Zhang Yan")
    dialog = open_dialog(desk)
    field(dialog).press_sequentially("Zhang Yan, Member")
    field(dialog).press("Tab")
    expect(field(dialog)).to_have_value("Zhang Yan, Member")
    expect(row(dialog, "Zhang Yan")).to_have_count(0)


def test_a_role_is_changed_and_a_removal_undone(desk: Desk) -> None:
    add_members(desk, HOSTILE)
    dialog = open_dialog(desk)
    field(dialog).press_sequentially("img")
    field(dialog).press("Enter")
    entry = row(dialog, HOSTILE)
    entry.get_by_role("button", name="Can view").click()
    entry.get_by_role("button", name="Can edit").click()
    expect(entry.get_by_role("button", name="Can edit")).to_be_visible()
    entry.get_by_role("button", name="Can edit").click()
    entry.get_by_role("button", name="Remove the access").click()
    expect(entry).to_have_count(0)
    dialog.get_by_role("button", name="Undo").click()
    expect(entry.get_by_role("button", name="Can edit")).to_be_visible()
    assert desk.page.locator("img[src=x]").count() == 0


def test_an_unknown_address_is_invited(desk: Desk) -> None:
    dialog = open_dialog(desk)
    field(dialog).press_sequentially("new@example.com")
    expect(found(dialog)).to_have_count(1)
    expect(found(dialog)).to_contain_text("Invite new@example.com")
    field(dialog).press("Enter")
    expect(dialog.get_by_role("status")).to_contain_text("new@example.com\u2069 was invited")
    path = f"/api/v1/tenants/{desk.tenant}/invitations"
    invitations = desk.server.succeed("GET", path, by=desk.user)["data"]
    assert [item["email"] for item in invitations] == ["new@example.com"]


def test_a_link_is_made_copied_and_limited(desk: Desk) -> None:
    dialog = open_dialog(desk)
    dialog.get_by_role("button", name="Create link").click()
    expect(desk.page.locator("#link-url")).to_be_visible()
    desk.page.get_by_role("link", name="Back to sharing").click()
    dialog.get_by_role("button", name="Copy link").click()
    expect(desk.page.locator("[aria-live=polite]", has_text="Copied")).to_be_attached()
    assert "/s/" in desk.page.evaluate("navigator.clipboard.readText()")
    dialog.get_by_role("button", name="QR code of the link").click()
    expect(dialog.get_by_role("img", name="QR code of the link")).to_be_visible()
    desk.page.keyboard.press("Escape")
    dialog.get_by_role("button", name="Download limit").click()
    menu = dialog.locator(".popup:popover-open")
    menu.get_by_label("Number of downloads").fill("5")
    menu.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("button", name="at most 5 downloads")).to_be_visible()
    expect(dialog.get_by_role("status")).to_contain_text("The link was changed.")


def test_a_refused_link_stays_in_the_dialog_with_its_input(desk: Desk) -> None:
    dialog = open_dialog(desk)
    dialog.get_by_text("More options").click()
    dialog.get_by_label("Until (optional)").first.fill("2020-01-01")
    dialog.get_by_label("Password (optional)").fill("Correct1Horse")
    dialog.get_by_label("Title (optional)").fill("For the board")
    dialog.get_by_role("button", name="Create link").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    assert desk.page.url.endswith("/files/")
    until = dialog.get_by_label("Until (optional)").first
    expect(until).to_have_attribute("aria-invalid", "true")
    expect(until).to_be_focused()
    expect(until).to_have_value("2020-01-01")
    expect(dialog.get_by_label("Password (optional)")).to_have_value("Correct1Horse")
    expect(dialog.get_by_label("Title (optional)")).to_have_value("For the board")
    until.fill("")
    dialog.get_by_role("button", name="Create link").click()
    expect(desk.page.locator("dialog #link-url")).to_be_visible()


def test_a_dialog_that_is_closed_asks_for_no_strength_of_its_password(desk: Desk) -> None:
    dialog = open_dialog(desk)
    dialog.get_by_text("More options").click()
    requests: list[str] = []
    desk.page.on("request", lambda request: requests.append(request.method))
    desk.page.clock.install()
    dialog.get_by_label("Password (optional)").fill("Correct1Horse")
    desk.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    desk.page.clock.run_for(1000)
    assert "POST" not in requests


def test_a_member_beyond_the_offered_ones_is_found_by_the_server(desk: Desk) -> None:
    add_members(desk, "Zhang Yan", "Zhang Wei")
    # The page of a space with more members than it offers has only the first ones, and a path.
    script = """() => {
      const select = document.querySelector("dialog.sharing select[name=who]");
      for (const option of [...select.options].slice(2)) option.remove();
      select.dataset.source = select.form.getAttribute("action").replace("/grants", "");
    }"""
    dialog = open_dialog(desk)
    desk.page.evaluate(script)
    field(dialog).press_sequentially("zhang w")
    expect(found(dialog)).to_have_count(1)
    expect(found(dialog)).to_contain_text("Zhang Wei")
    field(dialog).press("Enter")
    expect(row(dialog, "Zhang Wei")).to_contain_text("Can view")


def test_a_phone_shows_short_titles_and_sheets_and_raises_no_keyboard(
    server: LiveServer, browser: Browser
) -> None:
    size = {"width": 360, "height": 740}
    with desk_at(server, browser, viewport=size, has_touch=True) as desk:
        desk.server.upload(desk.tenant, desk.user, f"{'x' * 251}.txt", b"x")
        desk.open_files()
        desk.page.evaluate(
            "url => document.dispatchEvent(new CustomEvent('strongroom:share', {detail: url}))",
            desk.page.locator("#nodes a[href$='/share']").first.get_attribute("href"),
        )
        heading = desk.page.locator("dialog.sharing h2")
        expect(heading).to_be_focused()
        box = heading.bounding_box()
        assert box is not None
        assert box["height"] < 60
        desk.page.get_by_role("button", name="Can manage").click()
        sheet = desk.page.locator("dialog.sharing .popup:popover-open").bounding_box()
        assert sheet is not None
        assert sheet["width"] == 360


@pytest.mark.parametrize("width", [320, 360, 1280])
@pytest.mark.parametrize("is_touch", [False, True])
def test_the_dialog_fits(server: LiveServer, browser: Browser, width: int, is_touch: bool) -> None:
    size = {"width": width, "height": 740}
    with desk_at(server, browser, viewport=size, has_touch=is_touch) as desk:
        node = desk.server.upload(desk.tenant, desk.user, f"{HOSTILE}{'long' * 30}.txt", b"x")
        path = f"/api/v1/tenants/{desk.tenant}/files/{node['id']}/shares"
        label = {"kind": "read", "label": "Wide" * 40}
        desk.server.succeed("POST", path, json_body=label, by=desk.user)
        add_members(desk, "W" * 60)
        desk.open_files()
        desk.page.evaluate(
            "url => document.dispatchEvent(new CustomEvent('strongroom:share', {detail: url}))",
            f"{desk.server.url}/console/tenants/{desk.tenant}/nodes/{node['id']}/share",
        )
        dialog = desk.page.locator("dialog.sharing")
        field(dialog).fill("www")
        field(dialog).press("Enter")
        expect(row(dialog, "WWW")).to_be_visible()
        assert dialog.evaluate(
            "item => item.querySelector('.sharing-body').scrollWidth <= item.clientWidth"
        )
        assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        ids = desk.page.evaluate("[...document.querySelectorAll('[id]')].map(item => item.id)")
        assert sorted({name for name in ids if ids.count(name) > 1}) == []


def test_the_page_works_without_scripts(server: LiveServer, browser: Browser) -> None:
    with desk_at(server, browser, java_script_enabled=False) as desk:
        add_members(desk, "Zhang Yan")
        node = desk.server.upload(desk.tenant, desk.user, "plan.txt", b"the plan")
        page = desk.page
        page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/nodes/{node['id']}/share")
        page.get_by_label("Person or group").select_option("Zhang Yan, Member")
        page.get_by_role("button", name="Share", exact=True).click()
        expect(row(page, "Zhang Yan")).to_contain_text("Can view")
        row(page, "Zhang Yan").get_by_role("button", name="Can view").click()
        row(page, "Zhang Yan").get_by_role("button", name="Can manage").click()
        expect(row(page, "Zhang Yan").get_by_role("button", name="Can manage")).to_be_visible()
        page.get_by_role("button", name="Create link").click()
        expect(page.get_by_role("img", name=re.compile("QR code"))).to_be_visible()
