"""The app's own token: requested rarely, and by force only if WeChat still returns a refused one."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from strongroom_login_oauth.app_token import AppToken
from strongroom_login_oauth.errors import Misconfigured, ProviderUnavailable, TokenRefused
from strongroom_login_wechat.mini_program import MiniProgram
from strongroom_simulators.wechat import AdjustableClock, Platform, PlatformApp

PATH = "/cgi-bin/stable_token"


@pytest.fixture
def token(mini: MiniProgram) -> AppToken:
    return mini._token


def test_a_token_is_requested_once(token: AppToken, vendor: Platform) -> None:
    assert token.get() == token.get()
    assert vendor.requests[PATH] == 1


def test_a_token_that_another_process_replaced_is_replaced_without_force(
    token: AppToken, vendor: Platform, mini_app: PlatformApp
) -> None:
    stale = token.get()
    replaced = vendor.app_tokens.get(mini_app, force=True)["access_token"]
    assert token.replace(stale) == replaced


def test_a_token_that_the_platform_refuses_and_still_gives_is_replaced_by_force(
    token: AppToken, vendor: Platform
) -> None:
    refused = token.get()
    assert token.replace(refused) != refused
    assert vendor.requests[PATH] == 3


def test_a_refused_token_is_replaced_once_for_all_who_held_it(token: AppToken, vendor: Platform) -> None:
    refused = token.get()
    with ThreadPoolExecutor(8) as pool:
        tokens = set(pool.map(lambda _: token.replace(refused), range(8)))
    assert len(tokens) == 1
    assert refused not in tokens
    assert vendor.requests[PATH] == 3


def test_a_refused_token_is_replaced_and_the_request_repeated_once(
    mini: MiniProgram, vendor: Platform
) -> None:
    path = "/wxa/business/getuserphonenumber"
    code = vendor.give_phone_number(mini.appid, "lin")
    vendor.failures.plan(path, 40001)
    assert mini.phone_number(code) == "+8613800000001"
    vendor.failures.plan(path, 42001, times=2)
    with pytest.raises(TokenRefused):
        mini.phone_number(code)
    assert vendor.requests[path] == 4


def test_a_token_is_forced_twenty_times_a_day_at_most(
    token: AppToken, vendor_clock: AdjustableClock
) -> None:
    for _ in range(20):
        token.replace(token.get())
    with pytest.raises(ProviderUnavailable, match="45009"):
        token.replace(token.get())
    vendor_clock.advance(24 * 3600)
    token.replace(token.get())


def test_a_wrong_secret_is_the_operators_fault(
    token: AppToken, vendor: Platform, mini_app: PlatformApp
) -> None:
    mini_app.secret = "changed at the platform"
    with pytest.raises(Misconfigured):
        token.get()
