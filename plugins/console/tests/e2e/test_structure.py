"""What a screen reader says of a list of files, a dialog and a combobox."""

import pytest
from playwright.sync_api import Browser, expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser

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

pytestmark = [needs_chromium]


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
