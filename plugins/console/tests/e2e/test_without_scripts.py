"""Files are uploaded, found, moved, deleted and downloaded in a browser without scripts."""

from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk, desk_at

from strongroom.testing.server import LiveServer

HOSTILE = '<b>bold & "quoted".txt'

pytestmark = [needs_chromium]


@pytest.fixture
def desk(server: LiveServer, browser: Browser) -> Iterator[Desk]:
    with desk_at(server, browser, java_script_enabled=False) as desk:
        yield desk


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def select(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_label(f"Select: {name}", exact=True).check()


def test_a_user_works_with_files_without_scripts(desk: Desk, tmp_path: Path) -> None:
    page, file = desk.page, tmp_path / HOSTILE
    file.write_bytes(b"Hello")
    desk.open_files()
    page.locator("summary", has_text="Upload").first.click()
    page.get_by_label("File", exact=True).set_input_files(file)
    page.locator("#upload").get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text(HOSTILE)
    page.locator("summary", has_text="New folder").click()
    page.get_by_label("Name of the folder").fill("Reports")
    press(page, "Create folder")
    select(page, HOSTILE)
    press(page, "Move")
    press(page, "Reports")
    press(page, "Move here")
    expect(page.get_by_role("status")).to_contain_text("Moved: 1.")
    page.get_by_label("Names that contain").fill("bold")
    page.get_by_label("Search in").select_option("Whole space")
    press(page, "Show")
    expect(page.locator("#nodes .hint")).to_contain_text("Reports")
    select(page, HOSTILE)
    press(page, "Delete")
    expect(page.get_by_role("status")).to_contain_text("Moved to the trash: 1.")
    press(page, "Undo")
    expect(page.get_by_role("status")).to_contain_text("Restored: 1.")
    desk.open_files()
    select(page, "Reports")
    with page.expect_download() as download:
        press(page, "Download")
    with ZipFile(download.value.path()) as archive:
        assert archive.namelist() == ["Reports/", "Reports/_b_bold & _quoted_.txt"]


@pytest.mark.parametrize("view", ["list", "grid"])
@pytest.mark.parametrize("width", [320, 1280])
def test_a_list_needs_no_scrolling_sideways(
    desk: Desk, server: LiveServer, view: str, width: int
) -> None:
    server.upload(desk.tenant, desk.user, "a" * 200 + HOSTILE, b"x")
    desk.page.set_viewport_size({"width": width, "height": 800})
    desk.open_files()
    desk.page.get_by_role("link", name=view.capitalize(), exact=True).click()
    session = desk.context.new_cdp_session(desk.page)
    assert session.send("Page.getLayoutMetrics")["cssContentSize"]["width"] <= width
