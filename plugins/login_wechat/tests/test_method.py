"""The login method: accepted attempts, proven credentials and refusals."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from strongroom.plugin_api.login import (
    Client,
    Contact,
    Credential,
    LoginAttempt,
    LoginRejected,
    LoginUnavailable,
)
from strongroom_login_wechat.method import WeChatLogin
from strongroom_login_wechat.options import WeChatOptions
from strongroom_simulators.wechat import Platform, PlatformApp

MakeAttempt = Callable[..., LoginAttempt]


@pytest.mark.parametrize("method", [None, "password", "wechat_union"])
def test_an_attempt_of_another_method_is_none_of_its_business(
    method: str | None, login: WeChatLogin, vendor: Platform
) -> None:
    proof = {"app": "site", "code": "a-code"}
    attempt = LoginAttempt(Client("192.0.2.1"), username="lin", method=method, proof=proof)
    assert login.authenticate(attempt) is None
    assert not vendor.requests


def test_a_scan_proves_openid_and_unionid(
    login: WeChatLogin, attempt: MakeAttempt, vendor: Platform, site_app: PlatformApp
) -> None:
    verified = login.authenticate(attempt(app="site", code=vendor.scan(site_app.appid, "lin")))
    lin, unionid = vendor.people["lin"], site_app.unionid(vendor.people["lin"])
    assert unionid is not None
    assert verified is not None
    assert verified.credential == Credential("wechat", f"{site_app.appid}:{site_app.openid(lin)}")
    assert verified.also == (Credential("wechat_union", f"main:{unionid}"),)
    assert verified.display_name == "林小雨"
    assert verified.may_register


def test_a_mini_program_proves_the_same_without_a_redirect(
    login: WeChatLogin, attempt: MakeAttempt, vendor: Platform, mini_app: PlatformApp
) -> None:
    verified = login.authenticate(attempt(app="mini", code=vendor.log_in(mini_app.appid, "lin")))
    lin, unionid = vendor.people["lin"], mini_app.unionid(vendor.people["lin"])
    assert unionid is not None
    assert verified is not None
    assert verified.credential == Credential("wechat", f"{mini_app.appid}:{mini_app.openid(lin)}")
    assert verified.also == (Credential("wechat_union", f"main:{unionid}"),)


def test_a_phone_code_proves_the_number_too(
    login: WeChatLogin, attempt: MakeAttempt, vendor: Platform, mini_app: PlatformApp
) -> None:
    code = vendor.log_in(mini_app.appid, "lin")
    phone_code = vendor.give_phone_number(mini_app.appid, "lin")
    verified = login.authenticate(attempt(app="mini", code=code, phoneCode=phone_code))
    assert verified is not None
    mobile = Credential("mobile", "+8613800000001")
    # Only with `trust_mobile` may it lead to a user.
    assert verified.contacts == (Contact(mobile, is_proven=True),)
    assert mobile not in verified.further


def test_without_a_unionid_or_number_the_openid_stands_alone(
    login: WeChatLogin, attempt: MakeAttempt, vendor: Platform, mini_app: PlatformApp
) -> None:
    mini_app.account = None
    verified = login.authenticate(attempt(app="mini", code=vendor.log_in(mini_app.appid, "lin")))
    assert verified is not None
    assert (verified.also, verified.contacts) == ((), ())


def test_registration_is_the_deployers_choice(
    make_login: Callable[[WeChatOptions], WeChatLogin],
    options: WeChatOptions,
    attempt: MakeAttempt,
    vendor: Platform,
    mini_app: PlatformApp,
) -> None:
    login = make_login(replace(options, register=False))
    verified = login.authenticate(attempt(app="mini", code=vendor.log_in(mini_app.appid, "lin")))
    assert verified is not None
    assert not verified.may_register


@pytest.mark.parametrize("app", ["", "another"])
def test_an_app_that_is_not_configured_is_rejected(
    app: str, login: WeChatLogin, attempt: MakeAttempt
) -> None:
    with pytest.raises(LoginRejected) as rejected:
        login.authenticate(attempt(app=app, code="a-code"))
    assert rejected.value.code == "error.wechat-app-unknown"


def test_an_attempt_without_a_code_is_rejected(login: WeChatLogin, attempt: MakeAttempt) -> None:
    with pytest.raises(LoginRejected) as rejected:
        login.authenticate(attempt(app="site"))
    assert rejected.value.code == "error.wechat-access-denied"


def test_a_code_of_the_other_kind_of_app_is_rejected(
    login: WeChatLogin, attempt: MakeAttempt, vendor: Platform, mini_app: PlatformApp
) -> None:
    with pytest.raises(LoginRejected) as rejected:
        login.authenticate(attempt(app="site", code=vendor.log_in(mini_app.appid, "lin")))
    assert rejected.value.code == "error.wechat-code-invalid"


@pytest.mark.parametrize(
    ("errcode", "code"),
    [
        (40029, "error.wechat-code-invalid"),
        (40163, "error.wechat-code-used"),
        (42003, "error.wechat-code-expired"),
        (40226, "error.wechat-person-blocked"),
    ],
)
def test_a_fault_of_the_client_is_rejected_with_its_code(
    errcode: int, code: str, login: WeChatLogin, attempt: MakeAttempt, vendor: Platform
) -> None:
    vendor.failures.plan("/sns/jscode2session", errcode)
    with pytest.raises(LoginRejected) as rejected:
        login.authenticate(attempt(app="mini", code="a-code"))
    assert rejected.value.code == code


def test_a_wrong_phone_code_is_rejected_with_a_code_of_its_own(
    login: WeChatLogin, attempt: MakeAttempt, vendor: Platform, mini_app: PlatformApp
) -> None:
    code = vendor.log_in(mini_app.appid, "lin")
    with pytest.raises(LoginRejected) as rejected:
        login.authenticate(attempt(app="mini", code=code, phoneCode="made-up"))
    assert rejected.value.code == "error.wechat-phone-code-invalid"


@pytest.mark.parametrize("errcode", [40001, 40013, 40125])
def test_the_operators_fault_is_said_in_one_line_that_names_the_section(
    errcode: int, login: WeChatLogin, attempt: MakeAttempt, vendor: Platform
) -> None:
    vendor.failures.plan("/sns/oauth2/access_token", errcode, message="wrong\nsecret website-secret")
    with pytest.raises(LoginUnavailable) as raised:
        login.authenticate(attempt(app="site", code="a-code"))
    assert raised.value.misconfigured
    assert str(raised.value) == (
        "WeChat refuses [login.wechat.apps.site]: "
        f"/sns/oauth2/access_token returned errcode {errcode}: wrong secret ***"
    )


@pytest.mark.parametrize(("errcode", "seconds"), [(-1, 5), (45009, 3600), (45011, 60), (99999, 5)])
def test_an_unavailable_platform_has_a_retry_after(
    errcode: int, seconds: int, login: WeChatLogin, attempt: MakeAttempt, vendor: Platform
) -> None:
    vendor.failures.plan("/sns/oauth2/access_token", errcode, times=3)
    with pytest.raises(LoginUnavailable) as raised:
        login.authenticate(attempt(app="site", code="a-code"))
    assert not raised.value.misconfigured
    assert raised.value.retry_after == seconds


def test_two_openids_of_one_app_are_two_people(login: WeChatLogin) -> None:
    lin, wei = Credential("wechat", "wx1:lin"), Credential("wechat", "wx1:wei")
    elsewhere, mail = Credential("wechat", "wx2:lin"), Credential("email", "lin@example.org")
    assert set(login.replaced([lin, wei, elsewhere, mail])) == {lin, wei, elsewhere}
    assert not login.replaced([lin, elsewhere, mail])


def test_two_unionids_of_one_account_are_two_people(login: WeChatLogin) -> None:
    lin, wei = Credential("wechat_union", "main:lin"), Credential("wechat_union", "main:wei")
    assert set(login.replaced([lin, wei])) == {lin, wei}
    assert not login.replaced([lin, Credential("wechat_union", "other:lin")])
