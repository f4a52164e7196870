"""The trash in Chromium, where it needs no script of its own."""

import pytest
from playwright.sync_api import expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk

pytestmark = [needs_chromium]


@pytest.mark.parametrize("button", ["Restore", "Delete permanently"])
def test_a_deleted_file_is_restored_or_removed(desk: Desk, button: str) -> None:
    file = desk.server.upload(desk.tenant, desk.user, "note.txt", b"Hello")
    path = f"/api/v1/tenants/{desk.tenant}/files/{file['id']}"
    desk.server.succeed("DELETE", path, by=desk.user)
    desk.page.goto(f"{desk.server.url}/console/tenants/{desk.tenant}/trash/")
    expect(desk.page.get_by_role("button", name=button, exact=True)).to_be_hidden()
    desk.page.get_by_label("Select: note.txt").check()
    desk.page.get_by_role("button", name=button, exact=True).click()
    if button == "Delete permanently":
        expect(desk.page.get_by_role("heading", level=1)).to_have_text("Delete permanently: 1 selected")
        desk.page.get_by_role("button", name=button, exact=True).click()
    expect(desk.page.get_by_role("status")).to_contain_text("1")
    assert desk.names() == (["note.txt"] if button == "Restore" else [])
