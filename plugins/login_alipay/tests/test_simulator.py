"""The simulated platform checks what the real one checks."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from tests.support.alipay import REDIRECT

from strongroom_simulators.alipay import KeyPair, Simulator
from strongroom_simulators.alipay.keys import verifies

APP_ID = "2021000000000001"
CHINA = timezone(timedelta(hours=8))


class Caller:
    """Calls the gateway as the sample app."""

    def __init__(self, simulator: Simulator, keys: KeyPair) -> None:
        self.platform = simulator.platform
        self.url = simulator.url
        self._keys = keys

    def send(self, **changes: str | None) -> requests.Response:
        parameters = {
            "app_id": APP_ID,
            "method": "alipay.system.oauth.token",
            "format": "JSON",
            "charset": "utf-8",
            "sign_type": "RSA2",
            "timestamp": f"{datetime.fromtimestamp(self.platform.clock(), CHINA):%Y-%m-%d %H:%M:%S}",
            "version": "1.0",
            "grant_type": "authorization_code",
            **changes,
        }
        form = {name: value for name, value in parameters.items() if value}
        text = "&".join(f"{name}={value}" for name, value in sorted(form.items()))
        form.setdefault("sign", self._keys.sign(text.encode()))
        return requests.post(f"{self.url}/gateway.do", data=form, timeout=30)

    def call(self, **changes: str | None) -> dict[str, Any]:
        response = self.send(**changes).json()
        name = next(name for name in response if name.endswith("_response"))
        members: dict[str, Any] = response[name]
        return members

    def code(self, scope: str = "auth_user") -> str:
        return self.platform.authorize(APP_ID, "wei", scope=scope)


@pytest.fixture
def caller(simulator: Simulator, app_keys: KeyPair) -> Caller:
    return Caller(simulator, app_keys)


def test_the_signature_covers_the_exact_text_of_the_response(caller: Caller) -> None:
    body = caller.send(code=caller.code()).text
    content = body.removeprefix('{"alipay_system_oauth_token_response":').partition(',"sign":')[0]
    sign = json.loads(body)["sign"]
    assert verifies(caller.platform.keys.public, sign, content.encode())
    assert not verifies(caller.platform.keys.public, sign, content.replace(":", ": ").encode())


def test_a_code_is_good_once_and_for_a_day(caller: Caller) -> None:
    code = caller.code()
    assert caller.call(code=code)["open_id"]
    assert caller.call(code=code)["sub_code"] == "isv.code-invalid"
    late = caller.code()
    caller.platform.clock.advance(24 * 3600)
    assert caller.call(code=late)["sub_code"] == "isv.code-invalid"


@pytest.mark.parametrize(
    ("changes", "sub_code"),
    [
        ({"app_id": None}, "isv.missing-app-id"),
        ({"app_id": "2021"}, "isv.invalid-app-id"),
        ({"method": None}, "isv.missing-method"),
        ({"method": "alipay.trade.pay"}, "isv.invalid-method"),
        ({"sign": "AAAA"}, "isv.invalid-signature"),
        ({"sign": "%"}, "isv.invalid-signature"),
        ({"sign_type": "RSA"}, "isv.invalid-signature-type"),
        ({"charset": "gbk"}, "isv.invalid-charset"),
        ({"version": "2.0"}, "isv.invalid-format"),
        ({"timestamp": None}, "isv.missing-timestamp"),
        ({"timestamp": "now"}, "isv.invalid-timestamp"),
        ({"app_cert_sn": "a"}, "isv.app-cert-expired"),
        ({"grant_type": "password"}, "isv.grant-type-invalid"),
        ({"code": "unknown"}, "isv.code-invalid"),
        ({"method": "alipay.user.info.share", "auth_token": "x"}, "aop.invalid-auth-token"),
    ],
)
def test_wrong_requests_are_refused(
    caller: Caller, changes: dict[str, str | None], sub_code: str
) -> None:
    assert caller.call(**changes)["sub_code"] == sub_code


def test_the_timestamp_is_the_time_of_china(caller: Caller) -> None:
    elsewhere = f"{datetime.fromtimestamp(caller.platform.clock(), UTC):%Y-%m-%d %H:%M:%S}"
    assert caller.call(timestamp=elsewhere)["sub_code"] == "isv.invalid-timestamp"


def test_the_nickname_needs_consent(caller: Caller) -> None:
    share = "alipay.user.info.share"
    token = caller.call(code=caller.code())["access_token"]
    name = caller.call(method=share, auth_token=token)["nick_name"]
    assert name == caller.platform.people["wei"].nick_name
    silent = caller.call(code=caller.code("auth_base"))["access_token"]
    refusal = caller.call(method=share, auth_token=silent)
    assert refusal["sub_code"] == "isv.insufficient-isv-permissions"


def test_requests_are_limited(caller: Caller) -> None:
    for _ in range(100):
        caller.platform.limit.hit(APP_ID)
    assert caller.call(code=caller.code())["code"] == "40005"


class TestPage:
    def page(self, caller: Caller, agent: str = "Firefox", **changes: str) -> requests.Response:
        query = {"app_id": APP_ID, "scope": "auth_user", "redirect_uri": REDIRECT, "state": "s"}
        url = f"{caller.url}/oauth2/publicAppAuthorize.htm"
        headers = {"User-Agent": agent}
        return requests.get(url, params=query | changes, headers=headers, timeout=30)

    def test_it_has_a_qr_code_outside_of_the_app(self, caller: Caller) -> None:
        assert "data:image/svg" in self.page(caller).text
        assert "data:image/svg" not in self.page(caller, "Mozilla/5.0 AlipayClient/10.5").text

    @pytest.mark.parametrize(
        "changes",
        [
            {"app_id": "2021"},
            {"redirect_uri": f"{REDIRECT}/x"},
            {"scope": "auth_zhima"},
            {"state": "s" * 101},
        ],
    )
    def test_wrong_parameters_are_refused(self, caller: Caller, changes: dict[str, str]) -> None:
        assert self.page(caller, **changes).status_code == 400

    def test_it_leads_back_with_the_code_and_the_app(self, caller: Caller) -> None:
        form = {"person": "ada", "decision": "confirm"}
        url = self.page(caller).url
        response = requests.post(url, data=form, allow_redirects=False, timeout=30)
        query = parse_qs(urlsplit(response.headers["Location"]).query)
        assert query["app_id"] == [APP_ID]
        assert caller.call(code=query["auth_code"][0])["open_id"]
