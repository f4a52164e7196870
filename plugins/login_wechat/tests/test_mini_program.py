"""A mini program against the simulator."""

import pytest

from strongroom_login_oauth.errors import CodeInvalid, Misconfigured, ProviderUnavailable
from strongroom_login_wechat.crypto import sign
from strongroom_login_wechat.errors import DataInvalid, PersonBlocked, PhoneCodeInvalid
from strongroom_login_wechat.mini_program import MiniProgram
from strongroom_simulators.wechat import AdjustableClock, Platform, PlatformApp
from strongroom_simulators.wechat.codes import LOGIN
from strongroom_simulators.wechat.user_data import encrypt

from .harness import identify

PHONE_PATH = "/wxa/business/getuserphonenumber"


def test_a_login_code_identifies_the_person(
    mini: MiniProgram, vendor: Platform, mini_app: PlatformApp
) -> None:
    identity = identify(mini, vendor.log_in(mini.appid, "lin"))
    lin = vendor.people["lin"]
    assert identity.openid == mini_app.openid(lin)
    assert identity.unionid == mini_app.unionid(lin)
    assert identity.mobile is None
    assert identity.nickname is None


def test_a_person_is_the_same_by_unionid_in_both_kinds_of_app(
    vendor: Platform, site_app: PlatformApp, mini_app: PlatformApp, mini: MiniProgram
) -> None:
    session = identify(mini, vendor.log_in(mini.appid, "lin"))
    assert session.unionid == site_app.unionid(vendor.people["lin"])


def test_a_login_code_is_used_once(mini: MiniProgram, vendor: Platform) -> None:
    code = vendor.log_in(mini.appid, "lin")
    identify(mini, code)
    with pytest.raises(CodeInvalid):
        identify(mini, code)


@pytest.mark.parametrize(("age", "accepted"), [(299, True), (300, False)])
def test_a_login_code_lasts_five_minutes(
    age: int, accepted: bool, mini: MiniProgram, vendor: Platform, vendor_clock: AdjustableClock
) -> None:
    code = vendor.log_in(mini.appid, "lin")
    vendor_clock.advance(age)
    if accepted:
        assert identify(mini, code).openid
    else:
        with pytest.raises(CodeInvalid):
            identify(mini, code)


@pytest.mark.parametrize("code", ["", "made-up"])
def test_an_unknown_login_code_is_invalid(code: str, mini: MiniProgram) -> None:
    with pytest.raises(CodeInvalid):
        identify(mini, code)


def test_a_risky_person_is_blocked(mini: MiniProgram, vendor: Platform) -> None:
    vendor.failures.plan("/sns/jscode2session", 40226)
    with pytest.raises(PersonBlocked):
        identify(mini, vendor.log_in(mini.appid, "lin"))


def test_a_person_logs_in_a_hundred_times_a_minute_at_most(
    mini: MiniProgram, vendor: Platform, vendor_clock: AdjustableClock
) -> None:
    for _ in range(100):
        identify(mini, vendor.log_in(mini.appid, "lin"))
    with pytest.raises(ProviderUnavailable, match="45011"):
        identify(mini, vendor.log_in(mini.appid, "lin"))
    identify(mini, vendor.log_in(mini.appid, "wei"))
    vendor_clock.advance(60)
    identify(mini, vendor.log_in(mini.appid, "lin"))


@pytest.mark.parametrize(("person", "number"), [("lin", "+8613800000001"), ("ada", "+447400123456")])
def test_a_phone_code_gives_the_verified_number_in_e164(
    person: str, number: str, mini: MiniProgram, vendor: Platform
) -> None:
    code = vendor.log_in(mini.appid, person)
    phone_code = vendor.give_phone_number(mini.appid, person)
    assert identify(mini, code, phoneCode=phone_code).mobile == number


def test_a_phone_code_is_used_once(mini: MiniProgram, vendor: Platform) -> None:
    code = vendor.give_phone_number(mini.appid, "lin")
    mini.phone_number(code)
    with pytest.raises(PhoneCodeInvalid):
        mini.phone_number(code)


def test_a_phone_code_lasts_five_minutes(
    mini: MiniProgram, vendor: Platform, vendor_clock: AdjustableClock
) -> None:
    code = vendor.give_phone_number(mini.appid, "lin")
    vendor_clock.advance(300)
    with pytest.raises(PhoneCodeInvalid):
        mini.phone_number(code)


def test_a_login_code_is_no_phone_code(mini: MiniProgram, vendor: Platform) -> None:
    with pytest.raises(PhoneCodeInvalid):
        mini.phone_number(vendor.log_in(mini.appid, "lin"))


@pytest.mark.parametrize("phone_code", ["", "made-up"])
def test_a_wrong_phone_code_spoils_the_login(
    phone_code: str, mini: MiniProgram, vendor: Platform
) -> None:
    code = vendor.log_in(mini.appid, "lin")
    with pytest.raises(PhoneCodeInvalid):
        identify(mini, code, phoneCode=phone_code)


@pytest.mark.parametrize(
    ("country_code", "number", "appid"),
    [
        ('"86"', "13800000001", "wx0000000000000000"),
        ('"86"', "138-0000-0001", "wx00000000000000b2"),
        ('"0"', "13800000001", "wx00000000000000b2"),
        ("null", "13800000001", "wx00000000000000b2"),
    ],
)
def test_a_phone_number_that_is_not_to_be_trusted_is_not(
    country_code: str, number: str, appid: str, mini: MiniProgram, vendor: Platform
) -> None:
    phone = (
        f'{{"purePhoneNumber": "{number}", "countryCode": {country_code},'
        f' "watermark": {{"appid": "{appid}"}}}}'
    )
    vendor.failures.plan_answer(PHONE_PATH, f'{{"phone_info": {phone}}}'.encode())
    with pytest.raises(ProviderUnavailable):
        mini.phone_number("a-code")


def test_a_country_code_may_be_a_text(mini: MiniProgram, vendor: Platform) -> None:
    watermark = f'"watermark": {{"appid": "{mini.appid}"}}'
    phone = f'{{"purePhoneNumber": "13800000001", "countryCode": "86", {watermark}}}'
    vendor.failures.plan_answer(PHONE_PATH, f'{{"phone_info": {phone}}}'.encode())
    assert mini.phone_number("a-code") == "+8613800000001"


def test_encrypted_data_gives_a_nickname(mini: MiniProgram, vendor: Platform) -> None:
    code = vendor.log_in(mini.appid, "wei")
    data = vendor.give_user_data(mini.appid, "wei")
    assert identify(mini, code, **_encrypted(data)).nickname == "魏晨 🌅"


def test_signed_data_gives_a_nickname(mini: MiniProgram, vendor: Platform) -> None:
    code = vendor.log_in(mini.appid, "wei")
    data = vendor.give_user_data(mini.appid, "wei")
    signed = {"rawData": data["rawData"], "signature": data["signature"]}
    assert identify(mini, code, **signed).nickname == "魏晨 🌅"


def test_no_unionid_is_taken_from_encrypted_data(
    mini: MiniProgram, vendor: Platform, mini_app: PlatformApp, vendor_clock: AdjustableClock
) -> None:
    mini_app.account = None
    code = vendor.log_in(mini.appid, "lin")
    claimed = {
        "openId": mini_app.openid(vendor.people["lin"]),
        "unionId": "somebody-else",
        "watermark": {"appid": mini.appid, "timestamp": int(vendor_clock())},
    }
    data = encrypt(claimed, vendor.session_key(mini.appid, "lin"))
    assert identify(mini, code, **data).unionid is None


def test_data_of_an_older_session_is_refused(mini: MiniProgram, vendor: Platform) -> None:
    vendor.log_in(mini.appid, "lin")
    data = vendor.give_user_data(mini.appid, "lin")
    code = vendor.log_in(mini.appid, "lin")
    with pytest.raises(DataInvalid):
        identify(mini, code, **_encrypted(data))


def test_data_of_another_person_is_refused(
    mini: MiniProgram, vendor: Platform, mini_app: PlatformApp, vendor_clock: AdjustableClock
) -> None:
    code = vendor.log_in(mini.appid, "lin")
    of_wei = {
        "openId": mini_app.openid(vendor.people["wei"]),
        "watermark": {"appid": mini.appid, "timestamp": int(vendor_clock())},
    }
    data = encrypt(of_wei, vendor.session_key(mini.appid, "lin"))
    with pytest.raises(DataInvalid, match="another person"):
        identify(mini, code, **data)


def test_data_older_than_allowed_is_refused(
    mini: MiniProgram, vendor: Platform, mini_app: PlatformApp, vendor_clock: AdjustableClock
) -> None:
    vendor.log_in(mini.appid, "lin")
    data = vendor.give_user_data(mini.appid, "lin")
    vendor_clock.advance(301)
    code = vendor.codes.issue(LOGIN, mini_app, vendor.people["lin"])
    with pytest.raises(DataInvalid, match="timestamp"):
        identify(mini, code, **_encrypted(data))


@pytest.mark.parametrize("raw_data", ["[]", "null", "{", "[" * 100_000])
def test_signed_data_that_is_no_object_is_refused(
    raw_data: str, mini: MiniProgram, vendor: Platform
) -> None:
    code = vendor.log_in(mini.appid, "lin")
    signature = sign(raw_data, vendor.session_key(mini.appid, "lin"))
    with pytest.raises(DataInvalid):
        identify(mini, code, rawData=raw_data, signature=signature)


@pytest.mark.parametrize("missing", ["iv", "signature"])
def test_data_without_its_companion_is_refused(
    missing: str, mini: MiniProgram, vendor: Platform
) -> None:
    code = vendor.log_in(mini.appid, "lin")
    data = vendor.give_user_data(mini.appid, "lin")
    alone = "encryptedData" if missing == "iv" else "rawData"
    with pytest.raises(DataInvalid):
        identify(mini, code, **{alone: data[alone]})


def test_a_secret_that_the_platform_does_not_know_is_the_operators_fault(
    mini: MiniProgram, vendor: Platform, mini_app: PlatformApp
) -> None:
    mini_app.secret = "changed at the platform"
    with pytest.raises(Misconfigured):
        identify(mini, vendor.log_in(mini.appid, "lin"))


def _encrypted(data: dict[str, str]) -> dict[str, str]:
    return {"encryptedData": data["encryptedData"], "iv": data["iv"]}
