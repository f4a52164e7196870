"""Login by a code in the pages, without scripts."""

import re

import pytest
from tests.support.api import Api
from tests.support.config import FIXED_CAPTCHA, SMS_LOGIN, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.foundation.database.upgrade import upgrade

NUMBER = "13800138000"
CONFIG: Table = merged(
    SMS_LOGIN,
    FIXED_CAPTCHA,
    {"plugins": {"enabled": ["storage_local", "login_sms", "factor_totp", "login_pages"]}},
)

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


def newest_code(api: Api) -> str:
    code: str = api.outbox()[-1]["code"]
    return code


def test_a_code_logs_in(api: Api, browser: PageBrowser) -> None:
    person = api.person(mobile=NUMBER)
    browser.request_code(NUMBER)
    assert browser.path == "/account/login/code/entry"
    assert NUMBER in browser.page.text
    browser.send("login/code/entry", code=newest_code(api))
    assert browser.path == "/account/"
    assert api.get("/users/me", by=person).status_code == 200


@pytest.mark.parametrize("spelling", ["+86 138-0013-8000", "8613800138000", " 138 0013 8000 "])
def test_a_number_is_taken_in_any_spelling(api: Api, browser: PageBrowser, spelling: str) -> None:
    browser.request_code(spelling)
    browser.send("login/code/entry", code=newest_code(api))
    assert browser.path == "/account/"


def test_blanks_and_full_width_digits_of_a_code_are_taken(api: Api, browser: PageBrowser) -> None:
    browser.request_code(NUMBER)
    code = newest_code(api).translate({48 + digit: 0xFF10 + digit for digit in range(10)})
    browser.send("login/code/entry", code=f" {code[:3]} {code[3:]} ")
    assert browser.path == "/account/"


def test_a_wrong_code_keeps_the_form(api: Api, browser: PageBrowser) -> None:
    browser.request_code(NUMBER)
    wrong = f"{(int(newest_code(api)) + 1) % 10**6:06}"
    browser.send("login/code/entry", code=wrong)
    assert (browser.page.status_code, browser.message[:17]) == (400, "The code is wrong")
    assert "<title>Error: " in browser.page.text
    assert 'aria-invalid="true"' in browser.page.text
    browser.send("login/code/entry", code="x" * 200)
    assert browser.message.startswith("The code is wrong")
    browser.send("login/code/entry", code=newest_code(api))
    assert browser.path == "/account/"


def test_too_many_wrong_codes_end_the_code(api: Api, browser: PageBrowser) -> None:
    browser.request_code(NUMBER)
    wrong = f"{(int(newest_code(api)) + 1) % 10**6:06}"
    for _ in range(6):
        browser.send("login/code/entry", code=wrong)
    assert browser.message.startswith("Too many wrong codes.")
    browser.send("login/code/entry", code=newest_code(api))
    assert browser.message.startswith("Too many wrong codes.")


def test_an_expired_code_leads_to_a_new_one(api: Api, browser: PageBrowser) -> None:
    browser.request_code(NUMBER)
    api.clock.advance(3_600_000)
    browser.send("login/code/entry", code=newest_code(api))
    assert browser.path == "/account/login/code"
    assert browser.message == "The code is no longer valid. Get a new one."
    browser.send("login/code", captchaAnswer="42")
    browser.send("login/code/entry", code=newest_code(api))
    assert browser.path == "/account/"


def test_another_code_can_be_sent_after_a_while(api: Api, browser: PageBrowser) -> None:
    browser.request_code(NUMBER)
    assert "Another code can be sent in 60 seconds." in browser.page.text
    browser.open("/account/login/code")
    browser.send("login/code", captchaAnswer="42")
    assert browser.message == "Another code can be sent in 60 seconds."
    assert len(api.outbox()) == 1
    api.clock.advance(60_000)
    browser.send("login/code", captchaAnswer="42")
    assert (browser.path, len(api.outbox())) == ("/account/login/code/entry", 2)
    browser.send("login/code/entry", code=newest_code(api))
    assert browser.path == "/account/"


def test_a_wrong_captcha_sends_no_code(api: Api, browser: PageBrowser) -> None:
    browser.open("/account/login")
    browser.send("login", username=NUMBER, way="code")
    before = browser.forms["/account/login/code"]["captcha"]
    browser.send("login/code", captchaAnswer="41")
    assert (browser.page.status_code, api.outbox()) == (400, [])
    assert browser.forms["/account/login/code"]["captcha"] != before
    browser.send("login/code", captchaAnswer="42")
    assert len(api.outbox()) == 1


@pytest.mark.parametrize("name", ["", "alice", "alice@example.com", "x" * 2000, "\uff11", "+1"])
def test_no_code_is_sent_to_other_names(api: Api, browser: PageBrowser, name: str) -> None:
    browser.open("/account/login")
    browser.send("login", username=name, way="code")
    assert (browser.page.status_code, browser.path) == (400, "/account/login")
    assert browser.message.startswith("No code can be sent there.")
    assert api.outbox() == []


def test_another_way_drops_the_code(api: Api, browser: PageBrowser) -> None:
    browser.request_code(NUMBER)
    entry = browser.forms["/account/login/code/entry"]
    browser.send("another-way")
    assert f'value="{NUMBER}"' in browser.page.text
    browser.open("/account/login/code/entry", {**entry, "code": newest_code(api)})
    assert browser.path == "/account/login"
    assert not browser.is_logged_in


def test_the_pages_of_a_code_need_an_attempt(browser: PageBrowser) -> None:
    for path in ("login/code", "login/code/entry", "challenge", "enrolment"):
        browser.open(f"/account/{path}")
        assert browser.path == "/account/login"


def test_a_right_code_of_a_suspended_user_says_why_it_does_not_log_in(
    api: Api, browser: PageBrowser
) -> None:
    upgrade(api.container.database.engine, api.container.selection.plugins.tables)
    admin, person = api.person(admin=True), api.person(mobile=NUMBER)
    api.post(f"/users/{person.id}/suspension", {}, by=admin)
    browser.request_code(NUMBER)
    browser.send("login/code/entry", code=newest_code(api))
    assert browser.path == "/account/login"
    assert browser.message
    assert not browser.is_logged_in


@pytest.mark.config(CONFIG, {"login": {"methods": ["sms"]}})
def test_a_server_with_codes_only_has_a_field_for_the_number(browser: PageBrowser) -> None:
    page = browser.open("/account/login").text
    assert re.search(r'id="username"[^>]*type="tel" autocomplete="tel webauthn"', page)
    assert 'type="password"' not in page
    assert "Text me a code" in page


@pytest.mark.config({"plugins": {"enabled": ["storage_local", "login_pages"]}})
def test_a_server_without_codes_offers_none(browser: PageBrowser) -> None:
    page = browser.open("/account/login").text
    assert 'value="code"' not in page
    browser.send("login", username=NUMBER, way="code")
    assert browser.message.startswith("No code can be sent there.")


class TestCaptchas:
    """A code is sent after any kind of captcha."""

    @pytest.fixture(params=["fixed"])
    def config_changes(self, request: pytest.FixtureRequest) -> Table:
        if request.param == "fixed":
            return merged(CONFIG, {"limits": {"captchas_per_address": ["1/hour"]}})
        captcha = {"provider": request.param, "pages_provider": request.param, "answer": None}
        return {**CONFIG, "captcha": captcha}

    def request_form(self, browser: PageBrowser) -> str:
        browser.open("/account/login")
        return browser.send("login", username=NUMBER, way="code").text

    @pytest.mark.parametrize("config_changes", ["image"], indirect=True)
    def test_people_read_or_hear_it(self, browser: PageBrowser) -> None:
        page = self.request_form(browser)
        assert re.search(r'<img class="picture" src="data:image/png;base64,[^"]+" alt="[^"]+">', page)
        assert re.search(r'<audio controls src="data:audio/wav;base64,[^"]+" aria-label="[^"]+">', page)

    @pytest.mark.parametrize("config_changes", ["proof_of_work"], indirect=True)
    def test_browsers_solve_it(self, browser: PageBrowser) -> None:
        page = self.request_form(browser)
        assert re.search(
            r'<input type="hidden" name="captchaAnswer" value="" data-work="{[^"]+}">', page
        )
        policy = browser.page.headers["Content-Security-Policy"]
        script = re.search(r'<script type="module" src="([^"]+/proof_of_work.js)"', page)
        assert script is not None
        assert "data-work" in browser.open(script[1]).text
        assert "script-src 'self'" in policy
        assert '<noscript><p role="alert">' in page

    def test_without_one_the_page_says_so(self, browser: PageBrowser) -> None:
        self.request_form(browser)
        page = browser.open("/account/login/code")
        assert (page.status_code, browser.message) == (200, "Too many attempts. Try again later.")
        assert "/account/login/code" not in browser.forms


class TestMail:
    """Codes by e-mail, alone and next to those by SMS."""

    BOTH: Table = merged(
        CONFIG,
        {"plugins": {"enabled": ["storage_local", "login_sms", "login_email", "login_pages"]}},
        {"login": {"methods": ["password", "sms", "email_code"]}},
    )

    @pytest.mark.config(BOTH)
    @pytest.mark.parametrize("recipient", [NUMBER, "alice@example.com", " Alice@EXAMPLE.com "])
    def test_a_code_goes_to_any_contact(self, api: Api, browser: PageBrowser, recipient: str) -> None:
        assert "Send me a code" in browser.open("/account/login").text
        browser.request_code(recipient)
        browser.send("login/code/entry", code=newest_code(api))
        assert browser.path == "/account/"

    @pytest.mark.config(BOTH, {"login": {"methods": ["email_code"]}})
    def test_a_server_without_passwords_asks_for_the_address(self, browser: PageBrowser) -> None:
        page = browser.open("/account/login").text
        assert ("E-mail me a code" in page, 'type="password"' in page) == (True, False)
        assert '<label for="username">E-mail address</label>' in page
