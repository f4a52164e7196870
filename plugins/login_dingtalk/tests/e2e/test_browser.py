"""A real browser without scripts logs in by DingTalk, refuses, is no member, and connects an account."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect
from tests.support.browsers import needs_chromium
from tests.support.config import Table, merged
from tests.support.dingtalk import DingTalk, dingtalk
from tests.support.platform_visits import (
    NOT_MEMBER,
    REFUSED,
    Visit,
    connect_account,
    decide,
    reason,
    visits,
)
from tests.support.server import Server

from strongroom_simulators.dingtalk import Person
from strongroom_simulators.dingtalk.samples import COMPANY

PLUGINS = {"enabled": ["storage_local", "login_dingtalk", "login_pages"]}
IN_DINGTALK = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AliApp(DingTalk/7.6.0) WebKit"
BUTTON = {"en-US": "Log in with DingTalk", "zh-CN": "钉钉登录"}
LANGUAGES = pytest.mark.parametrize("locale", ["en-US", "zh-CN"])

pytestmark = [
    pytest.mark.extended,
    needs_chromium,
]


@pytest.fixture(scope="module")
def platform() -> Iterator[DingTalk]:
    with dingtalk() as platform:
        yield platform


@pytest.fixture(scope="module")
def shared_changes(platform: DingTalk) -> Table:
    return merged(platform.config(), {"plugins": PLUGINS})


@pytest.fixture
def visit(browser: Browser, shared_server: Server) -> Iterator[Visit]:
    with visits(browser, shared_server) as visit:
        yield visit


@LANGUAGES
def test_a_member_scans_and_is_logged_in(locale: str, visit: Visit, shared_server: Server) -> None:
    page = visit(locale)
    page.get_by_role("link", name=BUTTON[locale]).click()
    expect(page.get_by_alt_text("QR code")).to_be_visible()
    decide(page, "林小雨")
    page.wait_for_url(f"{shared_server.url}/account/")
    expect(page.get_by_text("林小雨").first).to_be_visible()


def test_in_dingtalk_there_is_no_qr_code(visit: Visit, shared_server: Server) -> None:
    page = visit("zh-CN", IN_DINGTALK)
    page.get_by_role("link", name=BUTTON["zh-CN"]).click()
    expect(page.get_by_alt_text("QR code")).to_have_count(0)
    decide(page, "魏晨")
    page.wait_for_url(f"{shared_server.url}/account/")


@LANGUAGES
@pytest.mark.parametrize(
    ("person", "decision", "texts"),
    [("林小雨", "Refuse", REFUSED), ("Ada", "Confirm", NOT_MEMBER), ("任远", "Confirm", NOT_MEMBER)],
)
def test_others_return_to_the_login_page_with_the_reason(
    locale: str, person: str, decision: str, texts: dict[str, str], visit: Visit
) -> None:
    page = visit(locale)
    page.get_by_role("link", name=BUTTON[locale]).click()
    decide(page, person, decision)
    expect(reason(page)).to_contain_text(texts[locale])
    expect(page.get_by_role("link", name=BUTTON[locale])).to_be_visible()


def test_a_leaver_is_refused_on_return(visit: Visit, platform: DingTalk) -> None:
    page = visit()
    page.get_by_role("link", name=BUTTON["en-US"]).click()
    platform.platform.leave(COMPANY, "zhao")
    decide(page, "赵敏")
    expect(page.get_by_role("alert")).to_contain_text(NOT_MEMBER["en-US"])


def test_a_user_connects_an_account_with_the_password(
    visit: Visit, shared_server: Server, platform: DingTalk
) -> None:
    platform.platform.add_person(Person("fang", nick="王芳", mobile=""))
    platform.platform.join(COMPANY, "fang")
    connect_account(visit(), shared_server, platform="DingTalk", person="王芳")
