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
)
from strongroom_login_oauth.provider import Start
from strongroom_login_wechat.website import Website
from strongroom_simulators.wechat import (
    AdjustableClock,
    Platform,
    PlatformApp,
    Simulator,
    sample_website,
)

from .harness import identify

Decide = Callable[..., dict[str, list[str]]]
REDIRECT_URI = "http://127.0.0.1/wechat/callback?to=a b&lang=中文"


def test_the_authorize_url_has_every_parameter(site: Website, simulator: Simulator) -> None:
    url = urlsplit(site.authorize_url(Start("s&t=1", REDIRECT_URI, language="en")))
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
    assert encoded in site.authorize_url(Start("s", REDIRECT_URI))


def test_the_language_is_left_to_the_platform_unless_given(site: Website) -> None:
    assert "lang=" not in site.authorize_url(Start("s", REDIRECT_URI)).split("state=")[1]


def test_a_confirmed_scan_identifies_the_person(
    site: Website, decide: Decide, vendor: Platform, site_app: PlatformApp
) -> None:
    sent_back = decide(site.authorize_url(Start("s1", REDIRECT_URI)), person="lin", decision="confirm")
    assert sent_back["state"] == ["s1"]
    identity = identify(site, sent_back["code"][0])
    lin = vendor.people["lin"]
    assert identity.openid == site_app.openid(lin)
    assert identity.unionid == site_app.unionid(lin)
    assert identity.nickname == "林小雨"
    assert identity.mobile is None


def test_a_unionid_is_absent_until_the_app_joins_an_account(
    site: Website, vendor: Platform, site_app: PlatformApp
) -> None:
    site_app.account = None
    before = identify(site, vendor.scan(site.appid, "lin"))
    site_app.account = "joined-later"
    after = identify(site, vendor.scan(site.appid, "lin"))
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
    identify(site, code)
    with pytest.raises(CodeUsed):
        identify(site, code)


def test_of_many_exchanges_of_one_code_at_once_one_succeeds(site: Website, vendor: Platform) -> None:
    code = vendor.scan(site.appid, "lin")

    def exchange(_: int) -> type[object]:
        try:
            return type(identify(site, code))
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
        assert identify(site, code).openid
    else:
        with pytest.raises(CodeExpired):
            identify(site, code)


@pytest.mark.parametrize("code", ["made-up", "a&secret=b"])
def test_an_unknown_code_is_invalid(code: str, site: Website) -> None:
    with pytest.raises(CodeInvalid):
        identify(site, code)


def test_a_code_of_another_app_is_invalid(site: Website, vendor: Platform) -> None:
    other = sample_website()
    other.appid = "wx00000000000000c3"
    vendor.add_app(other)
    with pytest.raises(CodeInvalid):
        identify(site, vendor.scan(other.appid, "lin"))


def test_a_nickname_that_cannot_be_had_does_not_undo_a_login(site: Website, vendor: Platform) -> None:
    vendor.failures.plan("/sns/userinfo", 45011)
    identity = identify(site, vendor.scan(site.appid, "lin"))
    assert identity.unionid is not None
    assert identity.nickname is None


def test_a_person_is_not_taken_for_a_new_one_while_the_unionid_cannot_be_had(
    site: Website, vendor: Platform, site_app: PlatformApp
) -> None:
    site_app.account = None
    vendor.failures.plan("/sns/userinfo", 45011)
    with pytest.raises(ProviderUnavailable):
        identify(site, vendor.scan(site.appid, "lin"))
