"""A real browser logs in by WeChat: confirms, denies, is too late, and tries foreign codes."""

import re
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page, expect
from tests.support.browsers import needs_chromium
from tests.support.config import Table, merged
from tests.support.http import TIMEOUT_SECONDS, Caller
from tests.support.server import Server
from tests.support.wechat import CALLBACK, WeChat, wechat

from strongroom.testing.server import free_port

SCAN = "/api/v1/wechat-authorizations/scan?app=site"

pytestmark = needs_chromium

EMBEDDING = """<!doctype html><title>An app</title>
<script>var received = []; addEventListener("message", event => received.push(event.data))</script>
<iframe src="{url}"></iframe>"""


@pytest.fixture(scope="module")
def platform() -> Iterator[WeChat]:
    with wechat() as platform:
        yield platform


@pytest.fixture(scope="module")
def shared_changes(platform: WeChat) -> Table:
    port = free_port()
    return merged(platform.config(f"http://127.0.0.1:{port}"), {"server": {"port": port}})


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, shared_server: Server) -> Page:
    """The scan page; each error of the browser is a failure."""
    page = context.new_page()
    page.goto(shared_server.url + SCAN)
    return page


def framed(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")


def decide(page: Page, person: str, decision: str) -> None:
    """Play the person with the phone, in the platform's page within the scan page."""
    framed(page).get_by_label(person).check()
    framed(page).get_by_role("button", name=decision).click()


def name_of(shared_server: Server, token: str) -> Any:
    return Caller(shared_server.url).bearing(token).send("GET", "/users/me").json["name"]


def test_confirming_logs_in_and_hands_the_tokens_to_the_page_around(
    context: BrowserContext, shared_server: Server
) -> None:
    page = context.new_page()
    url = f"{shared_server.url}/an-app"
    page.route(url, lambda route: route.fulfill(
        content_type="text/html", body=EMBEDDING.format(url=shared_server.url + SCAN)))  # fmt: skip
    page.goto(url)
    scan_page = page.frame_locator("iframe")
    qr_page = scan_page.frame_locator("iframe")
    qr_page.get_by_label("林小雨").check()
    qr_page.get_by_role("button", name="Confirm").click()
    expect(qr_page.get_by_text("You are logged in.")).to_be_visible()
    expect(qr_page.get_by_text("林小雨")).to_be_visible()
    expect(scan_page.get_by_text("You are logged in.")).to_be_visible()
    (received,) = page.evaluate("received")
    assert (received["type"], received["outcome"]) == ("strongroom-wechat", "logged-in")
    assert name_of(shared_server, received["authorization"]["accessToken"]) == "林小雨"


def test_neither_code_nor_state_stays_in_the_address(page: Page, shared_server: Server) -> None:
    decide(page, "Ada", "Confirm")
    expect(framed(page).get_by_text("You are logged in.")).to_be_visible()
    assert [frame.url for frame in page.frames][-1] == shared_server.url + CALLBACK


def test_a_denial_is_reported(page: Page) -> None:
    decide(page, "Ada", "Deny")
    expect(framed(page).get_by_text("You denied the login.")).to_be_visible()
    expect(page.get_by_text("You denied the login.", exact=True)).to_be_visible()


def test_denying_on_a_phone_without_redirect_allows_another_attempt(
    page: Page, platform: WeChat
) -> None:
    platform.platform.denial_redirects = False
    decide(page, "Ada", "Deny")
    expect(framed(page).get_by_text("denied on the phone")).to_be_visible()
    platform.platform.denial_redirects = True
    page.get_by_role("button", name="Get another QR code").click()
    decide(page, "Ada", "Confirm")
    expect(page.get_by_text("You are logged in.", exact=True)).to_be_visible()


def answers(page: Page) -> tuple[str, str]:
    """Let a scan be confirmed, and return the code and state that came back, unused."""
    with page.expect_request(lambda request: CALLBACK in request.url) as came_back:
        page.route("**/wechat-authorizations", lambda route: route.abort())
        decide(page, "Ada", "Confirm")
    expect(framed(page).get_by_text("The login failed.")).to_be_visible()
    page.unroute("**/wechat-authorizations")
    query = parse_qs(urlsplit(came_back.value.url).query)
    return query["code"][0], query["state"][0]


def come_back(page: Page, shared_server: Server, code: str, state: str) -> None:
    page.goto(f"{shared_server.url}{CALLBACK}?code={code}&state={state}")


def test_a_state_logs_in_once(page: Page, shared_server: Server, platform: WeChat) -> None:
    code, state = answers(page)
    come_back(page, shared_server, code, state)
    expect(page.get_by_text("You are logged in.")).to_be_visible()
    come_back(page, shared_server, platform.code("site", "ada"), state)
    expect(page.get_by_text("error.state-invalid")).to_be_visible()


def test_a_code_logs_in_once(page: Page, shared_server: Server) -> None:
    code, state = answers(page)
    come_back(page, shared_server, code, state)
    expect(page.get_by_text("You are logged in.")).to_be_visible()
    page.goto(shared_server.url + SCAN)
    _, fresh = answers(page)
    come_back(page, shared_server, code, fresh)
    expect(page.get_by_text("error.wechat-code-used")).to_be_visible()


def test_another_browsers_state_does_not_log_in(
    browser: Browser, page: Page, shared_server: Server
) -> None:
    code, state = answers(page)
    other = browser.new_context()
    victim = other.new_page()
    # With a cookie of its own, and without one.
    for path in (CALLBACK, SCAN):
        come_back(victim, shared_server, code, state)
        expect(victim.get_by_text("error.state-invalid")).to_be_visible()
        victim.goto(shared_server.url + path)
        victim.wait_for_load_state("networkidle")
    other.close()
    come_back(page, shared_server, code, state)
    expect(page.get_by_text("You are logged in.")).to_be_visible()


def test_the_pages_speak_chinese_to_those_who_do(browser: Browser, shared_server: Server) -> None:
    context = browser.new_context(locale="zh-CN")
    page = context.new_page()
    page.goto(shared_server.url + SCAN)
    expect(page.get_by_role("heading", name="微信登录")).to_be_visible()
    context.close()


def test_nothing_on_the_pages_is_refused_by_their_own_policy(
    context: BrowserContext, shared_server: Server
) -> None:
    page_errors: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: page_errors.append(message.text))
    page.on("pageerror", lambda error: page_errors.append(str(error)))
    page.goto(shared_server.url + SCAN)
    decide(page, "Ada", "Confirm")
    expect(page.get_by_text("You are logged in.", exact=True)).to_be_visible()
    assert page_errors == []


@pytest.mark.parametrize("path", [SCAN, CALLBACK])
def test_the_policy_allows_only_scripts_of_this_server(path: str, shared_server: Server) -> None:
    with urllib.request.urlopen(shared_server.url + path, timeout=TIMEOUT_SECONDS) as response:
        policy = response.headers["Content-Security-Policy"]
        html = response.read().decode()
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert response.headers["Set-Cookie"] is None
    scripts = re.findall(r"<script([^>]*)>([^<]*)</script>", html)
    own = [(attributes, code) for attributes, code in scripts if "importmap" not in attributes]
    assert own
    assert all(' src="/' in attributes and not code for attributes, code in own)
    assert "script-src 'self' 'nonce-" in policy
    assert "unsafe" not in policy
    assert not re.search(r"\s(on\w+|style)=", html)
    assert "frame-ancestors 'self'" in policy
