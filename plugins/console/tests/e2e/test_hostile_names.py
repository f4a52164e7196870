"""400 hostile names on the pages of the console in Chromium: no script runs, and nothing is blocked."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, expect
from tests.rest.nasty_names import may_be_a_name, nasty_names
from tests.support.browsers import needs_chromium

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, live_server

PLUGINS = ("login_pages", "share_links", "webhooks", "console")
ATTACKS = [
    "<svg onload=alert(1)>.png",
    '"><script>alert(1)<\\script>',
    "' onmouseover='alert(1)' autofocus onfocus='alert(1)",
    "javascript:alert(1)",
    "<iframe srcdoc='<script>parent.alert(1)<\\script>'>",
    "{{constructor.constructor('alert(1)')()}}",
    "<style>@import 'data:text,x'<\\style><base href='data:x'>",
]
PLACES = ("", "files/", "members/", "groups/", "settings/", "usage/", "trash/", "shares/", "activity/")

pytestmark = [needs_chromium, pytest.mark.extended]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("server"), plugins=PLUGINS) as server:
        yield server


@pytest.fixture
def noted() -> list[str]:
    """What a page should not do: open dialogs, fail, or break its policy."""
    return []


@pytest.fixture
def page(browser: Browser, noted: list[str]) -> Iterator[Page]:
    context = browser.new_context(locale="en-US")
    page = context.new_page()

    def note_dialog(dialog: Dialog) -> None:
        noted.append(f"dialog: {page.url}")
        dialog.dismiss()

    def note_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            noted.append(message.text)

    page.on("dialog", note_dialog)
    page.on("pageerror", lambda error: noted.append(f"{page.url}: {error}"))
    page.on("console", note_console)
    yield page
    context.close()


def log_in(page: Page, server: LiveServer, user: LiveUser) -> None:
    page.goto(f"{server.url}/console/")
    page.get_by_label("Name").first.fill(user.email)
    page.get_by_label("Password").first.fill(PASSWORD)
    page.get_by_role("button", name="Log in").first.click()
    page.wait_for_url("**/console/**")


def test_400_names_of_files_run_nothing(page: Page, server: LiveServer, noted: list[str]) -> None:
    owner = server.user()
    tenant = server.tenant(owner, ATTACKS[1])
    names = [name for name in (*ATTACKS, *nasty_names()) if may_be_a_name(name)]
    replies = [server.send_file(tenant, owner, name, b"<script>alert(1)</script>") for name in names]
    files = [reply.json()["id"] for reply in replies if reply.status == 201]
    assert len(files) > 200
    log_in(page, server, owner)
    root = f"{server.url}/console/tenants/{tenant}"
    for number in range(1, len(files) // 100 + 2):
        for view in ("list", "grid"):
            page.goto(f"{root}/files/?page={number}&view={view}")
            expect(page.locator("#nodes tbody tr[data-id]").first).to_be_visible()
    for file in files[: len(ATTACKS)]:
        for tab in ("", "/versions", "/share", "/access", "/activity", "/rename"):
            page.goto(f"{root}/nodes/{file}{tab}")
            expect(page.locator("h1")).to_be_visible()
    page.goto(f"{root}/files/?sort=updatedAt")
    page.locator("#nodes a[href*='/nodes/']").first.click()
    expect(page.locator("#drawer h1")).to_be_visible()
    assert noted == []


@pytest.mark.parametrize("name", ATTACKS)
def test_names_of_other_things_run_nothing(
    page: Page, server: LiveServer, noted: list[str], name: str
) -> None:
    owner = server.user()
    server.succeed("PATCH", "/users/me", by=owner, json_body={"name": name})
    tenant = server.tenant(owner, name)
    path = f"/api/v1/tenants/{tenant}"
    server.succeed("POST", f"{path}/groups", by=owner, json_body={"name": name})
    folder = server.folder_in(tenant, owner, name)["id"]
    label = {"kind": "read", "label": name}
    server.succeed("POST", f"{path}/files/{folder}/shares", by=owner, json_body=label)
    log_in(page, server, owner)
    for place in PLACES:
        page.goto(
            f"{server.url}/console/tenants/{tenant}/{place}" if place else f"{server.url}/console/"
        )
        expect(page.locator("h1")).to_be_visible()
    assert noted == []


def test_400_names_run_nothing_in_the_dialog_of_sharing(
    page: Page, server: LiveServer, noted: list[str]
) -> None:
    owner = server.user()
    tenant = server.tenant(owner)
    path = f"/api/v1/tenants/{tenant}"
    names = [*ATTACKS, *nasty_names()]
    replies = [
        server.request("POST", f"{path}/groups", by=owner, json_body={"name": name}) for name in names
    ]
    groups = [reply.json() for reply in replies if reply.status == 201]
    assert len(groups) > 200
    file = server.upload(tenant, owner, "plan.txt", b"x")["id"]
    for group in groups:
        body = {"groupId": group["id"], "permission": "read"}
        server.succeed("POST", f"{path}/files/{file}/group-grants", by=owner, json_body=body)
    for name in ATTACKS:
        body = {"kind": "read", "label": name}
        server.succeed("POST", f"{path}/files/{file}/shares", by=owner, json_body=body)
    log_in(page, server, owner)
    page.goto(f"{server.url}/console/tenants/{tenant}/files/")
    page.get_by_role("link", name="Share: plan.txt").click()
    dialog = page.locator("dialog.sharing")
    expect(dialog.locator(".grant")).to_have_count(len(groups) + 1)
    field = dialog.get_by_role("combobox", name="Person or group")
    for name in ATTACKS:
        field.fill(name)
        expect(dialog.get_by_role("listbox").get_by_role("option").first).to_be_visible()
        field.press("Enter")
        # The field of the answer, because the former one has the focus, too.
        expect(field).to_have_value("")
        expect(field).to_be_focused()
    entry = dialog.locator(".grant", has_text=ATTACKS[0])
    entry.get_by_role("button", name="Can view").click()
    entry.get_by_role("button", name="Remove the access").click()
    expect(dialog.get_by_role("button", name="Undo")).to_be_visible()
    assert noted == []
