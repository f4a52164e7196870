"""A real browser logs in by WeCom: by the QR code, in the app, refused, as an outsider, and connects."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.support.browsers import needs_chromium
from tests.support.config import Table, merged
from tests.support.platform_visits import connect_account, decide
from tests.support.server import Server
from tests.support.wecom import IN_APP, WeCom, wecom

from strongroom.testing.server import free_port

pytestmark = [
    pytest.mark.extended,
    needs_chromium,
]


@dataclass(frozen=True)
class Words:
    """What a person reads in a language."""

    locale: str
    button: str
    confirm: str
    refuse: str
    not_member: str


WORDS = {
    "en": Words(
        "en-US",
        "Log in with WeCom",
        "Confirm",
        "Refuse",
        "Only members of the organisation can log in this way. Log in another way.",
    ),
    "zh": Words(
        "zh-CN", "企业微信登录", "确认登录", "拒绝", "只有该组织的成员可以这样登录。请使用其他方式登录。"
    ),
}

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def platform() -> Iterator[WeCom]:
    with wecom() as platform:
        yield platform


@pytest.fixture(scope="module")
def shared_changes(platform: WeCom) -> Table:
    port = free_port()
    return merged(platform.config(f"http://127.0.0.1:{port}"), {"server": {"port": port}})


@pytest.fixture
def open_login(browser: Browser, shared_server: Server) -> Iterator[Open]:
    """Opens the login page in a new browser; each error of the server's pages is a failure."""
    contexts, faults = [], list[str]()

    def open_page(words: Words, *, user_agent: str | None = None, has_scripts: bool = True) -> Page:
        context = browser.new_context(
            locale=words.locale, user_agent=user_agent, java_script_enabled=has_scripts
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"{shared_server.url}/account/login")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


@pytest.mark.parametrize("has_scripts", [True, False], ids=["scripts", "no-scripts"])
@pytest.mark.parametrize("user_agent", [None, IN_APP], ids=["browser", "wecom"])
@pytest.mark.parametrize("language", WORDS)
def test_a_member_logs_in_on_the_page_for_the_browser(
    open_login: Open, language: str, user_agent: str | None, has_scripts: bool
) -> None:
    words = WORDS[language]
    page = open_login(words, user_agent=user_agent, has_scripts=has_scripts)
    page.get_by_role("link", name=words.button).click()
    expect(page.get_by_alt_text("QR code")).to_have_count(0 if user_agent else 1)
    decide(page, "林小雨", words.confirm)
    page.wait_for_url("**/account/")
    expect(page.get_by_text("林小雨").first).to_be_visible()


@pytest.mark.parametrize("language", WORDS)
def test_a_refusal_leads_back_to_the_login_page(open_login: Open, language: str) -> None:
    words = WORDS[language]
    page = open_login(words)
    page.get_by_role("link", name=words.button).click()
    decide(page, "林小雨", words.refuse)
    page.wait_for_url("**/account/login**")
    expect(page.get_by_role("status")).to_be_visible()
    expect(page.get_by_role("link", name=words.button)).to_be_visible()


@pytest.mark.parametrize("language", WORDS)
def test_an_outsider_reads_why_and_does_not_enter(open_login: Open, language: str) -> None:
    words = WORDS[language]
    page = open_login(words, user_agent=IN_APP)
    page.get_by_role("link", name=words.button).click()
    decide(page, "任远", words.confirm)
    page.wait_for_url("**/account/login**")
    expect(page.get_by_role("alert")).to_contain_text(words.not_member)


def test_the_page_with_the_qr_code_itself_refuses_an_outsider(open_login: Open) -> None:
    page = open_login(WORDS["en"])
    page.get_by_role("link", name=WORDS["en"].button).click()
    decide(page, "任远")
    expect(page.get_by_role("alert")).to_have_text("You are not a member of this corporation.")


def test_a_user_connects_an_account_by_the_password(open_login: Open, shared_server: Server) -> None:
    connect_account(
        open_login(WORDS["en"], has_scripts=False), shared_server, platform="WeCom", person="魏晨"
    )
