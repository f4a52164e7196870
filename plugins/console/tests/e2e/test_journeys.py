"""What users come to the console for, by mouse or by keyboard alone, with and without scripts."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.support.browsers import needs_chromium
from tests.support.first_space import first_space
from tests.support.keyboard_user import Hand
from tests.support.waiting import wait_until

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, live_server

PLUGINS = ("login_pages", "share_links", "webhooks", "console")
COLLEAGUES = 2_000
CONFIG = {"plugins": {"webhooks": {"allow_hosts": ["127.0.0.1:9"]}}}

pytestmark = [
    needs_chromium,
    pytest.mark.extended,
    pytest.mark.parametrize("has_mouse", [True, False], ids=["mouse", "keyboard"]),
]
with_and_without_scripts = pytest.mark.parametrize("has_scripts", [True, False], ids=["on", "off"])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("server")
    with live_server(folder, plugins=PLUGINS, config=CONFIG) as server:
        yield server


@pytest.fixture(scope="module")
def root(server: LiveServer) -> LiveUser:
    return server.user(admin=True)


@pytest.fixture
def has_scripts() -> bool:
    return True


@pytest.fixture
def page(browser: Browser, has_scripts: bool) -> Iterator[Page]:
    context = browser.new_context(locale="en-US", java_script_enabled=has_scripts)
    yield context.new_page()
    context.close()


@pytest.fixture
def hand(page: Page, has_mouse: bool) -> Hand:
    return Hand(page, has_mouse)


@pytest.fixture(autouse=True)
def reported(request: pytest.FixtureRequest, hand: Hand) -> Iterator[None]:
    """Print the time and the clicks of each journey; pytest shows them with -s or -rP."""
    yield
    name = request.node.name
    print(f"{name}: {hand.seconds:.1f} s, {hand.clicks} clicks, {hand.tabs} times Tab")  # noqa: T201  the measurement


def log_in(page: Page, server: LiveServer, user: LiveUser, path: str = "") -> None:
    page.goto(f"{server.url}/console/{path}")
    page.get_by_label("Name").first.fill(user.email)
    page.get_by_label("Password").first.fill(PASSWORD)
    page.get_by_role("button", name="Log in").first.click()
    page.wait_for_url("**/console/**")


def upload(hand: Hand, file: Path) -> None:
    """Upload a file by the form, whose browser's dialog chooses the file."""
    page = hand.page
    hand.press(page.locator("summary", has_text="Upload").first)
    with page.expect_file_chooser() as chooser:
        hand.press(page.locator("#file"), "Space")
    chooser.value.set_files(file)
    hand.press(page.locator("#upload").get_by_role("button", name="Upload", exact=True))


def test_from_an_empty_server_to_a_shared_link(page: Page, tmp_path: Path, hand: Hand) -> None:
    with first_space(hand, tmp_path, PLUGINS) as file:
        upload(hand, file)
        row = page.locator("#nodes tbody tr")
        row.hover()
        hand.press(row.get_by_role("link", name="Share: plan.txt"))
        hand.press(page.get_by_role("button", name="Create link"))
        secret = page.locator(".secret, #link-url").filter(has_text="/s/")
        expect(secret.first).to_be_attached()
        seconds, clicks = hand.seconds, hand.clicks
    assert seconds <= 60
    assert clicks <= 10


@with_and_without_scripts
def test_one_key_skips_the_menus(page: Page, server: LiveServer, root: LiveUser, hand: Hand) -> None:
    log_in(page, server, root, "server/users/")
    link = page.get_by_role("link", name="Skip to the content")
    # Only the keyboard reaches the link, because it is outside of the window until then.
    Hand(page, has_mouse=False).press(link)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#content') !== null")


@with_and_without_scripts
def test_an_administrator_creates_a_user_and_a_space(
    page: Page, server: LiveServer, root: LiveUser, hand: Hand
) -> None:
    log_in(page, server, root, "server/users/")
    hand.press(page.get_by_role("link", name="New user"))
    hand.fill(page.locator("[name=name]"), "Carol")
    email = f"carol{hand.has_mouse}{id(hand)}@example.com"
    hand.fill(page.locator("[name=email]"), email)
    hand.press(page.locator("main form button").last)
    expect(page.locator(".secret").first).to_be_visible()
    hand.press(page.get_by_role("button", name="Switch the space").first)
    hand.press(page.locator("#places").get_by_role("link", name="All spaces"))
    page.wait_for_url("**/console/")
    summary = page.locator("#new-space > summary")
    if summary.count():
        hand.press(summary)
    hand.fill(page.get_by_label("Name of the new space"), "Acme")
    hand.press(page.get_by_role("button", name="Create space"))
    page.wait_for_url("**/files/")
    assert hand.clicks <= 10


@with_and_without_scripts
def test_a_manager_sees_why_a_user_can_read_a_file(page: Page, server: LiveServer, hand: Hand) -> None:
    owner, reader = server.user(), server.user()
    tenant = server.tenant(owner)
    server.join(tenant, owner, reader)
    root = f"/api/v1/tenants/{tenant}"
    group = server.succeed("POST", f"{root}/groups", by=owner, json_body={"name": "Auditors"})["id"]
    server.succeed("PUT", f"{root}/groups/{group}/members/{reader.id}", by=owner)
    folder = str(server.folder_in(tenant, owner, "Reports")["id"])
    file = server.upload(tenant, owner, "plan.txt", b"plan", folder)["id"]
    grant = {"groupId": group, "permission": "read"}
    server.succeed("POST", f"{root}/files/{folder}/group-grants", by=owner, json_body=grant)
    log_in(page, server, owner, f"tenants/{tenant}/files/{folder}/")
    hand.press(page.locator("#nodes").get_by_role("link", name="plan.txt", exact=True))
    hand.press(page.get_by_role("link", name="Access", exact=True))
    reasons = page.locator(".reasons", has_text="Auditors")
    expect(reasons).to_contain_text("Reports")
    assert hand.clicks <= 2
    assert file


@with_and_without_scripts
def test_a_user_restores_a_version(page: Page, server: LiveServer, hand: Hand) -> None:
    owner = server.user()
    tenant = server.tenant(owner)
    file = server.upload(tenant, owner, "plan.txt", b"first")["id"]
    content = f"/api/v1/tenants/{tenant}/files/{file}"
    server.request("PUT", f"{content}/content", by=owner, body=b"second")
    log_in(page, server, owner)
    hand.press(page.locator("#nodes").get_by_role("link", name="plan.txt", exact=True))
    hand.press(page.get_by_role("link", name="Versions", exact=True))
    hand.press(page.get_by_role("button", name="Restore version 1"))
    expect(page.get_by_role("status").first).to_contain_text("current content again")
    assert server.request("GET", f"{content}/download", by=owner).body == b"first"
    assert hand.clicks <= 3


@pytest.fixture(scope="module")
def colleagues(server: LiveServer, root: LiveUser) -> None:
    """Very many users."""
    lines = (
        json.dumps({"name": f"Colleague {number}", "email": f"colleague{number}@example.com"})
        for number in range(COLLEAGUES)
    )
    headers = {"Content-Type": "application/x-ndjson"}
    body = "\n".join(lines).encode()
    begun = server.request("POST", "/user-imports", by=root, headers=headers, body=body).json()
    path = f"/user-imports/{begun['id']}"
    wait_until(lambda: server.succeed("GET", path, by=root)["created"] == COLLEAGUES)


@with_and_without_scripts
@pytest.mark.usefixtures("colleagues")
def test_an_administrator_ends_the_sessions_of_one_of_many_users(
    page: Page, server: LiveServer, root: LiveUser, hand: Hand
) -> None:
    user = server.user()
    log_in(page, server, root, "server/users/")
    expect(page.get_by_text(re.compile(r"Users found: 2,?\d{3}"))).to_be_visible()
    hand.fill(page.locator("[name=q]"), user.email)
    hand.send()
    page.wait_for_url("**q=**")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator("tbody tr").hover()
    hand.press(page.locator("tbody").get_by_role("button", name="Log out"))
    expect(page.get_by_role("status").first).to_be_visible()
    assert server.request("GET", "/users/me", by=user).status == 401
    assert hand.clicks <= 5


@with_and_without_scripts
def test_a_webhook_is_sent_again(page: Page, server: LiveServer, hand: Hand) -> None:
    owner = server.user()
    tenant = server.tenant(owner)
    body = {"url": "https://127.0.0.1:9/", "eventTypes": ["file.*"], "tenantId": tenant}
    endpoints = "/api/v1/webhook-endpoints"
    endpoint = server.succeed("POST", endpoints, by=owner, json_body=body)["id"]
    server.succeed("POST", f"{endpoints}/{endpoint}/test", by=owner)
    log_in(page, server, owner)
    hand.press(page.get_by_role("link", name="Webhooks", exact=True))
    hand.press(page.locator(".sheet").get_by_role("link", name="127.0.0.1").first)
    hand.press(page.get_by_role("link", name="Deliveries", exact=True).first)
    hand.press(page.get_by_role("button", name="Send again").first)
    expect(page.get_by_role("status").first).to_be_visible()
    assert hand.clicks <= 4
