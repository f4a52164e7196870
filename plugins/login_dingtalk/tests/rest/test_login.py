"""Login by DingTalk: in a browser, in an H5 page of DingTalk, and everyone who does not enter."""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import func, select
from tests.support.api import Answer, Api, error_code
from tests.support.config import Table
from tests.support.dingtalk import AUTHORIZATIONS, IDS, REQUESTS, DingTalk, DingTalkLogins
from tests.support.http import at_once
from tests.support.logs import own_records
from tests.support.wechat import Browser

from strongroom.identity.sessions.models import authorizations
from strongroom_simulators.dingtalk import (
    MEMBER_RIGHT,
    MOBILE_RIGHT,
    PROFILE_RIGHT,
    Platform,
    PlatformApp,
)
from strongroom_simulators.dingtalk.samples import COMPANY, OTHER_COMPANY

EXCHANGE = "/v1.0/oauth2/userAccessToken"
PROFILE = "/v1.0/contact/users/me"
APP_TOKEN = "/v1.0/oauth2/accessToken"
MEMBERS = "/topapi/user/getbyunionid"

USES = 32


def count_logins(api: Api) -> int:
    with api.container.database.read() as connection:
        return int(connection.execute(select(func.count()).select_from(authorizations)).scalar_one())


def outcome(answer: Answer) -> tuple[int, str | None]:
    return answer.status_code, None if answer.status_code == 200 else error_code(answer)


class TestBrowser:
    def test_a_member_logs_in_and_becomes_a_user_once(self, api: Api, logins: DingTalkLogins) -> None:
        answer = logins.scan("lin")
        assert answer.status_code == 200, answer.text
        assert answer.json["user"]["name"] == "林小雨"
        assert logins.scan("lin").json["user"]["id"] == answer.json["user"]["id"]
        assert logins.scan("wei").json["user"]["id"] != answer.json["user"]["id"]
        person = logins.person(answer)
        methods = {
            login["method"] for login in api.get("/users/me/authorizations", by=person).json["data"]
        }
        assert methods == {"dingtalk"}

    def test_the_page_of_dingtalk_gets_the_state_and_the_callback(
        self, api: Api, platform: DingTalk
    ) -> None:
        answer = Browser(api).post(REQUESTS, {}).json
        url = urlsplit(answer["url"])
        query = parse_qs(url.query)
        assert f"{url.scheme}://{url.netloc}" == platform.url
        assert query["state"] == [answer["state"]]
        assert query["redirect_uri"][0].endswith("/api/v1/dingtalk-authorizations/callback/main")
        assert answer["app"] == "main"

    def test_a_state_is_for_one_use_and_its_browser(
        self, api: Api, platform: DingTalk, logins: DingTalkLogins
    ) -> None:
        browser = Browser(api)
        body = {"state": logins.state(browser), "code": platform.code("lin")}
        for thief in (Browser(api), Browser(api)):
            assert outcome(thief.post(AUTHORIZATIONS, body)) == (400, "error.state-invalid")
        assert browser.post(AUTHORIZATIONS, body).status_code == 200
        body["code"] = platform.code("lin")
        assert outcome(browser.post(AUTHORIZATIONS, body)) == (400, "error.state-invalid")

    def test_of_32_uses_of_a_code_one_succeeds(
        self, api: Api, platform: DingTalk, logins: DingTalkLogins
    ) -> None:
        browsers = [Browser(api) for _ in range(USES)]
        states = [logins.state(browser) for browser in browsers]
        code = platform.code("lin")
        uses = [
            lambda browser=browser, state=state: browser.post(
                AUTHORIZATIONS, {"state": state, "code": code}
            )
            for browser, state in zip(browsers, states, strict=True)
        ]
        outcomes = [outcome(answer) for answer in at_once(uses)]
        refused = (401, "error.dingtalk-code-invalid")
        assert sorted(outcomes, key=str) == [(200, None), *[refused] * (USES - 1)]
        assert count_logins(api) == 1
        assert platform.platform.requests[APP_TOKEN] == 1


class TestInDingTalk:
    def test_a_page_of_dingtalk_logs_in_the_same_user(self, logins: DingTalkLogins) -> None:
        in_browser, in_app = logins.scan("lin"), logins.open_app("lin")
        assert in_app.status_code == 200, in_app.text
        assert in_app.json["user"]["id"] == in_browser.json["user"]["id"]

    def test_the_code_of_another_person_needs_a_state_of_this_browser(
        self, api: Api, platform: DingTalk, logins: DingTalkLogins
    ) -> None:
        # An attacker wants the victim to work in the attacker's account.
        victim, attacker = Browser(api), Browser(api)
        logins.state(victim)
        code = platform.in_app_code("wei")
        for body in (
            {"code": code, "inApp": "true"},
            {"code": code, "inApp": "true", "state": "made-up"},
            {"code": code, "inApp": "true", "state": logins.state(attacker)},
        ):
            assert victim.post(AUTHORIZATIONS, body).status_code == 400
        assert count_logins(api) == 0

    def test_a_code_of_one_way_is_none_of_the_other(
        self, api: Api, platform: DingTalk, logins: DingTalkLogins
    ) -> None:
        refused = (401, "error.dingtalk-code-invalid")
        for code, more in (
            (platform.code("lin"), {"inApp": "true"}),
            (platform.in_app_code("lin"), {}),
            (platform.in_app_code("lin"), {"inApp": "false"}),
        ):
            browser = Browser(api)
            body = {"state": logins.state(browser), "code": code, **more}
            assert outcome(browser.post(AUTHORIZATIONS, body)) == refused
        assert count_logins(api) == 0


Prepare = Callable[[Platform], object]


def plan(path: str, code: str | int, times: int = 1) -> Prepare:
    return lambda platform: platform.failures.plan(path, code, times=times)


def plan_raw(path: str, body: bytes | Mapping[str, Any], status: int = 200) -> Prepare:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda platform: platform.failures.plan_answer(path, raw, status=status)


def revoke(right: str) -> Prepare:
    return lambda platform: next(iter(platform.apps.values())).rights.discard(right)


def change_secret(platform: Platform) -> None:
    next(iter(platform.apps.values())).client_secret = "planted-new-secret"


def remove_app(platform: Platform) -> None:
    platform.apps.clear()


def expire(platform: Platform) -> None:
    platform.clock.advance(300)


def use_up(platform: Platform) -> None:
    for code in platform.codes._codes.values():
        code.is_used = True


def give_to_another_app(platform: Platform) -> None:
    for code in platform.codes._codes.values():
        code.app = PlatformApp("dingother", "other", OTHER_COMPANY)


UNAVAILABLE = (503, "error.unavailable")
INVALID = (401, "error.dingtalk-code-invalid")
NOT_MEMBER = (403, "error.dingtalk-not-member")

REFUSALS: dict[str, tuple[Prepare, tuple[int, str]]] = {
    "leaver": (lambda platform: platform.leave(COMPANY, "lin"), NOT_MEMBER),
    "used code": (use_up, INVALID),
    "expired code": (expire, INVALID),
    "code of another app": (give_to_another_app, INVALID),
    "code in other letters": (plan_raw(EXCHANGE, {"code": "InvalidParameter.AuthCode"}, 400), INVALID),
    "wrong secret": (change_secret, UNAVAILABLE),
    "removed app": (remove_app, UNAVAILABLE),
    "wrong secret of the app token": (plan(APP_TOKEN, "invalidClientIdOrSecret"), UNAVAILABLE),
    "no right of profiles": (revoke(PROFILE_RIGHT), UNAVAILABLE),
    "no right of members": (revoke(MEMBER_RIGHT), UNAVAILABLE),
    "wrong address, new": (plan(EXCHANGE, "Forbidden.AccessDenied.IpNotInWhiteList"), UNAVAILABLE),
    "wrong address, old": (plan(MEMBERS, 60020), UNAVAILABLE),
    "rate limit, new": (plan(EXCHANGE, "Forbidden.AccessDenied.QpsLimitForAppkeyAndApi"), UNAVAILABLE),
    "rate limit, old": (plan(MEMBERS, 90018), UNAVAILABLE),
    "rate limit as sub_code": (plan_raw(MEMBERS, {"errcode": 88, "sub_code": "90018"}), UNAVAILABLE),
    "busy": (plan(MEMBERS, -1), UNAVAILABLE),
    "app token refused twice": (plan(MEMBERS, 40014, 2), UNAVAILABLE),
    "app token expired twice": (plan(MEMBERS, 42001, 2), UNAVAILABLE),
    "undocumented errcode": (plan_raw(MEMBERS, {"errcode": 987654}), UNAVAILABLE),
    "undocumented text": (plan_raw(EXCHANGE, {"code": "unheard.of"}, 400), UNAVAILABLE),
    "number as code": (plan_raw(EXCHANGE, {"code": 500}, 500), UNAVAILABLE),
    "text as errcode": (plan_raw(MEMBERS, {"errcode": "many"}), UNAVAILABLE),
    "no errcode": (plan_raw(MEMBERS, {"result": {"userid": "lin01"}}), UNAVAILABLE),
    "no result": (plan_raw(MEMBERS, {"errcode": 0}), UNAVAILABLE),
    "no userid": (plan_raw(MEMBERS, {"errcode": 0, "result": {}}), NOT_MEMBER),
    "external contact": (
        plan_raw(MEMBERS, {"errcode": 0, "result": {"userid": "u", "contact_type": 1}}),
        NOT_MEMBER,
    ),
    "no token": (plan_raw(EXCHANGE, {}), UNAVAILABLE),
    "no unionId": (plan_raw(PROFILE, {"nick": "Lin"}), UNAVAILABLE),
    "odd unionId": (plan_raw(PROFILE, {"unionId": "a\nb"}), UNAVAILABLE),
    "person's token refused": (plan(PROFILE, "InvalidAuthentication"), UNAVAILABLE),
    "garbage": (plan_raw(EXCHANGE, b"\xff\x00"), UNAVAILABLE),
    "a list": (plan_raw(PROFILE, b"[]"), UNAVAILABLE),
    "a page": (plan_raw(MEMBERS, b"<html>", 502), UNAVAILABLE),
    "a redirect": (plan_raw(EXCHANGE, b"{}", 302), UNAVAILABLE),
    "too much": (plan_raw(PROFILE, b" " * 100_000), UNAVAILABLE),
    "success with an error status": (
        plan_raw(MEMBERS, {"errcode": 0, "result": {"userid": "u"}}, 500),
        UNAVAILABLE,
    ),
}


class TestRefusals:
    @pytest.mark.parametrize("name", REFUSALS)
    def test_each_is_no_login_and_no_fault_of_the_server(
        self, name: str, api: Api, platform: DingTalk, logins: DingTalkLogins
    ) -> None:
        prepare, expected = REFUSALS[name]
        browser = Browser(api)
        body = {"state": logins.state(browser), "code": platform.code("lin")}
        prepare(platform.platform)
        answer = browser.post(AUTHORIZATIONS, body)
        assert outcome(answer) == expected
        assert ("Retry-After" in answer.headers) is (answer.status_code == 503)
        assert count_logins(api) == 0

    @pytest.mark.parametrize("person", ["ada", "ren"])
    @pytest.mark.parametrize("failure", [None, -1, 88, 60011, 60020, 90018])
    def test_an_outsider_never_enters_also_while_the_check_fails(
        self, person: str, failure: int | None, api: Api, platform: DingTalk, logins: DingTalkLogins
    ) -> None:
        if failure is not None:
            platform.platform.failures.plan(MEMBERS, failure, times=2)
        assert outcome(logins.scan(person)) == (UNAVAILABLE if failure else NOT_MEMBER)
        assert count_logins(api) == 0

    def test_an_unknown_app_is_named(self, api: Api) -> None:
        answer = api.post(REQUESTS, {"app": "unheard-of"})
        assert outcome(answer) == (400, "error.dingtalk-app-unknown")

    @pytest.mark.parametrize("name", ["wrong secret", "no right of members", "wrong address, old"])
    def test_the_operators_mistake_is_one_line_in_the_log_without_secrets(
        self,
        name: str,
        api: Api,
        platform: DingTalk,
        logins: DingTalkLogins,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        REFUSALS[name][0](platform.platform)
        answer = logins.scan("lin")
        (line,) = [record for record in own_records(caplog) if record.levelno == logging.ERROR]
        assert "[login.dingtalk.apps.main]" in line.getMessage()
        assert platform.app.client_secret not in caplog.text + answer.text

    def test_an_error_that_repeats_the_secrets_is_logged_without_them(
        self, api: Api, platform: DingTalk, logins: DingTalkLogins, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        code = platform.code("lin")
        said = {"code": "unheard.of", "message": f"{code} {platform.app.client_secret}"}
        platform.platform.failures.plan_answer(EXCHANGE, json.dumps(said).encode(), status=400)
        browser = Browser(api)
        answer = browser.post(AUTHORIZATIONS, {"state": logins.state(browser), "code": code})
        assert answer.status_code == 503
        logins.scan("lin")
        tokens = [*platform.platform.person_tokens._codes, *platform.platform.app_tokens._apps]
        assert len(tokens) == 2
        for secret in (code, platform.app.client_secret, *tokens):
            assert secret not in caplog.text + answer.text


class TestNumbers:
    def test_a_number_that_only_the_platform_states_is_a_new_user(
        self, api: Api, logins: DingTalkLogins
    ) -> None:
        known = api.person(mobile="+8613800000001")
        assert logins.scan("lin").json["user"]["id"] != known.id

    @pytest.mark.config({"login": {"dingtalk": {"apps": {"main": {"trust_mobile": True}}}}})
    def test_a_trusted_number_finds_its_user(self, api: Api, logins: DingTalkLogins) -> None:
        known = api.person(mobile="+8613800000001")
        assert logins.scan("lin").json["user"]["id"] == known.id
        root = api.person(mobile="+8613800000002", admin=True)
        assert root.id != known.id

    def test_without_the_right_of_numbers_it_is_a_new_user(
        self, api: Api, platform: DingTalk, logins: DingTalkLogins
    ) -> None:
        known = api.person(mobile="+8613800000001")
        platform.app.rights.discard(MOBILE_RIGHT)
        assert logins.scan("lin").json["user"]["id"] != known.id

    def test_a_code_of_an_h5_page_has_no_number(self, api: Api, logins: DingTalkLogins) -> None:
        known = api.person(mobile="+8613800000001")
        assert logins.open_app("lin").json["user"]["id"] != known.id


class TestBinding:
    def bind(self, api: Api, logins: DingTalkLogins, person: str, contact: str = "") -> Answer:
        user = api.person()
        browser = Browser(api)
        body = {"state": logins.state(browser, user), "code": logins.dingtalk.code(person)}
        return browser.post(IDS, {**body, "heldCode": api.code(user.email, "bind")}, user)

    def test_a_user_binds_logs_in_and_unbinds(self, api: Api, logins: DingTalkLogins) -> None:
        user = api.person()
        browser = Browser(api)
        body = {"state": logins.state(browser, user), "code": logins.dingtalk.code("wei")}
        answer = browser.post(IDS, {**body, "heldCode": api.code(user.email, "bind")}, user)
        assert answer.status_code == 201, answer.text
        assert answer.json["kind"] == "dingtalk"
        assert logins.scan("wei").json["user"]["id"] == user.id
        code = api.code(user.email, "unbind")
        headers = {"X-Verification-Code": f"{code['id']}.{code['code']}"}
        assert api.delete(IDS, by=user, headers=headers).status_code == 200
        assert logins.scan("wei").json["user"]["id"] != user.id

    def test_an_outsider_cannot_be_bound(self, api: Api, logins: DingTalkLogins) -> None:
        assert outcome(self.bind(api, logins, "ada")) == NOT_MEMBER

    def test_an_account_of_another_user_stays_there(self, api: Api, logins: DingTalkLogins) -> None:
        owner = logins.scan("wei").json["user"]["id"]
        assert outcome(self.bind(api, logins, "wei")) == (409, "error.credential-taken")
        assert logins.scan("wei").json["user"]["id"] == owner


class TestWithoutRegistration:
    @pytest.fixture
    def config_changes(self, platform: DingTalk) -> Table:
        return platform.config(register=False)

    def test_unknown_members_are_refused(self, api: Api, logins: DingTalkLogins) -> None:
        assert outcome(logins.scan("lin")) == (401, "error.invalid-credentials")
        assert count_logins(api) == 0


class TestForEveryone:
    @pytest.fixture
    def config_changes(self, platform: DingTalk) -> Table:
        return platform.config(app={"members_only": False})

    def test_anyone_with_an_account_enters(self, logins: DingTalkLogins) -> None:
        assert logins.scan("ada").status_code == 200


class TestExclusiveAccounts:
    @pytest.fixture
    def config_changes(self, platform: DingTalk) -> Table:
        return platform.config(app={"exclusive_corp_id": COMPANY, "members_only": False})

    @pytest.mark.parametrize(
        ("person", "corp_id", "expected"),
        [
            ("zhao", COMPANY, (200, None)),
            ("ada", OTHER_COMPANY, NOT_MEMBER),
            ("lin", None, NOT_MEMBER),
        ],
    )
    def test_the_company_of_the_code_is_checked(
        self,
        person: str,
        corp_id: str | None,
        expected: tuple[int, str | None],
        api: Api,
        platform: DingTalk,
        logins: DingTalkLogins,
    ) -> None:
        browser = Browser(api)
        state = logins.state(browser)
        code = platform.platform.confirm(platform.app.client_id, person, corp_id=corp_id)
        assert outcome(browser.post(AUTHORIZATIONS, {"state": state, "code": code})) == expected


class TestWithoutTheMethod:
    """An enabled plugin without any configured method needs no options."""

    @pytest.fixture
    def config_changes(self) -> Table:
        return {"plugins": {"enabled": ["storage_local", "login_dingtalk"]}}

    @pytest.mark.parametrize("path", [REQUESTS, AUTHORIZATIONS, IDS])
    def test_there_are_no_routes(self, path: str, api: Api) -> None:
        answer = api.post(path, {}, by=api.person())
        assert answer.status_code in (404, 501)
