"""What users come to the console for, by a finger on the screen of a phone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect
from tests.support.browsers import needs_chromium
from tests.support.first_space import first_space
from tests.support.keyboard_user import Hand

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, live_server

PLUGINS = ("login_pages", "share_links", "console")
PHONE = ViewportSize(width=360, height=780)

pytestmark = [needs_chromium, pytest.mark.extended]
with_and_without_scripts = pytest.mark.parametrize("has_scripts", [True, False], ids=["on", "off"])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("server"), plugins=PLUGINS) as server:
        yield server


@pytest.fixture
def has_scripts() -> bool:
    return True


@pytest.fixture
def page(browser: Browser, has_scripts: bool) -> Iterator[Page]:
    context = browser.new_context(
        locale="en-US", viewport=PHONE, has_touch=True, java_script_enabled=has_scripts
    )
    yield context.new_page()
    context.close()


@pytest.fixture
def hand(page: Page, request: pytest.FixtureRequest) -> Iterator[Hand]:
    """The finger; pytest prints its time and taps with -s or -rP."""
    hand = Hand(page, has_mouse=True, has_finger=True)
    yield hand
    print(f"{request.node.name}: {hand.seconds:.1f} s, {hand.clicks} taps")  # noqa: T201  the measurement
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def log_in(page: Page, server: LiveServer, user: LiveUser, path: str) -> None:
    page.goto(f"{server.url}/console/{path}")
    page.locator("[name=username]").fill(user.email)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("button[value=password]").tap()
    page.wait_for_url("**/console/**")


def upload_and_share(hand: Hand, file: Path) -> None:
    page = hand.page
    hand.press(page.get_by_role("link", name="Upload", exact=True))
    with page.expect_file_chooser() as chooser:
        hand.press(page.locator("#file"))
    chooser.value.set_files(file)
    hand.press(page.locator("#upload").get_by_role("button", name="Upload", exact=True))
    hand.press(page.locator("#nodes").get_by_role("link", name=file.name, exact=True))
    hand.press(page.get_by_role("link", name="Share", exact=True))
    hand.press(page.get_by_role("button", name="Create link"))
    expect(page.locator(".secret, #link-url").filter(has_text="/s/").first).to_be_attached()


def test_from_an_empty_server_to_a_shared_link(tmp_path: Path, hand: Hand) -> None:
    with first_space(hand, tmp_path, PLUGINS) as file:
        upload_and_share(hand, file)
        seconds, clicks = hand.seconds, hand.clicks
    assert seconds <= 60
    assert clicks <= 11


@with_and_without_scripts
def test_a_user_uploads_a_file_and_shares_it(
    page: Page, server: LiveServer, tmp_path: Path, hand: Hand
) -> None:
    owner = server.user()
    file = tmp_path / "plan.txt"
    file.write_bytes(b"The plan")
    log_in(page, server, owner, f"tenants/{server.tenant(owner)}/files/")
    upload_and_share(hand, file)
    assert hand.clicks <= 6


@with_and_without_scripts
def test_an_administrator_ends_the_sessions_of_a_user(
    page: Page, server: LiveServer, hand: Hand
) -> None:
    user = server.user()
    log_in(page, server, server.user(admin=True), "server/users/")
    hand.fill(page.locator("[name=q]"), user.email)
    hand.send()
    page.wait_for_url("**q=**")
    row = page.locator("tbody tr")
    expect(row).to_have_count(1)
    hand.check(row.get_by_role("checkbox"))
    hand.press(page.get_by_role("button", name="Log out", exact=True).locator("visible=true").first)
    expect(page.get_by_role("status").first).to_be_visible()
    assert server.request("GET", "/users/me", by=user).status == 401
    assert hand.clicks <= 5


def test_the_names_in_the_bar_are_whole(page: Page, server: LiveServer) -> None:
    user = server.user()
    tenant = server.tenant(user)
    page.set_viewport_size({"width": 320, "height": 640})
    log_in(page, server, user, f"tenants/{tenant}/files/")
    expect(page.locator(".dock .label")).to_have_text(["Files", "Shared", "Menu", "Me"])
    cut = "items => items.filter(item => item.scrollWidth > item.clientWidth).length"
    assert page.locator(".dock .label").evaluate_all(cut) == 0
