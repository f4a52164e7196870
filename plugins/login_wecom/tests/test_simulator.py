"""The simulator's pages and interfaces, called by plain HTTP as documented."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.wecom import Platform, PlatformApp, Simulator, Status, sample_app
from strongroom_simulators.wecom.codes import PRIVATE
from strongroom_simulators.wecom.interfaces import (
    GET_TOKEN,
    GET_USER,
    GET_USER_DETAIL,
    GET_USER_INFO,
)
from strongroom_simulators.wecom.pages import IN_APP_PAGE, QR_PAGE

TIMEOUT = 30
BACK = "http://127.0.0.1/back?to=a b"
IN_APP = {"User-Agent": "Mozilla/5.0 (iPhone) Mobile wxwork/4.1.0 MicroMessenger/7.0.1"}


def get(simulator: Simulator, path: str, **query: str) -> dict[str, Any]:
    response = requests.get(simulator.url + path, params=query, timeout=TIMEOUT)
    assert response.status_code == 200
    members: dict[str, Any] = response.json()
    return members


def token(simulator: Simulator, app: PlatformApp) -> str:
    answer = get(simulator, GET_TOKEN, corpid=app.corpid, corpsecret=app.secret)
    assert (answer["errcode"], answer["errmsg"]) == (0, "ok")
    value: str = answer["access_token"]
    return value


def user_info(simulator: Simulator, app: PlatformApp, code: str) -> dict[str, Any]:
    return get(simulator, GET_USER_INFO, access_token=token(simulator, app), code=code)


def detail(simulator: Simulator, app: PlatformApp, ticket: str) -> dict[str, Any]:
    url = f"{simulator.url}{GET_USER_DETAIL}?access_token={token(simulator, app)}"
    members: dict[str, Any] = requests.post(url, json={"user_ticket": ticket}, timeout=TIMEOUT).json()
    return members


class TestToken:
    def test_is_the_same_within_its_life(
        self, simulator: Simulator, vendor_app: PlatformApp, vendor_clock: AdjustableClock
    ) -> None:
        first = token(simulator, vendor_app)
        vendor_clock.advance(7199)
        assert token(simulator, vendor_app) == first
        vendor_clock.advance(1)
        assert token(simulator, vendor_app) != first

    @pytest.mark.parametrize(
        ("query", "errcode"), [({"corpid": "ww0"}, 40013), ({"corpsecret": "wrong"}, 40001)]
    )
    def test_needs_the_secret(
        self, simulator: Simulator, vendor_app: PlatformApp, query: dict[str, str], errcode: int
    ) -> None:
        right = {"corpid": vendor_app.corpid, "corpsecret": vendor_app.secret}
        assert get(simulator, GET_TOKEN, **{**right, **query})["errcode"] == errcode

    def test_too_many_calls_are_refused(
        self, simulator: Simulator, vendor_app: PlatformApp, vendor_clock: AdjustableClock
    ) -> None:
        query = {"corpid": vendor_app.corpid, "corpsecret": vendor_app.secret}
        codes = [get(simulator, GET_TOKEN, **query)["errcode"] for _ in range(61)]
        assert (codes[59], codes[60]) == (0, 45009)
        vendor_clock.advance(60)
        assert get(simulator, GET_TOKEN, **query)["errcode"] == 0

    def test_a_withdrawn_an_old_and_no_token_are_refused(
        self,
        simulator: Simulator,
        vendor: Platform,
        vendor_app: PlatformApp,
        vendor_clock: AdjustableClock,
    ) -> None:
        withdrawn = token(simulator, vendor_app)
        vendor.tokens.withdraw(vendor_app)
        old = token(simulator, vendor_app)
        vendor_clock.advance(7200)
        for value, errcode in ((withdrawn, 40014), (old, 42001), ("", 41001)):
            answer = get(simulator, GET_USER, access_token=value, userid="wei")
            assert answer["errcode"] == errcode

    def test_an_untrusted_address_is_named_in_the_refusal(
        self, simulator: Simulator, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        value = token(simulator, vendor_app)
        vendor.trust(["192.0.2.1"])
        answer = get(simulator, GET_USER, access_token=value, userid="wei")
        assert answer["errcode"] == 60020
        assert "from ip: 127.0.0.1" in answer["errmsg"]
        vendor.trust(["127.0.0.1"])
        assert get(simulator, GET_USER, access_token=value, userid="wei")["errcode"] == 0


class TestCode:
    def test_a_member_has_a_userid(
        self, simulator: Simulator, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        answer = user_info(simulator, vendor_app, vendor.confirm(vendor_app, "chen"))
        assert answer == {"errcode": 0, "errmsg": "ok", "userid": "chen"}

    def test_an_outsider_has_an_openid(
        self, simulator: Simulator, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        answer = user_info(simulator, vendor_app, vendor.confirm(vendor_app, "ren"))
        assert set(answer) == {"errcode", "errmsg", "openid", "external_userid"}

    def test_a_member_who_was_removed_is_an_outsider(
        self, simulator: Simulator, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        code = vendor.confirm(vendor_app, "wei")
        vendor.remove("wei")
        assert set(user_info(simulator, vendor_app, code)) == {"errcode", "errmsg", "openid"}

    def test_a_member_of_a_linked_corporation_has_both_ids(
        self, simulator: Simulator, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        answer = user_info(simulator, vendor_app, vendor.confirm(vendor_app, "ada", PRIVATE))
        assert answer == {"errcode": 0, "errmsg": "ok", "userid": "ww00000000000000c2/ada"}

    def test_is_for_one_use_within_five_minutes_by_one_app(
        self,
        simulator: Simulator,
        vendor: Platform,
        vendor_app: PlatformApp,
        vendor_clock: AdjustableClock,
    ) -> None:
        other = sample_app(agentid=1000003, secret="other-secret")
        vendor.add_app(other)
        used, old = vendor.confirm(vendor_app, "wei"), vendor.confirm(vendor_app, "wei")
        assert len(used) == 512
        assert user_info(simulator, other, used)["errcode"] == 40029
        assert user_info(simulator, vendor_app, used)["errcode"] == 0
        assert user_info(simulator, vendor_app, used)["errcode"] == 40029
        vendor_clock.advance(300)
        assert user_info(simulator, vendor_app, old)["errcode"] == 40029
        assert user_info(simulator, vendor_app, "made-up")["errcode"] == 40029


class TestTicket:
    def test_gives_what_the_administrator_chose(
        self, simulator: Simulator, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        vendor_app.sensitive = frozenset({"mobile"})
        code = vendor.confirm(vendor_app, "lin", PRIVATE)
        answer = detail(simulator, vendor_app, user_info(simulator, vendor_app, code)["user_ticket"])
        assert (answer["userid"], answer["mobile"]) == ("LinXiaoYu", "13800000001")
        assert "email" not in answer

    def test_lasts_half_an_hour_and_is_of_one_app(
        self,
        simulator: Simulator,
        vendor: Platform,
        vendor_app: PlatformApp,
        vendor_clock: AdjustableClock,
    ) -> None:
        other = sample_app(agentid=1000003, secret="other-secret")
        vendor.add_app(other)
        code = vendor.confirm(vendor_app, "lin", PRIVATE)
        ticket = user_info(simulator, vendor_app, code)["user_ticket"]
        assert detail(simulator, other, ticket)["errcode"] == 84015
        vendor_clock.advance(1800)
        assert detail(simulator, vendor_app, ticket)["errcode"] == 84014

    def test_is_not_for_a_member_whom_the_app_is_not_visible_to(
        self, simulator: Simulator, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        code = vendor.confirm(vendor_app, "chen", PRIVATE)
        assert "user_ticket" not in user_info(simulator, vendor_app, code)


class TestContacts:
    def test_ignore_the_case_of_a_userid(self, simulator: Simulator, vendor_app: PlatformApp) -> None:
        query = {"access_token": token(simulator, vendor_app), "userid": "linxiaoyu"}
        answer = get(simulator, GET_USER, **query)
        assert (answer["userid"], answer["name"], answer["status"]) == ("LinXiaoYu", "林小雨", 1)
        assert not {"mobile", "email"} & set(answer)

    @pytest.mark.parametrize(("userid", "errcode"), [("made-up", 60111), ("chen", 60011)])
    def test_refuse_the_unknown_and_the_invisible(
        self, simulator: Simulator, vendor_app: PlatformApp, userid: str, errcode: int
    ) -> None:
        query = {"access_token": token(simulator, vendor_app), "userid": userid}
        assert get(simulator, GET_USER, **query)["errcode"] == errcode


QR_QUERY = {
    "login_type": "CorpApp",
    "appid": "ww00000000000000c1",
    "agentid": "1000002",
    "redirect_uri": BACK,
    "state": "browser0abc",
    "lang": "en",
}
IN_APP_QUERY = {
    "appid": "ww00000000000000c1",
    "redirect_uri": BACK,
    "response_type": "code",
    "scope": PRIVATE,
    "state": "browser0abc",
    "agentid": "1000002",
}


def decide(simulator: Simulator, path: str, query: dict[str, str], **form: str) -> requests.Response:
    return requests.post(
        simulator.url + path,
        params=query,
        data=form,
        headers=IN_APP if path == IN_APP_PAGE else None,
        allow_redirects=False,
        timeout=TIMEOUT,
    )


class TestPages:
    @pytest.mark.parametrize(("path", "query"), [(QR_PAGE, QR_QUERY), (IN_APP_PAGE, IN_APP_QUERY)])
    def test_a_person_confirms_or_refuses(
        self, simulator: Simulator, path: str, query: dict[str, str], vendor_app: PlatformApp
    ) -> None:
        page = requests.get(simulator.url + path, params=query, headers=IN_APP, timeout=TIMEOUT)
        assert ("data:image/svg" in page.text) == (path == QR_PAGE)
        refusal = decide(simulator, path, query, person="lin", decision="refuse")
        answer = parse_qs(urlsplit(refusal.headers["Location"]).query)
        assert answer == {"to": ["a b"], "state": ["browser0abc"]}
        consent = decide(simulator, path, query, person="lin", decision="confirm")
        answer = parse_qs(urlsplit(consent.headers["Location"]).query)
        assert answer["state"] == ["browser0abc"]
        assert user_info(simulator, vendor_app, answer["code"][0])["userid"] == "LinXiaoYu"

    @pytest.mark.parametrize(
        ("path", "change"),
        [
            (QR_PAGE, {"appid": "ww0"}),
            (QR_PAGE, {"agentid": "1"}),
            (QR_PAGE, {"login_type": "ServiceApp"}),
            (QR_PAGE, {"lang": "fr"}),
            (QR_PAGE, {"redirect_uri": "http://evil.example/back"}),
            (QR_PAGE, {"state": "login.abc"}),
            (QR_PAGE, {"state": "a" * 129}),
            (IN_APP_PAGE, {"redirect_uri": "http://evil.example/back"}),
            (IN_APP_PAGE, {"response_type": "token"}),
            (IN_APP_PAGE, {"scope": "snsapi_login"}),
            (IN_APP_PAGE, {"state": "a_b"}),
        ],
    )
    def test_wrong_parameters_are_refused(
        self, simulator: Simulator, path: str, change: dict[str, str]
    ) -> None:
        query = {**(QR_QUERY if path == QR_PAGE else IN_APP_QUERY), **change}
        assert decide(simulator, path, query, person="lin", decision="confirm").status_code == 400

    def test_private_data_requires_the_agentid(self, simulator: Simulator) -> None:
        query = {name: value for name, value in IN_APP_QUERY.items() if name != "agentid"}
        assert decide(simulator, IN_APP_PAGE, query).status_code == 400
        assert decide(simulator, IN_APP_PAGE, {**query, "scope": "snsapi_base"}).status_code == 302

    def test_another_browser_is_refused_by_the_page_for_wecom(self, simulator: Simulator) -> None:
        url = simulator.url + IN_APP_PAGE
        assert requests.get(url, params=IN_APP_QUERY, timeout=TIMEOUT).status_code == 400

    @pytest.mark.parametrize("person", ["ren", "ada", "chen", "qian"])
    def test_only_active_visible_members_scan(self, simulator: Simulator, person: str) -> None:
        assert decide(simulator, QR_PAGE, QR_QUERY, person=person, decision="confirm").status_code == 400

    @pytest.mark.parametrize(("person", "status"), [("ren", 302), ("chen", 302), ("qian", 400)])
    def test_everyone_but_disabled_members_opens_a_link_in_the_app(
        self, simulator: Simulator, person: str, status: int
    ) -> None:
        answer = decide(simulator, IN_APP_PAGE, IN_APP_QUERY, person=person, decision="confirm")
        assert answer.status_code == status


def test_people_leave_and_calls_fail_by_command(simulator: Simulator, vendor: Platform) -> None:
    for path, body in (
        ("/members", {"person": "wei", "status": "left"}),
        ("/members", {"person": "sun", "status": "removed"}),
        ("/trusted-addresses", {"addresses": ["192.0.2.1"]}),
        ("/failures", {"path": GET_TOKEN, "errcode": -1}),
        ("/clock", {"advance": 60}),
    ):
        answer = requests.post(f"{simulator.url}/simulator{path}", json=body, timeout=TIMEOUT)
        assert answer.status_code == 200
    assert vendor.people["wei"].status is Status.LEFT
    assert vendor.people["sun"].userid is None
    assert vendor.apps[0].trusted_addresses == frozenset({"192.0.2.1"})
    assert get(simulator, GET_TOKEN)["errcode"] == -1
    assert vendor.clock() == 1_700_000_060.0


def test_a_code_is_issued_by_command(simulator: Simulator, vendor_app: PlatformApp) -> None:
    body = {"corpid": vendor_app.corpid, "agentid": vendor_app.agentid, "person": "wei"}
    url = f"{simulator.url}/simulator/codes"
    code = requests.post(url, json=body, timeout=TIMEOUT).json()["code"]
    assert user_info(simulator, vendor_app, code)["userid"] == "wei"
    assert requests.post(url, json={**body, "person": "made-up"}, timeout=TIMEOUT).status_code == 404
