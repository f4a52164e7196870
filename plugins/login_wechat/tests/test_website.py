"""A website app against the simulator."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qsl, urlsplit

import pytest

from strongroom_login_oauth.errors import (
    ClientFault,
    CodeExpired,
    CodeInvalid,
    CodeUsed,
    ProviderUnavailable,
    TokenRefused,
)
from strongroom_login_wechat.errors import RefreshTokenRefused
from strongroom_login_wechat.website import Website
from strongroom_simulators.wechat import (
    AdjustableClock,
    Platform,
    PlatformApp,
    Simulator,
    sample_website,
)

Decide = Callable[..., dict[str, list[str]]]
REDIRECT_URI = "http://127.0.0.1/wechat/callback?to=a b&lang=中文"
DAY = 24 * 3600


def test_the_authorize_url_has_every_parameter(site: Website, simulator: Simulator) -> None:
    url = urlsplit(site.authorize_url("s&t=1", language="en"))
    assert url._replace(query="").geturl() == f"{simulator.url}/connect/qrconnect#wechat_redirect"
    assert parse_qsl(url.query, strict_parsing=True) == [
        ("appid", site.appid),
        ("redirect_uri", REDIRECT_URI),
        ("response_type", "code"),
        ("scope", "snsapi_login"),
        ("state", "s&t=1"),
        ("lang", "en"),
    ]


def test_the_redirect_uri_is_percent_encoded_as_a_whole(site: Website) -> None:
    encoded = "redirect_uri=http%3A%2F%2F127.0.0.1%2Fwechat%2Fcallback%3Fto%3Da%20b%26lang%3D"
    assert encoded in site.authorize_url("s")


def test_the_language_is_left_to_the_platform_unless_given(site: Website) -> None:
    assert "lang=" not in site.authorize_url("s").split("state=")[1]


def test_a_confirmed_scan_identifies_the_person(
    site: Website, decide: Decide, vendor: Platform, site_app: PlatformApp
) -> None:
    sent_back = decide(site.authorize_url("s1"), person="lin", decision="confirm")
    assert sent_back["state"] == ["s1"]
    identity = site.identify({"code": sent_back["code"][0]})
    lin = vendor.people["lin"]
    assert identity.openid == site_app.openid(lin)
    assert identity.unionid == site_app.unionid(lin)
    assert identity.nickname == "林小雨"
    assert identity.mobile is None


def test_a_grant_lasts_two_hours(site: Website, vendor: Platform) -> None:
    assert site.exchange(vendor.scan(site.appid, "lin")).expires_in == 7200


def test_a_unionid_is_absent_until_the_app_joins_an_account(
    site: Website, vendor: Platform, site_app: PlatformApp
) -> None:
    site_app.account = None
    before = site.identify({"code": vendor.scan(site.appid, "lin")})
    site_app.account = "joined-later"
    after = site.identify({"code": vendor.scan(site.appid, "lin")})
    assert before.openid == after.openid
    assert before.unionid is None
    assert after.unionid == site_app.unionid(vendor.people["lin"])


def test_a_person_has_one_unionid_and_as_many_openids_as_apps(
    site: Website, vendor: Platform, site_app: PlatformApp
) -> None:
    other = sample_website()
    other.appid = "wx00000000000000c3"
    lin, wei = vendor.people["lin"], vendor.people["wei"]
    assert site_app.unionid(lin) == other.unionid(lin)
    assert site_app.unionid(lin) != site_app.unionid(wei)
    assert site_app.openid(lin) != other.openid(lin)


def test_a_code_is_used_once(site: Website, vendor: Platform) -> None:
    code = vendor.scan(site.appid, "lin")
    site.exchange(code)
    with pytest.raises(CodeUsed):
        site.exchange(code)


def test_of_many_exchanges_of_one_code_at_once_one_succeeds(site: Website, vendor: Platform) -> None:
    code = vendor.scan(site.appid, "lin")

    def exchange(_: int) -> type[object]:
        try:
            return type(site.exchange(code))
        except ClientFault as fault:
            return type(fault)

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(exchange, range(8)))
    assert results.count(CodeUsed) == 7


@pytest.mark.parametrize(("age", "accepted"), [(599, True), (600, False)])
def test_a_code_lasts_ten_minutes(
    age: int, accepted: bool, site: Website, vendor: Platform, vendor_clock: AdjustableClock
) -> None:
    code = vendor.scan(site.appid, "lin")
    vendor_clock.advance(age)
    if accepted:
        assert site.exchange(code).openid
    else:
        with pytest.raises(CodeExpired):
            site.exchange(code)


@pytest.mark.parametrize("code", ["", "made-up", "a&secret=b"])
def test_an_unknown_code_is_invalid(code: str, site: Website) -> None:
    with pytest.raises(CodeInvalid):
        site.exchange(code)


def test_a_code_of_another_app_is_invalid(site: Website, vendor: Platform) -> None:
    other = sample_website()
    other.appid = "wx00000000000000c3"
    vendor.add_app(other)
    with pytest.raises(CodeInvalid):
        site.exchange(vendor.scan(other.appid, "lin"))


def test_a_profile_names_the_person(site: Website, vendor: Platform) -> None:
    grant = site.exchange(vendor.scan(site.appid, "wei"))
    profile = site.profile(grant)
    assert (profile.openid, profile.unionid) == (grant.openid, grant.unionid)
    assert profile.nickname == "魏晨 🌅"


def test_a_nickname_that_cannot_be_had_does_not_undo_a_login(site: Website, vendor: Platform) -> None:
    vendor.failures.plan("/sns/userinfo", 45011)
    identity = site.identify({"code": vendor.scan(site.appid, "lin")})
    assert identity.unionid is not None
    assert identity.nickname is None


def test_a_person_is_not_taken_for_a_new_one_while_the_unionid_cannot_be_had(
    site: Website, vendor: Platform, site_app: PlatformApp
) -> None:
    site_app.account = None
    vendor.failures.plan("/sns/userinfo", 45011)
    with pytest.raises(ProviderUnavailable):
        site.identify({"code": vendor.scan(site.appid, "lin")})


def test_an_access_token_lasts_two_hours(
    site: Website, vendor: Platform, vendor_clock: AdjustableClock
) -> None:
    grant = site.exchange(vendor.scan(site.appid, "lin"))
    vendor_clock.advance(7199)
    assert site.is_valid(grant)
    vendor_clock.advance(1)
    assert not site.is_valid(grant)
    with pytest.raises(TokenRefused):
        site.profile(grant)


def test_a_refreshed_grant_is_valid_again(
    site: Website, vendor: Platform, vendor_clock: AdjustableClock
) -> None:
    grant = site.exchange(vendor.scan(site.appid, "lin"))
    vendor_clock.advance(7200)
    refreshed = site.refresh(grant.refresh_token)
    assert refreshed.openid == grant.openid
    assert site.is_valid(refreshed)


def test_refreshing_does_not_prolong_the_refresh_token(
    site: Website, vendor: Platform, vendor_clock: AdjustableClock
) -> None:
    grant = site.exchange(vendor.scan(site.appid, "lin"))
    vendor_clock.advance(30 * DAY - 1)
    again = site.refresh(grant.refresh_token)
    vendor_clock.advance(1)
    with pytest.raises(RefreshTokenRefused):
        site.refresh(again.refresh_token)


def test_a_made_up_refresh_token_is_refused(site: Website) -> None:
    with pytest.raises(RefreshTokenRefused):
        site.refresh("made-up")
