"""The pages of a tenant in Chromium: on a phone, and secrets that are copied."""

import re

from playwright.sync_api import expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk

SECTIONS = (
    "members/",
    "groups/",
    "usage/",
    "invitations/",
    "service-accounts/",
    "retention/",
    "activity/",
    "settings/",
    "settings/deletion",
    "leave",
)
LONG = "averyveryverylongname" * 10

pytestmark = [needs_chromium]


def test_no_page_scrolls_sideways_on_a_phone(desk: Desk) -> None:
    path = f"/api/v1/tenants/{desk.tenant}"
    desk.server.succeed("PATCH", path, json_body={"name": LONG}, by=desk.user)
    for kind in ("groups", "folders", "service-accounts"):
        desk.server.succeed("POST", f"{path}/{kind}", json_body={"name": LONG}, by=desk.user)
    desk.server.succeed(
        "POST", f"{path}/invitations", json_body={"email": f"{'x' * 60}@example.com"}, by=desk.user
    )
    desk.page.set_viewport_size({"width": 320, "height": 640})
    for section in SECTIONS:
        for language in ("zh", "en"):
            desk.page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/{section}?lang={language}")
            width = desk.page.evaluate("document.documentElement.scrollWidth")
            assert width <= 320, (section, language)


def test_a_new_key_is_copied(desk: Desk) -> None:
    page = desk.page
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/service-accounts/")
    page.get_by_label("Name").fill("Backup")
    page.get_by_role("button", name="Create service account").click()
    page.get_by_role("button", name="New key").click()
    page.get_by_label("Name").fill("Nightly")
    page.get_by_label("Read files").check()
    page.get_by_role("button", name="Create key").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("[aria-live]", has_text="Copied")).to_be_attached()
    key = page.locator("#secret").inner_text()
    assert page.evaluate("navigator.clipboard.readText()") == key
    assert re.fullmatch(r"\S{20,}", key)


def test_a_window_is_cancelled_and_opens_again_with_its_faults(desk: Desk) -> None:
    page = desk.page
    page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/groups/")
    page.get_by_role("button", name="New group").first.click()
    window = page.get_by_role("dialog", name="New group")
    window.get_by_label("Name of the group").fill(" ")
    window.get_by_role("button", name="Create group").click()
    expect(window.locator(".fault")).to_be_visible()
    expect(window.get_by_label("Name of the group")).to_be_focused()
    window.get_by_role("button", name="Cancel").click()
    expect(window).to_be_hidden()


def test_an_address_that_is_typed_is_invited_with_a_role(desk: Desk) -> None:
    page = desk.page
    page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/members/")
    page.get_by_role("button", name="Invite people").click()
    window = page.get_by_role("dialog", name="Invite people")
    window.get_by_role("combobox", name="E-mail address").press_sequentially("dora@partner.example")
    window.get_by_role("option", name="Invite dora@partner.example").click()
    window.locator("select[name=role]").select_option("records")
    window.get_by_role("button", name="Invite", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("dora@partner.example")
