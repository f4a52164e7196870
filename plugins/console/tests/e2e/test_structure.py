"""What a screen reader says of a list of files, a dialog and a combobox."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, live_server

EMAIL = "root@example.com"
LIST = """
- table "Files":
  - rowgroup:
    - row:
      - columnheader "Select all":
        - checkbox "Select all"
      - columnheader "Name":
        - link "Name"
      - columnheader "Size":
        - link "Size"
      - columnheader "Changed":
        - link "Changed"
      - columnheader "Actions"
  - rowgroup:
    - row:
      - 'cell "Select: Reports"':
        - 'checkbox "Select: Reports"'
      - cell "Reports":
        - link "Reports"
      - cell
      - cell /.+/:
        - time
      - cell:
        - 'link "Share: Reports"'
        - 'link "More actions: Reports"'
    - row:
      - 'cell "Select: note.txt"':
        - 'checkbox "Select: note.txt" [checked]'
      - cell "note.txt":
        - link "note.txt"
      - cell "5 B"
      - cell /.+/:
        - time
      - cell:
        - 'link "Share: note.txt"'
        - 'link "Download: note.txt"'
        - 'link "More actions: note.txt"'
"""
DETAILS = """
- dialog "Details":
  - button "Previous"
  - button "Next" [disabled]
  - link "Open as a page"
  - button "Close"
  - article:
    - heading "note.txt" [level=1]
    - navigation "note.txt":
      - list:
        - listitem:
          - link "Details"
"""
DIALOG = """
- dialog "Share “Offer Müller & Söhne.pdf”":
  - heading "Share “Offer Müller & Söhne.pdf”" [level=2]
  - paragraph: People see the file in “Shared with me”.
  - button "Close"
  - text: Person
  - combobox "Person"
  - text: Send an e-mail
  - switch "Send an e-mail" [checked]
  - button "Cancel"
  - button "Share"
"""
OPTIONS = """
- combobox "Person" [expanded]: yan
- listbox "Person":
  - option "张燕 yan.zhang@acme.example" [selected]
"""
SHARING = """
- dialog "Share “\u2068note.txt\u2069”":
  - heading "Share “\u2068note.txt\u2069”" [level=2]
  - button "Close"
  - region "Links":
    - combobox "What visitors may do":
      - option "View and download" [selected]
    - button "Create link"
    - group: More options
  - heading "People and groups" [level=3]
  - combobox "Person or group" [expanded]: zhang
  - listbox "Person or group":
    - option "Zhang & Partner Group" [selected]
    - option "Zhang Yan Member"
  - combobox "Access":
    - option "Can view" [selected]
  - region "People with access":
    - button /Can manage/
"""
PEOPLE = """
- region "People with access":
  - text: /You/
  - button /Can manage/
  - text: Zhang & Partner Group
  - 'button "Can view: Zhang & Partner"'
"""

pytestmark = [needs_chromium]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    plugins = ["login_pages", "share_links", "console"]
    with live_server(tmp_path_factory.mktemp("console"), plugins=plugins) as server:
        yield server


def test_a_list_is_a_table_with_names_of_its_rows(desk: Desk) -> None:
    desk.server.folder_in(desk.tenant, desk.user, "Reports")
    desk.server.upload(desk.tenant, desk.user, "note.txt", b"Hello")
    desk.open_files()
    desk.page.get_by_role("checkbox", name="Select: note.txt").check()
    expect(desk.page.locator("main")).to_match_aria_snapshot(LIST)


def test_a_panel_is_a_dialog_with_a_name(desk: Desk) -> None:
    desk.server.folder_in(desk.tenant, desk.user, "Reports")
    desk.server.upload(desk.tenant, desk.user, "note.txt", b"Hello")
    desk.open_files()
    desk.page.locator("#nodes").get_by_role("link", name="note.txt", exact=True).click()
    expect(desk.page.locator("body")).to_match_aria_snapshot(DETAILS)


@pytest.fixture(scope="module")
def administrator(server: LiveServer) -> LiveUser:
    arguments = ("--email", EMAIL, "--name", "Root", "--password-stdin", "--admin")
    server.command("users", "create", *arguments, stdin=PASSWORD)
    return LiveUser("", EMAIL, "")


def test_a_combobox_names_its_options_and_the_active_one(
    server: LiveServer, browser: Browser, administrator: LiveUser
) -> None:
    context = browser.new_context(locale="en-US")
    desk = Desk(server, administrator, "", context.new_page())
    desk.log_in()
    desk.page.goto(f"{server.url}/console/design")
    desk.page.get_by_role("button", name="Open the dialog").click()
    dialog = desk.page.get_by_role("dialog")
    expect(desk.page.locator("body")).to_match_aria_snapshot(DIALOG)
    dialog.get_by_role("combobox").press_sequentially("yan")
    dialog.get_by_role("combobox").press("ArrowDown")
    expect(dialog).to_match_aria_snapshot(OPTIONS)
    context.close()


def test_the_dialog_of_sharing_has_no_banner_and_names_its_regions(desk: Desk) -> None:
    desk.server.upload(desk.tenant, desk.user, "note.txt", b"Hello")
    path = f"/api/v1/tenants/{desk.tenant}"
    account, group = {"name": "Zhang Yan"}, {"name": "Zhang & Partner"}
    desk.server.succeed("POST", f"{path}/service-accounts", json_body=account, by=desk.user)
    desk.server.succeed("POST", f"{path}/groups", json_body=group, by=desk.user)
    desk.open_files()
    desk.page.get_by_role("link", name="Share: note.txt").click()
    dialog = desk.page.get_by_role("dialog")
    field = dialog.get_by_role("combobox", name="Person or group")
    field.press_sequentially("zhang")
    expect(dialog).to_match_aria_snapshot(SHARING)
    field.press("Enter")
    expect(dialog.get_by_role("region", name="People with access")).to_match_aria_snapshot(PEOPLE)
