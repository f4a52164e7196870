"""The app's own token: requested rarely, and valid whenever it is returned."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from strongroom_login_wechat.app_token import AppToken
from strongroom_login_wechat.client import PlatformClient
from strongroom_login_wechat.errors import Misconfigured, QuotaExhausted, TokenRefused
from strongroom_login_wechat.mini_program import MiniProgram
from strongroom_simulators.wechat import AdjustableClock, Platform, PlatformApp

PATH = "/cgi-bin/stable_token"


@pytest.fixture
def token(client: PlatformClient, mini_app: PlatformApp, vendor_clock: AdjustableClock) -> AppToken:
    return AppToken(client, mini_app.appid, mini_app.secret, clock=vendor_clock)


def test_a_token_is_requested_once(token: AppToken, vendor: Platform) -> None:
    assert token.get() == token.get()
    assert vendor.requests[PATH] == 1


def test_many_threads_send_one_request(token: AppToken, vendor: Platform) -> None:
    with ThreadPoolExecutor(8) as pool:
        tokens = set(pool.map(lambda _: token.get(), range(8)))
    assert len(tokens) == 1
    assert vendor.requests[PATH] == 1


def test_two_processes_get_the_same_token(
    token: AppToken, client: PlatformClient, mini_app: PlatformApp, vendor_clock: AdjustableClock
) -> None:
    other = AppToken(client, mini_app.appid, mini_app.secret, clock=vendor_clock)
    assert token.get() == other.get()


@pytest.mark.parametrize(("age", "requests"), [(7139, 1), (7140, 2)])
def test_a_token_is_renewed_a_minute_before_it_expires(
    age: int, requests: int, token: AppToken, vendor: Platform, vendor_clock: AdjustableClock
) -> None:
    token.get()
    vendor_clock.advance(age)
    token.get()
    assert vendor.requests[PATH] == requests


def test_an_expired_token_is_never_handed_out(
    token: AppToken, vendor: Platform, mini_app: PlatformApp, vendor_clock: AdjustableClock
) -> None:
    for _ in range(20):
        assert vendor.app_tokens.check(token.get()) == mini_app.appid
        vendor_clock.advance(1200)


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
    with pytest.raises(QuotaExhausted):
        token.replace(token.get())
    vendor_clock.advance(24 * 3600)
    token.replace(token.get())


def test_a_wrong_secret_is_the_operators_fault(
    client: PlatformClient, mini_app: PlatformApp, vendor_clock: AdjustableClock
) -> None:
    with pytest.raises(Misconfigured):
        AppToken(client, mini_app.appid, "wrong", clock=vendor_clock).get()
