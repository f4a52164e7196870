"""The simulated DingTalk answers as the documentation of the real one says."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests

from strongroom_simulators.dingtalk import (
    MEMBER_RIGHT,
    MOBILE_RIGHT,
    PROFILE_RIGHT,
    AdjustableClock,
    PlatformApp,
    Simulator,
    sample_app,
    sample_platform,
)
from strongroom_simulators.dingtalk.refusals import CODES, ERRCODES
from strongroom_simulators.dingtalk.samples import COMPANY, OTHER_COMPANY

CALLBACK = "http://127.0.0.1/callback?to=a b&lang=中文"
IN_APP = "Mozilla/5.0 (iPhone) AliApp(DingTalk/7.6.0)"


@pytest.fixture
def app() -> PlatformApp:
    return sample_app()


@pytest.fixture
def other_app() -> PlatformApp:
    return PlatformApp("dingother", "other-secret", OTHER_COMPANY, hosts=("127.0.0.1",))


@pytest.fixture
def simulator(app: PlatformApp, other_app: PlatformApp) -> Iterator[Simulator]:
    clock = AdjustableClock(lambda: 1_700_000_000.0)
    with Simulator(sample_platform(app, other_app, clock=clock)) as simulator:
        yield simulator


def page_url(simulator: Simulator, **changes: str) -> str:
    query = {
        "redirect_uri": CALLBACK,
        "response_type": "code",
        "client_id": "dingsimulatedapp01",
        "scope": "openid",
        "state": "a-state",
        "prompt": "consent",
    }
    return f"{simulator.url}/oauth2/auth?{urlencode({**query, **changes})}"


def decide(url: str, **form: str) -> dict[str, list[str]]:
    """Decide on the page as a browser does; return the query of the redirect."""
    response = requests.post(url, data=form, allow_redirects=False, timeout=30)
    assert response.status_code == 302, response.text
    return parse_qs(urlsplit(response.headers["Location"]).query)


def new(simulator: Simulator, path: str, **body: Any) -> tuple[int, dict[str, Any]]:
    response = requests.post(f"{simulator.url}/v1.0/oauth2/{path}", json=body, timeout=30)
    return response.status_code, response.json()


def exchange(
    simulator: Simulator, app: PlatformApp, code: str, **more: str
) -> tuple[int, dict[str, Any]]:
    names = {"clientId": app.client_id, "clientSecret": app.client_secret}
    body = {**names, "code": code, "grantType": "authorization_code", **more}
    return new(simulator, "userAccessToken", **body)


def me(simulator: Simulator, token: str) -> tuple[int, dict[str, Any]]:
    headers = {"x-acs-dingtalk-access-token": token}
    response = requests.get(f"{simulator.url}/v1.0/contact/users/me", headers=headers, timeout=30)
    return response.status_code, response.json()


def profile(simulator: Simulator, app: PlatformApp, person: str) -> dict[str, Any]:
    code = simulator.platform.confirm(app.client_id, person)
    return me(simulator, exchange(simulator, app, code)[1]["accessToken"])[1]


def app_token(simulator: Simulator, app: PlatformApp) -> str:
    body = {"appKey": app.client_id, "appSecret": app.client_secret}
    token: str = new(simulator, "accessToken", **body)[1]["accessToken"]
    return token


def old(simulator: Simulator, path: str, token: str, **body: str) -> dict[str, Any]:
    url = f"{simulator.url}/topapi/{path}?access_token={token}"
    response = requests.post(url, json=body, timeout=30)
    assert response.status_code == 200
    answer: dict[str, Any] = response.json()
    return answer


class TestPage:
    def test_it_offers_the_people_and_a_qr_code(self, simulator: Simulator) -> None:
        page = requests.get(page_url(simulator), timeout=30).text
        assert "林小雨" in page
        assert 'alt="QR code"' in page

    def test_in_dingtalk_itself_there_is_no_qr_code(self, simulator: Simulator) -> None:
        page = requests.get(page_url(simulator), headers={"User-Agent": IN_APP}, timeout=30).text
        assert "林小雨" in page
        assert "<img" not in page

    def test_a_confirmation_leads_back_with_an_auth_code(self, simulator: Simulator) -> None:
        answer = decide(page_url(simulator), person="lin", decision="confirm")
        assert set(answer) == {"to", "lang", "authCode", "state"}
        assert answer["state"] == ["a-state"]

    def test_it_can_repeat_the_code(self, simulator: Simulator) -> None:
        simulator.platform.repeats_code = True
        answer = decide(page_url(simulator), person="lin", decision="confirm")
        assert answer["code"] == answer["authCode"]

    def test_a_refusal_leads_back_with_an_error(self, simulator: Simulator) -> None:
        answer = decide(page_url(simulator), person="lin", decision="refuse")
        assert answer["error"] == ["access_denied"]
        assert "authCode" not in answer

    @pytest.mark.parametrize(
        "changes",
        [
            {"client_id": "dingunknown"},
            {"redirect_uri": "http://evil.example/callback"},
            {"response_type": "token"},
            {"scope": "openid admin"},
            {"prompt": "none"},
            {"exclusiveLogin": "true", "exclusiveCorpId": "dingunknown"},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    def test_wrong_parameters_are_refused(self, changes: dict[str, str], simulator: Simulator) -> None:
        assert requests.get(page_url(simulator, **changes), timeout=30).status_code == 400

    def test_an_exclusive_login_is_for_accounts_of_the_company(self, simulator: Simulator) -> None:
        exclusive = {"exclusiveLogin": "true", "exclusiveCorpId": COMPANY}
        url = page_url(simulator, **exclusive)
        assert "林小雨" not in requests.get(url, timeout=30).text
        form = {"person": "lin", "decision": "confirm"}
        assert requests.post(url, data=form, allow_redirects=False, timeout=30).status_code == 400
        assert "authCode" in decide(url, person="zhao", decision="confirm")


class TestCodes:
    def test_a_code_is_for_one_use(self, simulator: Simulator, app: PlatformApp) -> None:
        code = simulator.platform.confirm(app.client_id, "lin")
        status, answer = exchange(simulator, app, code)
        assert (status, answer["expireIn"], "corpId" in answer) == (200, 7200, False)
        status, answer = exchange(simulator, app, code)
        assert (status, answer["code"]) == (400, "invalidParameter.authCode.notFound")

    @pytest.mark.parametrize(("seconds", "status"), [(299, 200), (300, 400)])
    def test_a_code_lasts_five_minutes(
        self, seconds: int, status: int, simulator: Simulator, app: PlatformApp
    ) -> None:
        code = simulator.platform.confirm(app.client_id, "lin")
        simulator.platform.clock.advance(seconds)
        assert exchange(simulator, app, code)[0] == status

    def test_a_code_is_for_its_app(
        self, simulator: Simulator, app: PlatformApp, other_app: PlatformApp
    ) -> None:
        code = simulator.platform.confirm(other_app.client_id, "lin")
        assert exchange(simulator, app, code)[0] == 400

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"clientSecret": "wrong"}, "invalidClientIdOrSecret"),
            ({"clientId": "wrong"}, "invalidClientIdOrSecret"),
            ({"grantType": "refresh_token"}, "invalidParameter.grantType"),
        ],
    )
    def test_wrong_members_are_refused(
        self, changes: dict[str, str], code: str, simulator: Simulator, app: PlatformApp
    ) -> None:
        issued = simulator.platform.confirm(app.client_id, "lin")
        status, answer = exchange(simulator, app, issued, **changes)
        assert (status, answer["code"]) == (400, code)

    @pytest.mark.parametrize(("corp_id", "chosen"), [(COMPANY, COMPANY), (OTHER_COMPANY, COMPANY)])
    def test_the_scope_corpid_brings_a_company_of_the_person(
        self, corp_id: str, chosen: str, simulator: Simulator, app: PlatformApp
    ) -> None:
        url = page_url(simulator, scope="openid corpid", corpId=corp_id)
        (code,) = decide(url, person="lin", decision="confirm")["authCode"]
        assert exchange(simulator, app, code)[1]["corpId"] == chosen


class TestProfile:
    def test_it_has_the_documented_members(self, simulator: Simulator, app: PlatformApp) -> None:
        lin = profile(simulator, app, "lin")
        assert set(lin) == {"nick", "avatarUrl", "openId", "unionId", "mobile", "stateCode", "email"}
        assert (lin["mobile"], lin["stateCode"]) == ("13800000001", "86")

    def test_a_union_id_is_the_same_in_the_apps_of_a_company(
        self, simulator: Simulator, app: PlatformApp, other_app: PlatformApp
    ) -> None:
        second = PlatformApp("dingsecond", "secret", COMPANY)
        simulator.platform.add_app(second)
        of_app, of_second, of_other = (
            profile(simulator, known, "lin") for known in (app, second, other_app)
        )
        assert of_app["unionId"] == of_second["unionId"] != of_other["unionId"]
        assert of_app["openId"] != of_second["openId"]

    def test_without_the_right_of_numbers_there_is_none(
        self, simulator: Simulator, app: PlatformApp
    ) -> None:
        app.rights.remove(MOBILE_RIGHT)
        assert "mobile" not in profile(simulator, app, "lin")

    def test_without_the_right_of_profiles_it_is_refused(
        self, simulator: Simulator, app: PlatformApp
    ) -> None:
        app.rights.remove(PROFILE_RIGHT)
        code = profile(simulator, app, "lin")["code"]
        assert code == "Forbidden.AccessDenied.AccessTokenPermissionDenied"

    def test_a_token_lasts_two_hours(self, simulator: Simulator, app: PlatformApp) -> None:
        code = simulator.platform.confirm(app.client_id, "lin")
        token = exchange(simulator, app, code)[1]["accessToken"]
        simulator.platform.clock.advance(7199)
        assert me(simulator, token)[0] == 200
        simulator.platform.clock.advance(1)
        status, answer = me(simulator, token)
        assert (status, answer["code"]) == (401, "InvalidAuthentication")


class TestMembers:
    @pytest.mark.parametrize(("person", "contact_type"), [("lin", 0), ("wei", 0), ("ren", 1)])
    def test_members_and_external_contacts_have_a_userid(
        self, person: str, contact_type: int, simulator: Simulator, app: PlatformApp
    ) -> None:
        unionid = app.unionid(simulator.platform.people[person])
        answer = old(simulator, "user/getbyunionid", app_token(simulator, app), unionid=unionid)
        assert (answer["errcode"], answer["result"]["contact_type"]) == (0, contact_type)

    @pytest.mark.parametrize("person", ["ada", "wei"])
    def test_others_and_leavers_are_unknown(
        self, person: str, simulator: Simulator, app: PlatformApp
    ) -> None:
        simulator.platform.leave(COMPANY, "wei")
        unionid = app.unionid(simulator.platform.people[person])
        answer = old(simulator, "user/getbyunionid", app_token(simulator, app), unionid=unionid)
        assert answer["errcode"] == 60121

    def test_without_the_right_it_is_refused(self, simulator: Simulator, app: PlatformApp) -> None:
        app.rights.remove(MEMBER_RIGHT)
        answer = old(simulator, "user/getbyunionid", app_token(simulator, app), unionid="u")
        assert (answer["errcode"], answer["sub_code"]) == (88, "60011")

    def test_an_app_token_is_the_same_until_it_expires(
        self, simulator: Simulator, app: PlatformApp
    ) -> None:
        first = app_token(simulator, app)
        simulator.platform.clock.advance(7199)
        assert app_token(simulator, app) == first
        simulator.platform.clock.advance(1)
        assert old(simulator, "user/getbyunionid", first, unionid="u")["errcode"] == 42001
        assert app_token(simulator, app) != first

    def test_a_withdrawn_app_token_is_unknown(self, simulator: Simulator, app: PlatformApp) -> None:
        token = app_token(simulator, app)
        simulator.platform.app_tokens.withdraw(app)
        assert old(simulator, "user/getbyunionid", token, unionid="u")["errcode"] == 40014


class TestInApp:
    def open_app(self, simulator: Simulator, app: PlatformApp, person: str) -> requests.Response:
        body = {"clientId": app.client_id, "person": person}
        return requests.post(f"{simulator.url}/simulator/auth-codes", json=body, timeout=30)

    def test_a_member_logs_in_once(self, simulator: Simulator, app: PlatformApp) -> None:
        code = self.open_app(simulator, app, "lin").json()["code"]
        token = app_token(simulator, app)
        answer = old(simulator, "v2/user/getuserinfo", token, code=code)
        assert answer["result"]["userid"] == "lin01"
        assert answer["result"]["unionid"] == app.unionid(simulator.platform.people["lin"])
        assert old(simulator, "v2/user/getuserinfo", token, code=code)["errcode"] == 40078

    def test_an_outsider_cannot_open_the_app(self, simulator: Simulator, app: PlatformApp) -> None:
        assert self.open_app(simulator, app, "ada").status_code == 400

    def test_the_codes_of_the_two_ways_differ(self, simulator: Simulator, app: PlatformApp) -> None:
        code = simulator.platform.confirm(app.client_id, "lin")
        answer = old(simulator, "v2/user/getuserinfo", app_token(simulator, app), code=code)
        assert answer["errcode"] == 40078
        assert exchange(simulator, app, simulator.platform.open_app(app.client_id, "lin"))[0] == 400


class TestLimits:
    def test_a_new_interface_has_a_limit_for_each_app(
        self, simulator: Simulator, app: PlatformApp, other_app: PlatformApp
    ) -> None:
        body = {"appKey": app.client_id, "appSecret": app.client_secret}
        statuses = [new(simulator, "accessToken", **body)[0] for _ in range(21)]
        assert statuses == [200] * 20 + [403]
        assert new(simulator, "accessToken", **body)[1]["code"].endswith("QpsLimitForAppkeyAndApi")
        assert app_token(simulator, other_app)
        simulator.platform.clock.advance(1)
        assert new(simulator, "accessToken", **body)[0] == 200

    def test_an_old_interface_has_a_limit(self, simulator: Simulator, app: PlatformApp) -> None:
        token = app_token(simulator, app)
        answers = [old(simulator, "user/getbyunionid", token, unionid="u") for _ in range(21)]
        assert [answer["errcode"] for answer in answers] == [60121] * 20 + [90018]


class TestControls:
    def control(self, simulator: Simulator, name: str, **body: Any) -> Any:
        return requests.post(f"{simulator.url}/simulator/{name}", json=body, timeout=30).json()

    @pytest.mark.parametrize("code", sorted(CODES))
    def test_each_string_code_comes_on_demand(
        self, code: str, simulator: Simulator, app: PlatformApp
    ) -> None:
        self.control(simulator, "failures", path="/v1.0/oauth2/userAccessToken", code=code)
        status, answer = exchange(simulator, app, "a-code")
        assert (status, answer["code"]) == (CODES[code][0], code)

    @pytest.mark.parametrize("errcode", sorted(ERRCODES))
    def test_each_errcode_comes_on_demand(self, errcode: int, simulator: Simulator) -> None:
        self.control(simulator, "failures", path="/topapi/user/getbyunionid", code=errcode)
        answers = [old(simulator, "user/getbyunionid", "t", unionid="u") for _ in range(2)]
        assert [answer["errcode"] for answer in answers] == [errcode, 40014]

    def test_members_leave_and_join_by_command(self, simulator: Simulator) -> None:
        member = {"corpId": COMPANY, "person": "lin"}
        self.control(simulator, "members", **member, isMember=False)
        assert "lin" not in simulator.platform.companies[COMPANY].members
        self.control(simulator, "members", **member, isMember=True)
        assert "lin" in simulator.platform.companies[COMPANY].members

    def test_rights_change_by_command(self, simulator: Simulator, app: PlatformApp) -> None:
        self.control(simulator, "rights", clientId=app.client_id, rights=[PROFILE_RIGHT])
        assert app.rights == {PROFILE_RIGHT}

    def test_the_clock_advances_by_command(self, simulator: Simulator) -> None:
        assert self.control(simulator, "clock", advance=600)["now"] == 1_700_000_600.0
