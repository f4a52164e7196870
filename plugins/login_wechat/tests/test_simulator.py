"""The simulator's interfaces, called by plain HTTP as documented."""

from typing import Any

import pytest
import requests

from strongroom_simulators.wechat import (
    AdjustableClock,
    Person,
    Platform,
    PlatformApp,
    Simulator,
)
from strongroom_simulators.wechat.refusals import MESSAGES


@pytest.fixture
def exchange(simulator: Simulator, site_app: PlatformApp) -> dict[str, str]:
    return {
        "appid": site_app.appid,
        "secret": site_app.secret,
        "code": simulator.platform.scan(site_app.appid, "lin"),
        "grant_type": "authorization_code",
    }


def _get(simulator: Simulator, path: str, **query: str) -> dict[str, Any]:
    response = requests.get(simulator.url + path, params=query, timeout=30)
    assert response.status_code == 200
    return _json(response)


def _post(simulator: Simulator, path: str, body: dict[str, Any], **query: str) -> dict[str, Any]:
    response = requests.post(simulator.url + path, params=query, json=body, timeout=30)
    assert response.status_code == 200
    return _json(response)


def _json(response: requests.Response) -> dict[str, Any]:
    response.encoding = "utf-8"
    members = response.json()
    assert isinstance(members, dict)
    return members


def test_an_exchange_has_the_documented_members(simulator: Simulator, exchange: dict[str, str]) -> None:
    answer = _get(simulator, "/sns/oauth2/access_token", **exchange)
    assert set(answer) == {
        "access_token", "expires_in", "refresh_token", "openid", "scope", "unionid"
    }  # fmt: skip
    assert answer["expires_in"] == 7200
    assert answer["scope"] == "snsapi_login"


def test_answers_are_text_plain_without_a_charset(
    simulator: Simulator, exchange: dict[str, str]
) -> None:
    url = f"{simulator.url}/sns/oauth2/access_token"
    assert requests.get(url, params=exchange, timeout=30).headers["Content-Type"] == "text/plain"


@pytest.mark.parametrize(
    ("parameter", "value", "errcode"),
    [
        ("appid", "wx0000000000000000", 40013),
        ("appid", "wx00000000000000b2", 40013),
        ("secret", "wrong", 40125),
        ("code", "wrong", 40029),
        ("grant_type", "client_credential", 40002),
    ],
)
def test_a_wrong_exchange_has_the_documented_errcode(
    parameter: str, value: str, errcode: int, simulator: Simulator, exchange: dict[str, str]
) -> None:
    answer = _get(simulator, "/sns/oauth2/access_token", **{**exchange, parameter: value})
    assert answer == {"errcode": errcode, "errmsg": MESSAGES[errcode]}


def test_a_wrong_exchange_leaves_the_code_for_the_right_one(
    simulator: Simulator, exchange: dict[str, str]
) -> None:
    _get(simulator, "/sns/oauth2/access_token", **{**exchange, "secret": "wrong"})
    assert "openid" in _get(simulator, "/sns/oauth2/access_token", **exchange)


def test_an_access_token_is_of_one_openid(
    simulator: Simulator, exchange: dict[str, str], site_app: PlatformApp
) -> None:
    token = _get(simulator, "/sns/oauth2/access_token", **exchange)["access_token"]
    wei = site_app.openid(simulator.platform.people["wei"])
    for path in ("/sns/userinfo", "/sns/auth"):
        assert _get(simulator, path, access_token=token, openid=wei)["errcode"] == 40003
        assert _get(simulator, path, access_token="wrong", openid=wei)["errcode"] == 40014


def test_a_valid_token_has_errcode_zero(simulator: Simulator, exchange: dict[str, str]) -> None:
    grant = _get(simulator, "/sns/oauth2/access_token", **exchange)
    query = {"access_token": grant["access_token"], "openid": grant["openid"]}
    assert _get(simulator, "/sns/auth", **query) == {"errcode": 0, "errmsg": "ok"}


def test_an_expired_token_has_the_documented_errcode(
    simulator: Simulator, exchange: dict[str, str], vendor_clock: AdjustableClock
) -> None:
    grant = _get(simulator, "/sns/oauth2/access_token", **exchange)
    vendor_clock.advance(7200)
    query = {"access_token": grant["access_token"], "openid": grant["openid"]}
    assert _get(simulator, "/sns/auth", **query)["errcode"] == 42001


def test_a_refresh_token_of_another_app_is_refused(
    simulator: Simulator, exchange: dict[str, str]
) -> None:
    grant = _get(simulator, "/sns/oauth2/access_token", **exchange)
    other = PlatformApp("wx00000000000000c3", "secret", "website", domain="127.0.0.1")
    simulator.platform.add_app(other)
    query = {"appid": other.appid, "refresh_token": grant["refresh_token"]}
    answer = _get(simulator, "/sns/oauth2/refresh_token", grant_type="refresh_token", **query)
    assert answer["errcode"] == 40030


def test_the_stable_token_is_the_same_until_forced(
    simulator: Simulator, mini_app: PlatformApp, vendor_clock: AdjustableClock
) -> None:
    body: dict[str, Any] = {"appid": mini_app.appid, "secret": mini_app.secret}
    body["grant_type"] = "client_credential"
    first = _post(simulator, "/cgi-bin/stable_token", body)
    vendor_clock.advance(100)
    again = _post(simulator, "/cgi-bin/stable_token", {**body, "force_refresh": False})
    forced = _post(simulator, "/cgi-bin/stable_token", {**body, "force_refresh": True})
    assert again == {"access_token": first["access_token"], "expires_in": 7100}
    assert forced["access_token"] != first["access_token"]
    assert forced["expires_in"] == 7200


@pytest.mark.parametrize(
    ("member", "value", "errcode"),
    [
        ("grant_type", "authorization_code", 40002),
        ("appid", None, 40013),
        ("secret", "wrong", 40125),
    ],
)
def test_a_stable_token_requires_the_secret(
    member: str, value: str | None, errcode: int, simulator: Simulator, mini_app: PlatformApp
) -> None:
    body = {"grant_type": "client_credential", "appid": mini_app.appid, "secret": mini_app.secret}
    assert _post(simulator, "/cgi-bin/stable_token", {**body, member: value})["errcode"] == errcode


@pytest.mark.parametrize(("forced", "errcode"), [(False, 40001), (True, 42001)])
def test_a_phone_number_is_not_for_a_wrong_token(
    forced: bool, errcode: int, simulator: Simulator, mini_app: PlatformApp
) -> None:
    tokens = simulator.platform.app_tokens
    token = str(tokens.get(mini_app, force=False)["access_token"]) if forced else "wrong"
    tokens.get(mini_app, force=True)
    path = "/wxa/business/getuserphonenumber"
    assert _post(simulator, path, {"code": "c"}, access_token=token)["errcode"] == errcode


def test_a_phone_number_has_the_documented_members(simulator: Simulator, mini_app: PlatformApp) -> None:
    token = str(simulator.platform.app_tokens.get(mini_app, force=False)["access_token"])
    code = simulator.platform.give_phone_number(mini_app.appid, "ada")
    path = "/wxa/business/getuserphonenumber"
    phone = _post(simulator, path, {"code": code}, access_token=token)["phone_info"]
    assert phone["purePhoneNumber"] == "7400123456"
    assert phone["countryCode"] == 44
    assert phone["watermark"]["appid"] == mini_app.appid


@pytest.mark.parametrize("errcode", sorted(MESSAGES))
def test_every_documented_errcode_comes_on_demand(errcode: int, simulator: Simulator) -> None:
    plan = {"path": "/sns/jscode2session", "errcode": errcode, "times": 2}
    _post(simulator, "/simulator/failures", plan)
    answers = [_get(simulator, "/sns/jscode2session") for _ in range(3)]
    assert [answer["errcode"] for answer in answers] == [errcode, errcode, 40013]


def test_a_mini_program_logs_in_by_command(simulator: Simulator, mini_app: PlatformApp) -> None:
    person = {"appid": mini_app.appid, "person": "lin"}
    code = _post(simulator, "/simulator/login-codes", person)["code"]
    query = {"appid": mini_app.appid, "secret": mini_app.secret, "js_code": code}
    session = _get(simulator, "/sns/jscode2session", grant_type="authorization_code", **query)
    assert session["openid"] == mini_app.openid(simulator.platform.people["lin"])
    assert set(_post(simulator, "/simulator/user-data", person)) == {
        "rawData", "signature", "encryptedData", "iv"
    }  # fmt: skip


def test_a_command_creates_a_phone_code(simulator: Simulator, mini_app: PlatformApp) -> None:
    code = _post(simulator, "/simulator/phone-codes", {"appid": mini_app.appid, "person": "lin"})["code"]
    token = str(simulator.platform.app_tokens.get(mini_app, force=False)["access_token"])
    path = "/wxa/business/getuserphonenumber"
    assert _post(simulator, path, {"code": code}, access_token=token)["errcode"] == 0


def test_an_unknown_person_is_refused(simulator: Simulator, mini_app: PlatformApp) -> None:
    url = f"{simulator.url}/simulator/login-codes"
    body = {"appid": mini_app.appid, "person": "nobody"}
    assert requests.post(url, json=body, timeout=30).status_code == 404


def test_the_clock_moves_by_command(simulator: Simulator, vendor_clock: AdjustableClock) -> None:
    before = vendor_clock()
    assert _post(simulator, "/simulator/clock", {"advance": 600})["now"] == before + 600
    assert vendor_clock() == before + 600


def test_an_app_joins_an_account_by_command(
    simulator: Simulator, exchange: dict[str, str], site_app: PlatformApp
) -> None:
    _post(simulator, "/simulator/accounts", {"appid": site_app.appid, "account": None})
    first = _get(simulator, "/sns/oauth2/access_token", **exchange)
    _post(simulator, "/simulator/accounts", {"appid": site_app.appid, "account": "joined"})
    exchange["code"] = simulator.platform.scan(site_app.appid, "lin")
    second = _get(simulator, "/sns/oauth2/access_token", **exchange)
    assert "unionid" not in first
    assert second["unionid"] == site_app.unionid(simulator.platform.people["lin"])


def test_a_person_and_an_app_are_added_while_it_runs(simulator: Simulator) -> None:
    app = PlatformApp("wx00000000000000d4", "secret", "mini_program")
    simulator.platform.add_app(app)
    simulator.platform.add_person(Person("new", nickname="New"))
    body = {"appid": app.appid, "person": "new"}
    assert _post(simulator, "/simulator/login-codes", body)["code"]


def test_two_simulators_share_nothing(simulator: Simulator, site_app: PlatformApp) -> None:
    other = Platform()
    assert site_app.appid in simulator.platform.apps
    assert other.apps == {}
    assert other.people == {}
