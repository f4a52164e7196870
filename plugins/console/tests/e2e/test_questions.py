"""Pages that ask before a change, which open as dialogs in Chromium."""

import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk

pytestmark = [needs_chromium]


def open_question(desk: Desk) -> Locator:
    desk.page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/settings/")
    desk.page.get_by_role("link", name="Delete space").click()
    dialog = desk.page.locator("dialog.question:modal")
    expect(dialog).to_be_visible()
    return dialog


def test_a_question_opens_over_the_page_and_can_be_cancelled(desk: Desk) -> None:
    dialog = open_question(desk)
    expect(dialog.locator("input[name=name]")).to_be_focused()
    assert [fault["id"] for fault in Axe().run(desk.page).response["violations"]] == []
    dialog.get_by_role("link", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert desk.page.url.endswith("/settings/")


def test_the_escape_key_closes_a_question_which_opens_again(desk: Desk) -> None:
    dialog = open_question(desk)
    desk.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(desk.page.get_by_role("link", name="Delete space")).to_be_focused()
    open_question(desk)


def test_the_keyboard_opens_a_question_and_stays_in_it(desk: Desk) -> None:
    desk.page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/settings/")
    desk.page.get_by_role("link", name="Delete space").press("Enter")
    dialog = desk.page.get_by_role("dialog", name="Delete")
    expect(dialog.locator("input[name=name]")).to_be_focused()
    for name in ("Cancel", "Delete space"):
        desk.page.keyboard.press("Tab")
        expect(
            dialog.get_by_role("link", name=name).or_(dialog.get_by_role("button", name=name))
        ).to_be_focused()
    desk.page.keyboard.press("Tab")
    assert not desk.page.evaluate("!!document.activeElement.closest('main')")


def test_a_modified_press_opens_the_page_of_the_question_elsewhere(desk: Desk) -> None:
    desk.page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/settings/")
    with desk.context.expect_page() as opened:
        desk.page.get_by_role("link", name="Delete space").click(modifiers=["ControlOrMeta"])
    expect(opened.value.locator(".sheet.question input[name=name]")).to_be_visible()
    expect(desk.page.locator("dialog.question")).to_have_count(0)


def test_without_scripts_a_question_is_a_page(desk: Desk, browser: Browser) -> None:
    state = desk.context.storage_state()
    context = browser.new_context(java_script_enabled=False, storage_state=state)
    page = context.new_page()
    page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/settings/")
    page.get_by_role("link", name="Delete space").click()
    page.get_by_role("link", name="Cancel").click()
    expect(page).to_have_url(re.compile("/settings/$"))
    page.get_by_role("link", name="Delete space").click()
    page.locator(".sheet.question input[name=name]").fill("Acme")
    page.get_by_role("button", name="Delete space").click()
    expect(page).not_to_have_url(re.compile(desk.tenant))
    context.close()


def test_a_question_with_a_fault_is_the_page_with_the_fault(desk: Desk) -> None:
    dialog = open_question(desk)
    dialog.locator("input[name=name]").fill("Another name")
    dialog.get_by_role("button", name="Delete space").click()
    expect(desk.page.locator(".sheet.question [role=alert]")).to_be_visible()


def test_the_answer_in_the_dialog_changes_the_server(desk: Desk) -> None:
    dialog = open_question(desk)
    dialog.locator("input[name=name]").fill("Acme")
    dialog.get_by_role("button", name="Delete space").click()
    desk.page.wait_for_url(lambda url: desk.tenant not in url)


def test_a_question_is_its_page_if_a_script_cannot_be_loaded(desk: Desk) -> None:
    desk.page.route("**/questions.js", lambda route: route.abort())
    desk.page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/settings/")
    desk.page.get_by_role("link", name="Delete space").click()
    expect(desk.page.locator(".sheet.question")).to_be_visible()


def test_the_search_is_its_page_if_a_script_cannot_be_loaded(desk: Desk) -> None:
    desk.page.route("**/palette.js", lambda route: route.abort())
    desk.page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/settings/")
    desk.page.keyboard.press("Control+k")
    desk.page.wait_for_url("**/console/find?*")
