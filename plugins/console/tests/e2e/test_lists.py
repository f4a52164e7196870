"""Lists of files in Chromium: by keyboard alone, with thousands of rows, and details in a drawer."""

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, CDPSession, Page, expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk, desk_at

from strongroom.testing.server import LiveServer

ROWS = int(os.environ.get("STRONGROOM_TEST_CONSOLE_ROWS", "1001"))
HOSTILE = 'hostile <img src=x onerror="alert(1)">.txt'

pytestmark = [needs_chromium]


@pytest.fixture(scope="module")
def shared_desk(server: LiveServer, browser: Browser) -> Iterator[Desk]:
    with desk_at(server, browser) as desk:
        for name in ("Alpha", "Beta"):
            server.folder_in(desk.tenant, desk.user, name)
        for name in (HOSTILE, "note.txt"):
            server.upload(desk.tenant, desk.user, name, b"Hello")
        yield desk


@pytest.fixture
def page(shared_desk: Desk) -> Page:
    shared_desk.open_files()
    expect(shared_desk.page.locator("#choose-all")).to_be_visible()
    return shared_desk.page


def focused_name(page: Page) -> str | None:
    """Return the name in the row with the focus."""
    name: str | None = page.evaluate("document.activeElement.closest('tr')?.dataset.name ?? null")
    return name


def chosen(page: Page) -> list[str]:
    names: list[str] = page.evaluate(
        "[...document.querySelectorAll('#nodes tbody tr:has(:checked)')].map((row) => row.dataset.name)"
    )
    return names


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_arrows_move_between_rows_and_enter_opens(page: Page) -> None:
    press(page, "ArrowDown")
    assert focused_name(page) == "Alpha"
    press(page, "ArrowDown", "ArrowDown", "ArrowUp")
    assert focused_name(page) == "Beta"
    press(page, "End")
    assert focused_name(page) == "note.txt"
    press(page, "Home", "Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Alpha")


def test_rows_are_selected_by_keyboard(page: Page) -> None:
    press(page, "ArrowDown", "Space")
    assert chosen(page) == ["Alpha"]
    press(page, "Shift+ArrowDown", "Shift+ArrowDown")
    assert chosen(page) == ["Alpha", "Beta", HOSTILE]
    press(page, "Escape")
    assert chosen(page) == []
    press(page, "Control+a")
    assert len(chosen(page)) == 4
    expect(page.locator("#choose-all")).to_be_checked()


def test_rows_are_selected_by_pointer(page: Page) -> None:
    boxes = page.locator("#nodes tbody input")
    boxes.nth(0).click()
    boxes.nth(2).click(modifiers=["Shift"])
    assert chosen(page) == ["Alpha", "Beta", HOSTILE]
    assert page.locator("#choose-all").evaluate("(box) => box.indeterminate")
    page.locator("#choose-all").click()
    assert len(chosen(page)) == 4


def test_the_box_that_selects_all_tiles_is_seen_without_a_pointer(desk: Desk) -> None:
    desk.server.upload(desk.tenant, desk.user, "plan.txt", b"plan")
    desk.page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/files/?view=grid")
    cell = desk.page.locator("#nodes thead .choice")
    expect(cell.locator("#choose-all")).to_be_visible()
    expect(cell).to_have_css("opacity", "1")


def test_the_actions_appear_with_a_selection(page: Page) -> None:
    actions = page.locator("#actions")
    expect(actions).to_be_hidden()
    page.locator("#nodes tbody input").nth(1).check()
    expect(actions).to_be_visible()
    expect(actions.locator("output")).to_have_text("1 selected")


def test_a_row_is_renamed_and_deleted_by_keyboard(desk: Desk) -> None:
    desk.server.upload(desk.tenant, desk.user, "note.txt", b"Hello")
    desk.open_files()
    page = desk.page
    press(page, "ArrowDown", "F2")
    name = page.get_by_label("Name", exact=True)
    expect(name).to_be_focused()
    # The ending of the name is not selected.
    page.keyboard.type("<b>plan")
    press(page, "Enter")
    expect(page.locator("#nodes tbody .name a")).to_have_text("<b>plan.txt")
    expect(page.locator("#nodes tbody .name a")).to_be_focused()
    press(page, "F2", "Escape")
    expect(page.locator("#nodes tbody .name a")).to_be_focused()
    press(page, "Delete")
    expect(page.get_by_role("status").first).to_be_visible()
    assert desk.names() == []


def test_a_name_that_is_refused_shows_the_reason(desk: Desk) -> None:
    for name in ("a.txt", "b.txt"):
        desk.server.upload(desk.tenant, desk.user, name, b"Hello")
    desk.open_files()
    press(desk.page, "ArrowDown", "F2")
    desk.page.get_by_label("Name", exact=True).fill("b.txt")
    press(desk.page, "Enter")
    expect(desk.page.get_by_role("alert")).to_be_visible()
    assert desk.names() == ["a.txt", "b.txt"]


def test_rows_are_dragged_onto_a_folder(desk: Desk) -> None:
    folder = desk.server.folder_in(desk.tenant, desk.user, "Archive")["id"]
    for name in ("a.txt", "b.txt", "c.txt"):
        desk.server.upload(desk.tenant, desk.user, name, b"Hello")
    desk.open_files()
    rows = desk.page.locator("#nodes tbody tr")
    for number in (1, 2):
        rows.nth(number).locator("input").check()
    rows.nth(1).locator("td").nth(2).drag_to(rows.nth(0))
    expect(rows).to_have_count(2)
    assert (desk.names(), desk.names(folder)) == (["Archive", "c.txt"], ["a.txt", "b.txt"])


def test_a_row_has_a_menu(desk: Desk) -> None:
    for name in ("a.txt", "b.txt"):
        desk.server.upload(desk.tenant, desk.user, name, b"Hello")
    desk.open_files()
    page, menu = desk.page, desk.page.locator("#row-menu")
    row = page.locator("#nodes tbody tr").first
    row.click(button="right")
    expect(menu).to_be_visible()
    assert Axe().run(page).response["violations"] == []
    press(page, "Escape")
    expect(menu).to_be_hidden()
    row.locator(".name a").focus()
    press(page, "Shift+F10")
    expect(menu.get_by_role("button", name="Details")).to_be_focused()
    press(page, "Escape")
    row.hover()
    row.get_by_label("More actions: a.txt").click()
    menu.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status").first).to_be_visible()
    assert desk.names() == ["b.txt"]


def test_a_long_press_opens_the_menu(server: LiveServer, browser: Browser) -> None:
    with desk_at(server, browser, has_touch=True, viewport={"width": 360, "height": 740}) as desk:
        server.upload(desk.tenant, desk.user, "a.txt", b"Hello")
        desk.open_files()
        place = desk.page.locator("#nodes tbody .name").bounding_box()
        assert place is not None
        point = {"x": place["x"] + 60, "y": place["y"] + 12}
        session = desk.context.new_cdp_session(desk.page)
        session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        expect(desk.page.locator("#row-menu")).to_be_visible()
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        expect(desk.page.locator("#row-menu")).to_be_visible()
        desk.page.locator("#row-menu").get_by_role("button", name="Rename").tap()
        expect(desk.page.get_by_label("Name", exact=True)).to_be_focused()


def test_a_move_is_undone(desk: Desk) -> None:
    folder = desk.server.folder_in(desk.tenant, desk.user, "Archive")["id"]
    desk.server.upload(desk.tenant, desk.user, "a.txt", b"Hello")
    desk.open_files()
    rows = desk.page.locator("#nodes tbody tr")
    rows.nth(1).locator("td").nth(2).drag_to(rows.nth(0))
    expect(rows).to_have_count(1)
    assert desk.names(folder) == ["a.txt"]
    desk.page.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(2)
    assert desk.names(folder) == []


def test_the_panel_keeps_the_list(desk: Desk) -> None:
    for name in ("a.txt", "b.txt"):
        desk.server.upload(desk.tenant, desk.user, name, b"Hello")
    desk.page.set_viewport_size({"width": 1280, "height": 800})
    desk.open_files()
    page, heading = desk.page, desk.page.locator("#drawer h1")
    page.locator("#nodes .name a").first.click()
    expect(heading).to_have_text("a.txt")
    press(page, "ArrowDown")
    expect(heading).to_have_text("b.txt")
    press(page, "ArrowUp")
    expect(heading).to_have_text("a.txt")
    page.locator("#drawer .tabs").get_by_role("link", name="Access").click()
    expect(page.locator("#drawer .tabs [aria-current]")).to_have_text("Access")
    page.locator("#nodes .name a").nth(1).click()
    expect(heading).to_have_text("b.txt")
    page.locator("#drawer").get_by_label("Close", exact=True).click()
    expect(page.locator("#drawer")).to_be_hidden()


def test_a_file_is_pasted(desk: Desk) -> None:
    desk.open_files()
    desk.page.evaluate(
        "(() => { const clipboardData = new DataTransfer();"
        " clipboardData.items.add(new File(['Hello'], 'pasted.txt'));"
        " document.body.dispatchEvent(new ClipboardEvent('paste', {clipboardData, bubbles: true})) })()"
    )
    expect(desk.page.locator("#nodes .name a")).to_have_text("pasted.txt")


def test_the_list_shows_the_changes_of_others(desk: Desk) -> None:
    with desk.page.expect_response(re.compile("/news$")):
        desk.open_files()
    desk.server.upload(desk.tenant, desk.user, "later.txt", b"Hello")
    expect(desk.page.locator("#nodes .name a")).to_have_text("later.txt", timeout=30_000)


def test_the_keys_are_shown(page: Page) -> None:
    press(page, "?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_be_visible()
    press(page, "Escape")
    expect(dialog).to_be_hidden()


def test_details_open_in_a_drawer_and_the_focus_returns(page: Page) -> None:
    press(page, "ArrowDown", "End", "ArrowUp")
    assert focused_name(page) == HOSTILE
    press(page, "Enter")
    drawer = page.locator("#drawer")
    expect(drawer.get_by_role("heading", level=1)).to_have_text(HOSTILE)
    assert drawer.get_by_role("heading", level=1).evaluate("(h1) => h1 === document.activeElement")
    assert page.evaluate(
        "(() => { const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);"
        " return ids.length === new Set(ids).size })()"
    )
    press(page, "Escape")
    expect(drawer).to_be_hidden()
    assert focused_name(page) == HOSTILE


def test_what_scripts_show_is_accessible(page: Page) -> None:
    page.locator("#nodes tbody input").nth(1).check()
    violations = Axe().run(page).response["violations"]
    press(page, "?")
    violations += Axe().run(page).response["violations"]
    press(page, "Escape")
    page.locator("#nodes .name a", has_text="note.txt").click()
    expect(page.locator("#drawer").get_by_role("heading", level=1)).to_have_text("note.txt")
    violations += Axe().run(page).response["violations"]
    assert violations == []


def test_times_are_those_of_the_zone(server: LiveServer, browser: Browser) -> None:
    with desk_at(server, browser, timezone_id="Pacific/Kiritimati") as desk:
        server.folder_in(desk.tenant, desk.user, "Alpha")
        desk.open_files()
        time = desk.page.locator("#nodes time")
        expect(time).to_have_text("just now")
        moment = time.get_attribute("datetime")
        # 14 hours ahead of UTC.
        script = "(moment) => String(new Date(Date.parse(moment) + 14 * 3600000).getUTCDate())"
        day = desk.page.evaluate(script, moment)
        expect(time).to_have_attribute("title", re.compile(rf"\b{day}\b.*GMT\+14"))
        # The server renders the first page in UTC.
        desk.page.context.clear_cookies(name="timezone")
        desk.page.reload()
        expect(time).to_have_text("just now")


def test_further_rows_are_added_on_scroll_and_by_the_keyboard(
    server: LiveServer, browser: Browser
) -> None:
    with desk_at(server, browser) as desk:
        with ThreadPoolExecutor(4) as pool:
            names = [f"Folder {number:05}" for number in range(ROWS)]
            list(pool.map(lambda name: server.folder_in(desk.tenant, desk.user, name), names))
        desk.open_files()
        page = desk.page
        rows = page.locator("#nodes tr[data-id]")
        expect(page.get_by_role("button", name="Show more")).to_be_visible()
        assert rows.count() < ROWS
        while (shown := rows.count()) < ROWS:
            page.mouse.wheel(0, 100_000)
            page.wait_for_function(
                "(shown) => document.querySelectorAll('#nodes tr[data-id]').length > shown", arg=shown
            )
        expect(page.get_by_role("button", name="Show more")).to_have_count(0)
        shown_names = page.evaluate(
            "[...document.querySelectorAll('#nodes tr[data-id]')].map((row) => row.dataset.name)"
        )
        assert shown_names == names
        # Rows that are far away take no part in the layout, but can be reached, chosen and sent.
        expect(page.locator("#nodes tbody.folded").first).to_be_attached()
        page.locator("#nodes tbody .name a").last.focus()
        press(page, "Home")
        assert focused_name(page) == names[0]
        press(page, "Control+a")
        assert len(chosen(page)) == ROWS
        press(page, "End")
        assert focused_name(page) == names[-1]


def test_a_change_with_a_question_waits_for_the_answer(desk: Desk) -> None:
    page = desk.page
    page.goto(f"{desk.server.url}/console/find")
    page.get_by_label("Space, file, user or page").fill("acme")
    question = "Search <b>now</b>?"
    button = page.locator("main").get_by_role("button", name="Search")
    button.evaluate("(button, question) => { button.dataset.confirm = question }", question)
    button.click()
    dialog = page.get_by_role("dialog", name=question)
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    press(page, "Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    button.click()
    dialog.get_by_role("button", name="Search").click()
    page.wait_for_url("**/find?q=acme")


LONGEST = 0.1
"""Seconds of the processor between a key or a click and the next picture."""


def processor_time(session: CDPSession) -> float:
    """Return the processor time of the page's thread."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(item["value"] for item in metrics if item["name"] == "TaskDuration"))


@pytest.mark.extended
def test_a_long_list_reacts_within_100_milliseconds(server: LiveServer, browser: Browser) -> None:
    with desk_at(server, browser) as desk:
        with ThreadPoolExecutor(4) as pool:
            list(
                pool.map(lambda n: server.folder_in(desk.tenant, desk.user, f"Folder {n}"), range(ROWS))
            )
        desk.open_files()
        page = desk.page
        rows = page.locator("#nodes tr[data-id]")
        while (shown := rows.count()) < ROWS:
            page.mouse.wheel(0, 100_000)
            page.wait_for_function(
                "(shown) => document.querySelectorAll('#nodes tr[data-id]').length > shown", arg=shown
            )
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        press(page, "Home")
        page.wait_for_timeout(1000)
        times = {}
        for key in ("ArrowDown", "Space", "Control+a", "Escape"):
            before = processor_time(session)
            press(page, key)
            page.wait_for_timeout(500)
            times[key] = processor_time(session) - before
        print(f"{ROWS} rows: {times}")  # noqa: T201  the measurement
        assert max(times.values()) <= LONGEST
