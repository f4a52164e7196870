"""A real browser without scripts logs in by Alipay, refuses, and connects an account."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect
from tests.support.alipay import CALLBACK, alipay_config
from tests.support.browsers import needs_chromium
from tests.support.config import Table, merged
from tests.support.platform_visits import REFUSED, Visit, connect_account, decide, reason, visits
from tests.support.server import Server

from strongroom.testing.server import free_port
from strongroom_simulators.alipay import KeyPair, Simulator, sample_app, sample_platform

IN_ALIPAY = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) WebKit AlipayClient/10.5.90"
BUTTON = {"en-US": "Log in with Alipay", "zh-CN": "支付宝登录"}
LANGUAGES = pytest.mark.parametrize("locale", ["en-US", "zh-CN"])

pytestmark = [
    pytest.mark.extended,
    needs_chromium,
]


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def simulator(port: int, app_keys: KeyPair) -> Iterator[Simulator]:
    app = sample_app(app_keys.public, f"http://127.0.0.1:{port}{CALLBACK}")
    with Simulator(sample_platform(app)) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def shared_changes(simulator: Simulator, port: int, app_keys: KeyPair) -> Table:
    return merged(alipay_config(simulator, app_keys), {"server": {"port": port}})


@pytest.fixture
def visit(browser: Browser, shared_server: Server) -> Iterator[Visit]:
    with visits(browser, shared_server) as visit:
        yield visit


@LANGUAGES
def test_a_person_scans_and_is_logged_in(locale: str, visit: Visit, shared_server: Server) -> None:
    page = visit(locale)
    page.get_by_role("link", name=BUTTON[locale]).click()
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    decide(page, "林小雨")
    page.wait_for_url(f"{shared_server.url}/account/")
    expect(page.get_by_text("林小雨").first).to_be_visible()


def test_in_alipay_there_is_no_qr_code(visit: Visit, shared_server: Server) -> None:
    page = visit("zh-CN", IN_ALIPAY)
    page.get_by_role("link", name=BUTTON["zh-CN"]).click()
    expect(page.get_by_role("img", name="QR code")).to_have_count(0)
    decide(page, "魏")
    page.wait_for_url(f"{shared_server.url}/account/")


@LANGUAGES
def test_a_person_who_refuses_returns_to_the_login_page(locale: str, visit: Visit) -> None:
    page = visit(locale)
    page.get_by_role("link", name=BUTTON[locale]).click()
    decide(page, "林小雨", "Refuse")
    expect(reason(page)).to_contain_text(REFUSED[locale])
    expect(page.get_by_role("link", name=BUTTON[locale])).to_be_visible()


def test_a_user_connects_an_account_with_the_password(visit: Visit, shared_server: Server) -> None:
    connect_account(visit(), shared_server, platform="Alipay", person="Ada")
