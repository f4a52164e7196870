"""The pages of the account connect a WeChat account and remove it, without scripts."""

import re
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from tests.support.api import Api, Person, error_code
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.wechat import CALLBACK, Logins, WeChat

from strongroom.testing.clock import MINUTE

pytestmark = on_sqlite

ROOT = "http://127.0.0.1"
PAGE = "/account/connections/wechat"
BEGIN = "/api/v1/wechat-authorizations/begin?app=site&purpose=bind"
IN_APP = "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 MicroMessenger/8.0.50 Language/zh_CN"


@pytest.fixture
def config_changes(platform: WeChat) -> Table:
    plugins = {"enabled": ["storage_local", "login_wechat", "login_pages"]}
    changes = merged(FIXED_CAPTCHA, platform.config(ROOT))
    return {**changes, "plugins": plugins, "server": {"public_url": ROOT}}


class Wall(PageBrowser):
    """A browser that stops where the server leads it to WeChat."""

    def begin(self) -> str:
        """Press the button; return the state that WeChat gets."""
        button = BEGIN.replace("&", "&amp;")
        assert f'href="{button}"' in self.open("/account/").text
        location = self.request(BEGIN).headers["Location"]
        return parse_qs(urlsplit(location).query)["state"][0]

    def come_back(self, state: str, code: str | None) -> int:
        """Return from WeChat, and follow the redirects; return the status of the last page."""
        query = {"state": state, **({"code": code} if code else {})}
        return self.open(f"{CALLBACK}?{urlencode(query)}").status_code

    def send_code(self, page: str = PAGE) -> None:
        """Have a code sent to the user's contact."""
        self.send(f"{page.removeprefix('/account/')}/code", captchaAnswer="42")

    def enter_code(self, code: str, page: str = PAGE) -> None:
        """Enter that code."""
        self.send(page.removeprefix("/account/"), heldCode=code)


@pytest.fixture
def person(api: Api) -> Person:
    return api.person()


@pytest.fixture
def browser(api: Api, person: Person) -> Wall:
    return logged_in(api, person)


def logged_in(api: Api, person: Person) -> Wall:
    browser = Wall(api)
    browser.log_in(person.email)
    assert browser.path == "/account/"
    return browser


def sent_code(api: Api) -> str:
    code: str = api.outbox()[-1]["code"]
    return code


def connect(api: Api, browser: Wall, platform: WeChat, person: str = "lin") -> None:
    browser.come_back(browser.begin(), platform.code("site", person))
    assert browser.path == PAGE
    browser.send_code()
    browser.enter_code(sent_code(api))


class TestConnecting:
    def test_a_scan_and_a_code_connect_the_account(
        self, api: Api, browser: Wall, person: Person, platform: WeChat, logins: Logins
    ) -> None:
        connect(api, browser, platform)
        assert browser.message == "The account was connected."
        assert re.search(r"connected since \w+ \d+, 20", browser.page.text)
        assert logins.scan("lin").json["user"]["id"] == person.id

    def test_nothing_is_connected_before_the_code(
        self, browser: Wall, platform: WeChat, person: Person, logins: Logins
    ) -> None:
        browser.come_back(browser.begin(), platform.code("site", "lin"))
        assert logins.held(person) == {("email", person.email)}

    def test_a_wrong_code_is_corrected(self, api: Api, browser: Wall, platform: WeChat) -> None:
        browser.come_back(browser.begin(), platform.code("site", "lin"))
        browser.send_code()
        code = sent_code(api)
        browser.enter_code("000000" if code != "000000" else "111111")
        assert browser.page.status_code == 400
        assert browser.message == "The code is wrong or has expired."
        browser.enter_code(code)
        assert browser.message == "The account was connected."

    def test_an_account_of_another_user_is_refused_and_stays_there(
        self, api: Api, browser: Wall, platform: WeChat, logins: Logins
    ) -> None:
        holder = api.person()
        logins.bind(holder, "lin", "site")
        connect(api, browser, platform)
        assert browser.message == "Another account has it already."
        assert logins.scan("lin").json["user"]["id"] == holder.id

    def test_a_code_that_wechat_refuses_leaves_the_user_logged_in(
        self, api: Api, browser: Wall, person: Person, logins: Logins
    ) -> None:
        browser.come_back(browser.begin(), "made-up")
        browser.send_code()
        browser.enter_code(sent_code(api))
        assert browser.path == "/account/"
        assert browser.message == "The login took too long, or was used before. Start again."
        assert logins.held(person) == {("email", person.email)}

    def test_a_denial_returns_to_the_account(self, browser: Wall) -> None:
        browser.come_back(browser.begin(), None)
        assert browser.path == "/account/"
        assert browser.message == "You have not connected the account."

    def test_it_needs_a_login(self, api: Api) -> None:
        browser = Wall(api)
        browser.open(BEGIN)
        assert browser.path == "/account/login"

    def test_it_cannot_be_begun_in_the_browser_of_wechat(self, browser: Wall) -> None:
        page = browser.open("/account/", User_Agent=IN_APP).text
        assert "purpose=bind" not in page

    def test_a_page_in_chinese_is_chinese(self, browser: Wall) -> None:
        page = browser.open("/account/?lang=zh").text
        assert "已绑定的第三方账号" in page
        assert 'aria-label="绑定微信"' in page


class TestState:
    """A state is for one use, one browser, one user and connecting alone."""

    @pytest.mark.parametrize("state", ["connect0made-up", "connect0"])
    def test_a_forged_one_is_refused(self, browser: Wall, platform: WeChat, state: str) -> None:
        assert browser.come_back(state, platform.code("site", "lin")) == 400
        assert error_code(browser.page) == "error.state-invalid"

    def test_a_used_one_is_refused(self, browser: Wall, platform: WeChat) -> None:
        state, code = browser.begin(), platform.code("site", "lin")
        assert browser.come_back(state, code) == 200
        assert browser.come_back(state, code) == 400

    def test_one_of_another_browser_is_refused(
        self, api: Api, browser: Wall, person: Person, platform: WeChat
    ) -> None:
        state, other = browser.begin(), logged_in(api, person)
        other.begin()
        assert other.come_back(state, platform.code("site", "lin")) == 400

    def test_one_of_another_user_is_refused(self, api: Api, browser: Wall, platform: WeChat) -> None:
        state = browser.begin()
        browser.open("/account/")
        browser.send("logout")
        browser.log_in(api.person().email)
        assert browser.come_back(state, platform.code("site", "lin")) == 400
        assert error_code(browser.page) == "error.state-invalid"

    def test_one_of_a_login_does_not_connect(self, browser: Wall, platform: WeChat) -> None:
        location = browser.request("/api/v1/wechat-authorizations/begin?app=site").headers["Location"]
        state = parse_qs(urlsplit(location).query)["state"][0].replace("browser0", "connect0", 1)
        assert browser.come_back(state, platform.code("site", "lin")) == 400

    def test_an_old_one_is_refused(self, api: Api, browser: Wall, platform: WeChat) -> None:
        state = browser.begin()
        api.clock.advance(11 * MINUTE)
        assert browser.come_back(state, platform.code("site", "lin")) == 400


class TestRemoving:
    def test_a_code_removes_the_account(
        self, api: Api, browser: Wall, person: Person, platform: WeChat, logins: Logins
    ) -> None:
        connect(api, browser, platform)
        # The server sends one code a minute to a browser.
        api.clock.advance(MINUTE)
        page = f"{PAGE}/removal"
        browser.open(page)
        browser.send_code(page)
        browser.enter_code(sent_code(api), page)
        assert browser.message == "The account is no longer connected."
        assert logins.scan("lin").json["user"]["id"] != person.id

    def test_the_last_way_to_log_in_stays(self, api: Api, logins: Logins) -> None:
        browser = Wall(api)
        location = browser.request("/api/v1/wechat-authorizations/begin?app=site").headers["Location"]
        state = parse_qs(urlsplit(location).query)["state"][0]
        browser.come_back(state, logins.wechat.code("site", "lin"))
        csrf = browser.forms["/account/logout"]["csrf"]
        assert "This needs a verified e-mail address" in browser.open(f"{PAGE}/removal").text
        browser.open(f"{PAGE}/removal", {"csrf": csrf})
        assert browser.message == "This is your only way to log in. Add another one first."
        assert logins.scan("lin").status_code == 200

    def test_what_is_not_connected_does_not_exist(self, browser: Wall) -> None:
        assert browser.open(f"{PAGE}/removal").status_code == 404
        assert browser.open("/account/connections/other/removal").status_code == 404


def test_every_form_needs_the_secret_of_the_browser(browser: Wall, platform: WeChat) -> None:
    browser.come_back(browser.begin(), platform.code("site", "lin"))
    for path in (PAGE, f"{PAGE}/code", f"{PAGE}/removal", f"{PAGE}/removal/code"):
        assert browser.open(path, {"csrf": "x"}).status_code == 400
