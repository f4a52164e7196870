"""Login by WeChat: the website's QR code, the mini program, and who is found or made by them."""

import logging
import re
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.support.api import Api, error_code
from tests.support.config import Table, merged
from tests.support.http import at_once
from tests.support.logs import own_records
from tests.support.wechat import Browser, Logins, WeChat

import strongroom
from strongroom.activity.notifications.service import MessageService
from strongroom.web.http.access import Access

AUTHORIZATIONS = "/api/v1/wechat-authorizations"
MINI_PROGRAM = "/api/v1/miniProgram-authorization"
MINUTE = 60_000


@pytest.fixture
def register() -> bool:
    return True


@pytest.fixture
def config_changes(platform: WeChat, register: bool) -> Table:
    return platform.config("https://127.0.0.1", register=register)


class TestWebsite:
    @pytest.mark.rule("4.2 POST /api/v1/wechat-authorizations")
    def test_a_scan_logs_in_and_registers_new_users(self, logins: Logins) -> None:
        response = logins.scan("lin")
        assert response.status_code == 200
        assert response.json["user"]["name"] == "林小雨"
        assert response.json["user"]["type"] == "USER"
        assert response.headers["X-Access-Token"] == response.json["accessToken"]
        assert response.headers["X-Refresh-Token"] == response.json["refreshToken"]
        assert "X-Access-Token" in response.headers["Access-Control-Expose-Headers"]
        assert response.headers["Cache-Control"] == "no-store"
        assert logins.scan("lin").json["user"]["id"] == response.json["user"]["id"]
        assert logins.scan("wei").json["user"]["id"] != response.json["user"]["id"]

    @pytest.mark.parametrize(
        ("wanted", "shown"),
        [
            ("zh-CN,en;q=0.5", "zh"),
            ("de, ZH-tw;q=0.9, en;q=0.8", "zh"),
            ("zh;q=0, en-GB", "en"),
            ("fr", "en"),
        ],
    )
    def test_the_page_speaks_the_language_that_its_reader_likes_best(
        self, api: Api, wanted: str, shown: str
    ) -> None:
        page = api.get(f"{AUTHORIZATIONS}/scan?app=site", headers={"Accept-Language": wanted})
        assert f'<html lang="{shown}"' in page.text
        assert page.headers["Content-Language"] == shown
        assert page.headers["Vary"] == "Accept-Language"

    def test_the_tokens_are_those_of_any_login(self, api: Api, logins: Logins) -> None:
        person = logins.person(logins.scan("lin"))
        assert api.get("/users/me", by=person).json["id"] == person.id
        (listed,) = api.get("/users/me/authorizations", by=person).json["data"]
        assert listed["method"] == "wechat"

    def test_the_url_of_the_qr_code_carries_the_state(self, api: Api, platform: WeChat) -> None:
        body = {"app": "shop", "language": "en"}
        response = Browser(api).post("/api/v1/wechat-qr-codes", body)
        query = parse_qs(urlsplit(response.json["url"]).query)
        assert query["state"] == [response.json["state"]]
        assert query["appid"] == [platform.apps["shop"].appid]
        assert query["lang"] == ["en"]
        assert response.json["state"].startswith("login0")

    def test_the_browser_is_known_by_a_cookie_that_no_script_reads(self, api: Api) -> None:
        cookie = Browser(api).post("/api/v1/wechat-qr-codes", {"app": "site"}).headers["Set-Cookie"]
        assert cookie.startswith("__Host-strongroom-browser=")
        assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
        assert "Domain" not in cookie

    def test_an_app_must_be_named_where_there_are_several(self, api: Api) -> None:
        for body in ({}, {"app": "mini"}, {"app": "unheard-of"}):
            response = api.post("/api/v1/wechat-qr-codes", body)
            assert (response.status_code, error_code(response)) == (400, "error.wechat-app-unknown")
            assert response.json["error"]["details"][0]["message"] == "Must be one of: shop, site."

    def test_another_browsers_state_is_refused_and_stays_good_for_its_own(
        self, api: Api, platform: WeChat
    ) -> None:
        browser, thief = Browser(api), Browser(api)
        body = {"state": browser.state(), "code": platform.code("site", "lin")}
        thief.state()
        for other in (thief, Browser(api)):
            response = other.post(AUTHORIZATIONS, body)
            assert (response.status_code, error_code(response)) == (400, "error.state-invalid")
        assert browser.post(AUTHORIZATIONS, body).status_code == 200

    def test_a_state_lasts_ten_minutes(self, api: Api, platform: WeChat) -> None:
        browser = Browser(api)
        state = browser.state()
        api.clock.advance(10 * MINUTE)
        body = {"state": state, "code": platform.code("site", "lin")}
        assert error_code(browser.post(AUTHORIZATIONS, body)) == "error.state-invalid"

    def test_a_code_that_is_too_old_is_refused(self, api: Api, platform: WeChat) -> None:
        browser = Browser(api)
        body = {"code": platform.code("site", "lin"), "state": browser.state()}
        platform.platform.clock.advance(600)
        response = browser.post(AUTHORIZATIONS, body)
        assert (response.status_code, error_code(response)) == (401, "error.wechat-code-expired")

    @pytest.mark.parametrize("body", [{}, {"code": "x"}, {"state": "x"}, {"code": "", "state": "x"},
                                      {"code": "x", "state": "x", "app": "site"}])  # fmt: skip
    def test_a_body_that_lacks_something_is_400(self, api: Api, body: dict[str, str]) -> None:
        response = api.post(AUTHORIZATIONS, body)
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")


class TestMiniProgram:
    @pytest.mark.rule("4.2 POST /api/v1/miniProgram-authorization")
    def test_a_code_logs_in_without_any_redirect(self, logins: Logins) -> None:
        response = logins.open_mini_program("lin")
        assert response.status_code == 200
        assert response.headers["X-Access-Token"] == response.json["accessToken"]
        assert logins.open_mini_program("lin").json["user"] == response.json["user"]

    def test_encrypted_data_gives_the_name(self, api: Api, platform: WeChat) -> None:
        platform.follow(api.clock)
        code = platform.code("mini", "wei")
        data = platform.platform.give_user_data(platform.apps["mini"].appid, "wei")
        response = api.post(MINI_PROGRAM, {"app": "mini", "code": code, **data})
        assert response.json["user"]["name"] == "魏晨 🌅"

    def test_data_of_another_person_is_refused(self, api: Api, platform: WeChat) -> None:
        platform.follow(api.clock)
        code = platform.code("mini", "lin")
        platform.code("mini", "wei")
        data = platform.platform.give_user_data(platform.apps["mini"].appid, "wei")
        response = api.post(MINI_PROGRAM, {"code": code, **data})
        assert (response.status_code, error_code(response)) == (401, "error.wechat-data-invalid")

    def test_a_risky_person_is_refused(self, api: Api, platform: WeChat) -> None:
        platform.platform.failures.plan("/sns/jscode2session", 40226)
        response = api.post(MINI_PROGRAM, {"code": "a-code"})
        assert (response.status_code, error_code(response)) == (401, "error.wechat-person-blocked")

    def test_an_access_token_is_never_taken_from_a_client(self, api: Api) -> None:
        response = api.post(MINI_PROGRAM, {"code": "x", "accessToken": "y", "openid": "z"})
        assert error_code(response) == "error.validation-failed"
        fields = {detail["field"] for detail in response.json["error"]["details"]}
        assert fields == {"accessToken", "openid"}

    def test_half_of_signed_data_is_400(self, api: Api) -> None:
        response = api.post(MINI_PROGRAM, {"code": "x", "encryptedData": "y"})
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")


class TestPhoneNumber:
    def test_a_verified_number_logs_into_the_account_that_holds_it(
        self, api: Api, logins: Logins
    ) -> None:
        known = api.person(mobile="13800000001")
        response = logins.open_mini_program("lin", phone=True)
        assert response.json["user"]["id"] == known.id
        # From now on without the number.
        assert logins.open_mini_program("lin").json["user"]["id"] == known.id

    def test_linking_by_a_number_is_notified_and_recorded(self, api: Api, logins: Logins) -> None:
        known = api.person(mobile="13800000001")
        logins.open_mini_program("lin", phone=True)
        logins.open_mini_program("lin", phone=True)
        api.container.get(MessageService).close()
        notified = [message["recipient"] for message in api.outbox()]
        assert sorted(notified) == ["+8613800000001", known.email]
        events = api.get("/audit-events?pageSize=50", by=api.person(admin=True)).json["data"]
        (bound,) = [event for event in events if event["action"] == "credential.bind"]
        assert bound["details"] == {"kind": "wechat", "method": "wechat"}

    def test_new_users_get_the_number_too(self, logins: Logins) -> None:
        person = logins.person(logins.open_mini_program("ada", phone=True))
        assert ("mobile", "+447400123456") in logins.held(person)

    def test_the_same_nickname_links_no_users(self, api: Api, logins: Logins) -> None:
        known = api.person(name="林小雨", username="lin-xiaoyu")
        assert logins.scan("lin").json["user"]["id"] != known.id

    def test_a_number_of_another_user_is_409_and_changes_nothing(self, api: Api, logins: Logins) -> None:
        person = logins.person(logins.open_mini_program("lin"))
        other = api.person(mobile="13800000001")
        before = logins.held(person), logins.held(other)
        response = logins.open_mini_program("lin", phone=True)
        assert (response.status_code, error_code(response)) == (409, "error.credential-conflict")
        assert (logins.held(person), logins.held(other)) == before

    def test_a_number_does_not_push_away_an_address_without_its_code(
        self, api: Api, logins: Logins
    ) -> None:
        known = api.person()
        assert logins.bind(known, "lin", "mini").status_code == 201
        assert logins.open_mini_program("lin", phone=True).json["user"]["id"] == known.id
        assert not [kind for kind, _ in logins.held(known) if kind == "mobile"]

    def test_a_used_phone_code_is_refused(self, api: Api, logins: Logins, platform: WeChat) -> None:
        phone_code = platform.phone_code("mini", "lin")
        body = {"code": platform.code("mini", "lin"), "phoneCode": phone_code}
        assert api.post(MINI_PROGRAM, body).status_code == 200
        body["code"] = platform.code("mini", "lin")
        response = api.post(MINI_PROGRAM, body)
        assert (response.status_code, error_code(response)) == (401, "error.wechat-phone-code-invalid")


class TestOnePerson:
    def test_over_all_apps_of_an_account_is_one_user(self, logins: Logins, platform: WeChat) -> None:
        platform.join_account("site", "shop", "mini")
        answers = [logins.log_in("lin", app) for app in ("site", "shop", "mini")]
        assert len({answer.json["user"]["id"] for answer in answers}) == 1
        held = logins.held(logins.person(answers[-1]))
        assert sorted(kind for kind, _ in held) == ["wechat", "wechat", "wechat", "wechat_union"]

    def test_is_joined_when_a_unionid_first_appears(self, logins: Logins, platform: WeChat) -> None:
        before = logins.scan("lin", "site")
        platform.join_account("site", "mini")
        assert logins.scan("lin", "site").json["user"]["id"] == before.json["user"]["id"]
        assert logins.open_mini_program("lin").json["user"]["id"] == before.json["user"]["id"]

    def test_keeps_the_openid_in_addition_to_the_unionid(self, logins: Logins, platform: WeChat) -> None:
        logins.scan("lin", "site")
        platform.join_account("site")
        answer = logins.scan("lin", "site")
        platform.apps["site"].account = None
        assert logins.scan("lin", "site").json["user"]["id"] == answer.json["user"]["id"]

    def test_who_became_two_users_before_is_409_and_neither_changes(
        self, logins: Logins, platform: WeChat
    ) -> None:
        first = logins.person(logins.scan("lin", "site"))
        second = logins.person(logins.scan("lin", "shop"))
        assert first.id != second.id
        platform.join_account("site", "shop")
        assert logins.scan("lin", "site").json["user"]["id"] == first.id
        held = logins.held(second)
        response = logins.scan("lin", "shop")
        assert (response.status_code, error_code(response)) == (409, "error.credential-conflict")
        assert logins.held(second) == held

    def test_logging_in_everywhere_at_once_is_still_one(self, logins: Logins, platform: WeChat) -> None:
        platform.join_account("site", "shop", "mini")
        apps = ["site", "shop", "mini"] * 4
        answers = at_once([partial(logins.log_in, "lin", app) for app in apps])
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.json["user"]["id"] for answer in answers}) == 1

    def test_appearing_at_once_with_a_number_joins_the_account_that_holds_it(
        self, api: Api, logins: Logins, platform: WeChat
    ) -> None:
        platform.join_account("site", "shop", "mini")
        known = api.person(mobile="13800000001")
        answers = at_once([lambda: logins.open_mini_program("lin", phone=True) for _ in range(8)])
        assert {answer.json["user"]["id"] for answer in answers} == {known.id}


class TestSameAsOtherLogins:
    def test_a_suspended_user_is_kept_out_and_gets_nothing_more(
        self, api: Api, logins: Logins, platform: WeChat
    ) -> None:
        person = logins.person(logins.scan("lin"))
        admin = api.person(admin=True)
        assert api.post(f"/users/{person.id}/suspension", {}, by=admin).status_code in (200, 201)
        platform.join_account("site")
        response = logins.scan("lin")
        assert (response.status_code, error_code(response)) == (403, "error.user-suspended")
        listed = api.get(f"/users/{person.id}/credentials", by=admin).json["data"]
        assert [item["kind"] for item in listed] == ["wechat"]

    def test_both_outcomes_are_recorded(self, api: Api, logins: Logins, platform: WeChat) -> None:
        user = logins.scan("lin").json["user"]["id"]
        api.post(MINI_PROGRAM, {"code": "made-up"})
        Browser(api).post(AUTHORIZATIONS, {"state": "login0made-up", "code": "made-up"})
        events = api.get("/audit-events?pageSize=50", by=api.person(admin=True)).json["data"]
        recorded = [(event["action"], event["outcome"], event["details"]) for event in events]
        assert ("login", "success", {"method": "wechat"}) in recorded
        assert ("login", "failure", {"code": "error.wechat-code-invalid"}) in recorded
        assert ("state.spend", "failure", {"purpose": "login"}) in recorded
        assert user in {event["actor"]["$ref"] for event in events if event["actor"]}

    def test_a_busy_platform_is_503_and_says_when_to_come_back(self, api: Api, platform: WeChat) -> None:
        for errcode, seconds in ((-1, "5"), (45011, "60"), (45009, "3600")):
            platform.platform.failures.plan("/sns/jscode2session", errcode)
            response = api.post(MINI_PROGRAM, {"code": "a-code"})
            assert (response.status_code, error_code(response)) == (503, "error.unavailable")
            assert response.headers["Retry-After"] == seconds

    @pytest.mark.parametrize("errcode", [40013, 40125])
    def test_the_operators_mistake_is_503_and_one_clear_line_in_the_log(
        self, errcode: int, api: Api, platform: WeChat, caplog: pytest.LogCaptureFixture
    ) -> None:
        said = "rid: 1 planted-mini-secret"
        platform.platform.failures.plan("/sns/jscode2session", errcode, message=said)
        response = api.post(MINI_PROGRAM, {"code": "planted-code"})
        assert (response.status_code, error_code(response)) == (503, "error.unavailable")
        (line,) = [record for record in own_records(caplog) if record.levelno == logging.ERROR]
        assert "[login.wechat.apps.mini]" in line.getMessage()
        assert "planted" not in caplog.text + response.text

    def test_no_answer_at_all_is_503(self, api: Api, platform: WeChat) -> None:
        platform.platform.failures.plan_answer("/sns/jscode2session", b"<html>", status=502)
        response = api.post(MINI_PROGRAM, {"code": "a-code"})
        assert (response.status_code, error_code(response)) == (503, "error.unavailable")


class TestRate:
    @pytest.fixture
    def config_changes(self, platform: WeChat) -> Table:
        rare = {"limits": {"login_per_address": ["2/hour"]}}
        return merged(platform.config("https://127.0.0.1"), rare)

    def test_an_address_has_only_so_many_attempts(self, api: Api) -> None:
        statuses = [api.post(MINI_PROGRAM, {"code": "made-up"}).status_code for _ in range(3)]
        assert statuses == [401, 401, 429]


class TestRoutes:
    def test_each_states_who_may_call_it(self, api: Api) -> None:
        views = {
            rule.rule: api.app.view_functions[rule.endpoint]
            for rule in api.app.url_map.iter_rules()
            if "wechat" in rule.rule or "miniProgram" in rule.rule
        }
        assert len(views) == 7
        stated = [getattr(view, "access", None) for view in views.values()]
        assert all(isinstance(access, Access) for access in stated)

    def test_are_in_a_document_that_is_valid(self, api: Api) -> None:
        # Imported here: it compiles grammars for seconds.
        from openapi_spec_validator import OpenAPIV31SpecValidator

        document = api.get("/openapi.json").json
        names = [path for path in document["paths"] if "wechat" in path or "miniProgram" in path]
        document["paths"] = {path: document["paths"][path] for path in names}
        assert len(names) == 7
        OpenAPIV31SpecValidator(document).validate()
        operation = document["paths"]["/api/v1/wechat-authorizations"]["post"]
        assert "error.wechat-code-used" in operation["responses"]["401"]["description"]
        assert "error.state-invalid" in operation["responses"]["400"]["description"]


class TestWithoutRegistration:
    @pytest.fixture
    def register(self) -> bool:
        return False

    def test_new_users_are_neither_accepted_nor_created(self, api: Api, logins: Logins) -> None:
        response = logins.scan("lin")
        assert (response.status_code, error_code(response)) == (401, "error.invalid-credentials")
        listed = api.get("/users", by=api.person(admin=True)).json
        assert listed["meta"]["totalCount"] == 1

    def test_users_who_have_bound_it_are_accepted(self, api: Api, logins: Logins) -> None:
        person = api.person()
        assert logins.bind(person, "lin", "site").status_code == 201
        assert logins.scan("lin").json["user"]["id"] == person.id


class TestWithoutTheMethod:
    """An enabled plugin without any configured method needs no options."""

    @pytest.fixture
    def config_changes(self) -> Table:
        return {"plugins": {"enabled": ["storage_local", "login_wechat"]}}

    @pytest.mark.parametrize("path", [AUTHORIZATIONS, MINI_PROGRAM, "/api/v1/users/me/wechatIds"])
    def test_the_interfaces_are_501(self, api: Api, path: str) -> None:
        response = api.post(path, {}, by=api.person())
        assert (response.status_code, error_code(response)) == (501, "error.not-implemented")


def test_no_module_of_the_core_knows_of_it() -> None:
    core = Path(strongroom.__file__).parent
    texts = {str(path.relative_to(core)): path.read_text() for path in core.rglob("*.py")}
    named = re.compile(r"(?i:wechat|mini.?program|unionid)|\bopenid\b(?!-configuration)")
    # Except the names of browsers, of which it is one.
    naming = {name for name, text in texts.items() if named.search(text)}
    assert naming == {"plugin_api/user_agents.py"}
