"""Login by WeCom through the REST API and the pages: who logs in, and who does not."""

import logging
from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

import pytest
from tests.support.api import Api, error_code
from tests.support.config import Table
from tests.support.databases import on_sqlite
from tests.support.http import at_once
from tests.support.logs import own_records
from tests.support.page_browser import PageBrowser
from tests.support.wecom import (
    AUTHORIZATIONS,
    BEGIN,
    CALLBACK,
    IN_APP,
    REQUESTS,
    Client,
    Logins,
    WeCom,
    answer_of,
)

from strongroom.assembly.doctor import assemble_doctor
from strongroom_simulators.wecom.codes import PRIVATE
from strongroom_simulators.wecom.interfaces import (
    GET_TOKEN,
    GET_USER,
    GET_USER_DETAIL,
    GET_USER_INFO,
)

CODE_INVALID = (401, "error.wecom-code-invalid")
NOT_MEMBER = (403, "error.wecom-not-member")
UNAVAILABLE = (503, "error.unavailable")


class TestLogin:
    def test_a_member_logs_in_and_is_registered_once(self, api: Api, logins: Logins) -> None:
        response = logins.log_in("lin")
        assert response.status_code == 200
        assert response.json["user"]["name"] == "林小雨"
        person = logins.person(response)
        assert logins.log_in("lin").json["user"]["id"] == person.id
        assert logins.credentials(person) == {("wecom", "ww00000000000000c1:linxiaoyu")}
        (listed, *_) = api.get("/users/me/authorizations", by=person).json["data"]
        assert listed["method"] == "wecom"

    @on_sqlite
    def test_the_case_of_a_userid_makes_no_second_user(self, logins: Logins, platform: WeCom) -> None:
        first = logins.log_in("lin").json["user"]["id"]
        platform.app.visible_to = None
        platform.platform.people["lin"].userid = "LINXIAOYU"
        assert logins.log_in("lin").json["user"]["id"] == first

    def test_of_32_uses_of_one_code_one_logs_in(self, api: Api, platform: WeCom) -> None:
        code = platform.code("lin")
        clients = [Client(api) for _ in range(32)]
        answers = at_once([partial(client.log_in, code) for client in clients])
        statuses = sorted(answer.status_code for answer in answers)
        assert statuses == [200, *[401] * 31]
        assert platform.platform.requests[GET_TOKEN] == 1

    @on_sqlite
    def test_a_verified_number_joins_the_user_who_has_it(
        self, api: Api, logins: Logins, platform: WeCom
    ) -> None:
        known = api.person(mobile="13800000001")
        assert logins.log_in("lin", PRIVATE).json["user"]["id"] != known.id
        assert platform.platform.requests[GET_USER_DETAIL] == 0


@on_sqlite
class TestContactData:
    @pytest.fixture
    def config_changes(self, platform: WeCom) -> Table:
        return platform.config("https://127.0.0.1", contact_data=True)

    def test_a_verified_number_joins_the_user_who_has_it(self, api: Api, logins: Logins) -> None:
        known = api.person(mobile="13800000001")
        assert logins.log_in("lin", PRIVATE).json["user"]["id"] == known.id

    def test_an_address_that_wecom_does_not_verify_joins_no_user(self, api: Api, logins: Logins) -> None:
        known = api.person(email="lin@example.com")
        assert logins.log_in("lin", PRIVATE).json["user"]["id"] != known.id


Prepare = Callable[[WeCom], str]


def fails(path: str, errcode: int, times: int = 2) -> Prepare:
    """Return a preparation: an interface fails, with a good code."""

    def prepare(platform: WeCom) -> str:
        # The server fetches a token again only if it has none that the platform accepts.
        platform.platform.tokens.withdraw(platform.app)
        platform.platform.failures.plan(path, errcode, times=times)
        return platform.code("lin")

    return prepare


def answers(path: str, body: bytes, status: int = 200) -> Prepare:
    """Return a preparation: an interface returns something undocumented."""

    def prepare(platform: WeCom) -> str:
        platform.platform.failures.plan_answer(path, body, status=status, times=2)
        return platform.code("lin")

    return prepare


def old(platform: WeCom) -> str:
    code = platform.code("lin")
    platform.platform.clock.advance(300)
    return code


def used(platform: WeCom) -> str:
    code = platform.code("lin")
    platform.platform.codes.spend(platform.app, code)
    return code


def removed(platform: WeCom) -> str:
    code = platform.code("wei")
    platform.platform.remove("wei")
    return code


def untrusted(platform: WeCom) -> str:
    platform.platform.trust(["192.0.2.1"])
    return platform.code("lin")


REFUSALS: list[tuple[str, Prepare, tuple[int, str]]] = [
    ("a made-up code", lambda _: "made-up", CODE_INVALID),
    ("a code of 513 bytes", lambda _: "a" * 513, CODE_INVALID),
    ("a code with a line break", lambda _: "a\r\nb", CODE_INVALID),
    ("an old code", old, CODE_INVALID),
    ("a used code", used, CODE_INVALID),
    ("an outsider", lambda platform: platform.code("ren"), NOT_MEMBER),
    ("a member of a linked corporation", lambda platform: platform.code("ada"), NOT_MEMBER),
    ("a member outside the visible range", lambda platform: platform.code("chen"), NOT_MEMBER),
    ("a disabled member", lambda platform: platform.code("qian"), NOT_MEMBER),
    ("a member who was removed", removed, NOT_MEMBER),
    ("an unknown userid", fails(GET_USER, 60111), NOT_MEMBER),
    ("a busy platform", fails(GET_USER_INFO, -1), UNAVAILABLE),
    ("too many calls", fails(GET_TOKEN, 45009), UNAVAILABLE),
    ("a wrong secret", fails(GET_TOKEN, 40001), UNAVAILABLE),
    ("a wrong corporation", fails(GET_TOKEN, 40013), UNAVAILABLE),
    ("an untrusted address", untrusted, UNAVAILABLE),
    ("a token that stays refused", fails(GET_USER_INFO, 40014), UNAVAILABLE),
    ("a token that stays expired", fails(GET_USER_INFO, 42001), UNAVAILABLE),
    ("contacts that are not available", fails(GET_USER, -1), UNAVAILABLE),
    ("contacts without a right to them", fails(GET_USER, 48002), UNAVAILABLE),
    ("another agent's secret", fails(GET_USER, 301002), UNAVAILABLE),
    ("HTML", answers(GET_USER_INFO, b"<html>", 502), UNAVAILABLE),
    ("nothing", answers(GET_USER_INFO, b""), UNAVAILABLE),
    ("a list", answers(GET_USER_INFO, b"[1]"), UNAVAILABLE),
    ("an object without members", answers(GET_USER_INFO, b"{}"), NOT_MEMBER),
    ("a userid that is a number", answers(GET_USER_INFO, b'{"userid": 1}'), UNAVAILABLE),
    ("a userid in UTF-16", answers(GET_USER_INFO, '{"userid": "lin"}'.encode("utf-16")), UNAVAILABLE),
    ("an errcode that is a text", answers(GET_USER_INFO, b'{"errcode": "x"}'), UNAVAILABLE),
    ("contacts without JSON", answers(GET_USER, b"null"), UNAVAILABLE),
    ("a status that is a text", answers(GET_USER, b'{"status": "x"}'), UNAVAILABLE),
    ("an answer of 65 KiB", answers(GET_USER_INFO, b" " * 66_560 + b"{}"), UNAVAILABLE),
    ("a redirect", answers(GET_USER_INFO, b"", 302), UNAVAILABLE),
]


@on_sqlite
class TestRefusals:
    def test_end_in_no_login_and_no_fault_of_the_server(self, api: Api, logins: Logins) -> None:
        """One server for all of them: each is the same after the others."""
        platform = logins.wecom
        for name, prepare, expected in REFUSALS:
            response = Client(api).log_in(prepare(platform))
            assert (name, response.status_code, error_code(response)) == (name, *expected)
            assert "accessToken" not in response.text
            _heal(platform)
        users = api.get("/users", by=api.person(admin=True)).json
        assert users["meta"]["totalCount"] == 1
        assert logins.log_in("lin").status_code == 200
        assert len(REFUSALS) >= 20

    def test_a_state_is_of_one_browser_one_use_and_one_purpose(self, api: Api, platform: WeCom) -> None:
        own, other = Client(api), Client(api)
        state = own.begin()["state"]
        other.begin()
        for client, tried in ((other, state), (own, "made-up"), (own, state.replace("login", "bind"))):
            response = client.post(AUTHORIZATIONS, {"state": tried, "code": platform.code("lin")})
            assert (response.status_code, error_code(response)) == (400, "error.state-invalid")
        body = {"state": state, "code": platform.code("lin")}
        assert own.post(AUTHORIZATIONS, body).status_code == 200
        assert error_code(own.post(AUTHORIZATIONS, body)) == "error.state-invalid"

    def test_a_missing_code_and_an_unknown_app_are_refused(self, api: Api) -> None:
        client = Client(api)
        assert client.post(AUTHORIZATIONS, {"state": client.begin()["state"]}).status_code == 400
        response = client.post(REQUESTS, {"app": "other"})
        assert (response.status_code, error_code(response)) == (400, "error.wecom-app-unknown")

    def test_an_untrusted_address_is_one_clear_line_in_the_log(
        self, logins: Logins, platform: WeCom, caplog: pytest.LogCaptureFixture
    ) -> None:
        platform.platform.trust([])
        assert logins.log_in("lin").status_code == 503
        (line,) = [record for record in own_records(caplog) if record.levelno == logging.ERROR]
        for words in ("[login.wecom.apps.main]", "企业可信IP", "60020", "from ip: 127.0.0.1"):
            assert words in line.getMessage()
        assert "planted" not in caplog.text


def _heal(platform: WeCom) -> None:
    platform.platform.trust(None)
    for path in (GET_TOKEN, GET_USER_INFO, GET_USER, GET_USER_DETAIL):
        while platform.platform.failures.take(path):
            pass


@on_sqlite
class TestPages:
    """The login page leads to the page that works in the browser, and back with a session."""

    @pytest.mark.parametrize(
        ("user_agent", "page"),
        [("Firefox", "/wwlogin/sso/login"), (IN_APP, "/connect/oauth2/authorize")],
    )
    def test_one_button_leads_to_the_page_for_the_browser(
        self, api: Api, platform: WeCom, user_agent: str, page: str
    ) -> None:
        browser = PageBrowser(api, User_Agent=user_agent)
        assert f'href="{BEGIN}?app=main"' in browser.open("/account/login").text
        url = _begin(browser)
        assert urlsplit(url).path == page
        browser.open(_back(platform.visit(url, "lin", user_agent=user_agent)))
        assert browser.path == "/account/"
        assert browser.is_logged_in

    def test_a_refusal_leads_to_the_login_page(self, api: Api, platform: WeCom) -> None:
        browser = PageBrowser(api)
        back = platform.visit(_begin(browser), "lin", refuse=True)
        assert answer_of(back).keys() == {"state"}
        browser.open(_back(back))
        assert browser.path == "/account/login"
        assert browser.message
        assert not browser.is_logged_in

    def test_an_outsider_who_opens_a_link_in_the_app_does_not_enter(
        self, api: Api, platform: WeCom
    ) -> None:
        browser = PageBrowser(api, User_Agent=IN_APP)
        browser.open(_back(platform.visit(_begin(browser), "ren", user_agent=IN_APP)))
        assert browser.path == "/account/login"
        assert (
            browser.message
            == "Only members of the organisation can log in this way. Log in another way."
        )
        assert not browser.is_logged_in

    def test_a_page_in_chinese_is_chinese(self, api: Api, platform: WeCom) -> None:
        browser = PageBrowser(api, Accept_Language="zh-CN", User_Agent=IN_APP)
        assert "企业微信登录" in browser.open("/account/login").text
        browser.open(_back(platform.visit(_begin(browser), "ren", user_agent=IN_APP)))
        assert browser.message == "只有该组织的成员可以这样登录。请使用其他方式登录。"


def _begin(browser: PageBrowser) -> str:
    location: str = browser.request(f"{BEGIN}?app=main").headers["Location"]
    return location


def _back(location: str) -> str:
    parts = urlsplit(location)
    assert parts.path == CALLBACK
    return f"{parts.path}?{parts.query}"


@on_sqlite
class TestDoctor:
    def test_says_that_a_platform_accepts_the_configuration(self, api: Api, logins: Logins) -> None:
        assert finding(api) == ("ok", "is configured")

    def test_says_what_to_do_about_an_untrusted_address(self, api: Api, platform: WeCom) -> None:
        platform.platform.trust([])
        state, message = finding(api)
        assert state == "warning"
        for words in ("app main", "企业可信IP", "60020", "from ip: 127.0.0.1"):
            assert words in message
        assert "planted" not in message

    def test_says_that_the_secret_is_wrong(self, api: Api, platform: WeCom) -> None:
        platform.app.secret = "another"
        state, message = finding(api)
        assert state == "warning"
        assert "check corpid and secret" in message


def finding(api: Api) -> tuple[str, str]:
    """Return what the doctor says about the login method."""
    (result,) = [
        item
        for item in assemble_doctor(api.container, api.container.jobs).examine()
        if item.part == "login.wecom"
    ]
    return result.state.value, result.message
