"""The login page: what it offers, remembers and reveals, without scripts."""

import re

import pytest
from tests.support.api import PASSWORD, Api
from tests.support.config import FIXED_CAPTCHA, SMS_LOGIN, Table, lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import ROOT, PageBrowser

from strongroom.foundation.caller import Origin
from strongroom.foundation.errors import Unavailable
from strongroom.identity.accounts.registration import Registration, RegistrationService
from strongroom.identity.sessions.throttle import LoginThrottle

NUMBER = "13800138000"
LAST = "strongroom-last-login"
CONFIG: Table = merged(
    SMS_LOGIN,
    FIXED_CAPTCHA,
    lifted(),
    {"plugins": {"enabled": ["storage_local", "login_sms", "factor_totp", "login_pages"]}},
)
HOSTILE = {
    "markup": '"><svg onload=alert(1)>',
    "template": "{{7*7}}${7*7}",
    "direction": "\u202ealice",
    "length": "x" * 200,
    "lines": "a\r\nSet-Cookie: a=b",
    "url": "http://evil.example/",
}

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


class TestLastWay:
    """The browser remembers how it has logged in last: the name of the way, and nothing else."""

    def test_the_button_of_the_last_way_is_marked(self, api: Api, browser: PageBrowser) -> None:
        assert "last used" not in browser.open("/account/login").text
        browser.request_code(NUMBER)
        browser.send("login/code/entry", code=api.outbox()[-1]["code"])
        browser.open("/account/")
        browser.send("logout")
        assert browser.cookie(LAST, "/account") == "code"
        described = (
            r'value="code" aria-describedby="last-used">\s*Text me a code\s*<small[^>]*>last used<'
        )
        assert re.search(described, browser.page.text)
        person = api.person()
        browser.log_in(person.email)
        assert browser.cookie(LAST, "/account") == "password"

    def test_the_cookie_is_hidden_from_scripts_and_of_these_pages_only(
        self, api: Api, browser: PageBrowser
    ) -> None:
        browser.open("/account/login")
        person = api.person()
        form = {**browser.forms["/account/login"], "username": person.email, "password": PASSWORD}
        browser.request("/account/login", form)
        (cookie,) = [text for text in browser.page.headers.getlist("Set-Cookie") if LAST in text]
        assert {"HttpOnly", "Secure", "SameSite=Lax", "Path=/account"} <= set(cookie.split("; "))

    @pytest.mark.parametrize("value", ['"><svg>', "x" * 100, "CODE", "", "../code"])
    def test_a_cookie_of_another_kind_is_ignored(self, browser: PageBrowser, value: str) -> None:
        page = browser.open("/account/login", Cookie=f"{LAST}={value}")
        assert page.status_code == 200
        assert "last used" not in page.text

    def test_a_failed_login_changes_nothing(self, browser: PageBrowser) -> None:
        browser.log_in("alice@example.com")
        assert browser.cookie(LAST, "/account") is None


class TestLoggedIn:
    """A browser with a session says whose it is."""

    def test_the_user_continues_to_the_page_that_needs_the_login(
        self, api: Api, browser: PageBrowser
    ) -> None:
        browser.log_in(api.person(name="Alice").email)
        page = browser.open("/account/login?resume=/account/step-up").text
        assert re.search(r"You are logged in as <strong><bdi>Alice</bdi>", page)
        assert '<a class="button" href="/account/step-up">' in page

    def test_another_account_replaces_it(self, api: Api, browser: PageBrowser) -> None:
        browser.log_in(api.person(name="Alice").email)
        browser.log_in(api.person(name="Bob").email)
        assert "<bdi>Bob</bdi>" in browser.open("/account/login").text


@pytest.mark.config(CONFIG, {"second_factors": {"required_for": ["all"]}})
class TestAnotherWay:
    """A login that takes another way begins again: it keeps the name only."""

    @pytest.fixture(autouse=True)
    def enrolling(self, api: Api, browser: PageBrowser) -> None:
        browser.open("/account/login")
        registration = Registration(name="Alice", password=PASSWORD, email="alice@example.com")
        api.container.get(RegistrationService).create(registration, Origin())
        browser.log_in("alice@example.com")
        assert browser.path == "/account/enrolment"

    def test_it_drops_the_enrolment(self, browser: PageBrowser) -> None:
        page = browser.send("another-way").text
        assert (browser.path, 'value="alice@example.com"' in page) == ("/account/login", True)
        browser.open("/account/enrolment")
        assert browser.path == "/account/login"

    def test_a_new_login_drops_it_too(self, browser: PageBrowser) -> None:
        browser.log_in("alice@example.com", "Wrong1Horse")
        browser.open("/account/enrolment")
        assert browser.path == "/account/login"


class TestExpiredForms:
    """A form whose session is gone is shown again, with the name that was entered."""

    def test_the_next_form_is_valid(self, api: Api, browser: PageBrowser) -> None:
        person = api.person()
        browser.open("/account/login")
        browser.forget("__Host-strongroom-session")
        browser.send("login", username=person.email, password=PASSWORD)
        assert (browser.page.status_code, browser.path) == (400, "/account/login")
        assert browser.message.startswith("This form was open for too long.")
        assert f'value="{person.email}"' in browser.page.text
        assert PASSWORD not in browser.page.text
        browser.send("login", username=person.email, password=PASSWORD)
        assert browser.path == "/account/"

    def test_the_second_of_two_forms_meets_the_session_of_the_first(
        self, api: Api, browser: PageBrowser
    ) -> None:
        person = api.person(name="Alice")
        browser.open("/account/login")
        form = {**browser.forms["/account/login"], "username": person.email, "password": PASSWORD}
        browser.open("/account/login", form)
        browser.open("/account/login", form)
        assert (browser.page.status_code, browser.path) == (200, "/account/login")
        assert "<bdi>Alice</bdi>" in browser.page.text

    @pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
    def test_a_form_of_another_site_gets_no_form_and_no_cookie(
        self, browser: PageBrowser, site: str
    ) -> None:
        form = {"csrf": "x", "username": "alice@example.com", "password": PASSWORD}
        browser.request("/account/login", form, **{"Sec-Fetch-Site": site})
        assert (browser.page.status_code, browser.set_cookies) == (400, {})
        assert "alice@example.com" not in browser.page.text


class TestEnumeration:
    """Pages do not reveal whether a user exists."""

    KNOWN, UNKNOWN = NUMBER, "13900139000"

    def pages(self, api: Api, name: str) -> list[tuple[int, str]]:
        """Return the pages of all logins that fail, without their random parts."""
        browser = PageBrowser(api)
        pages = [browser.log_in(name, "Wrong1Horse")]
        pages.append(browser.request_code(name))
        pages.append(browser.send("login/code/entry", code="000000"))
        pages.append(browser.open("/account/login/code"))
        return [(page.status_code, self.stable(page.text, name)) for page in pages]

    @staticmethod
    def stable(page: str, name: str) -> str:
        hidden = re.sub(r'(name="(?:csrf|captcha)" value)="[^"]*"', r"\1", page)
        return re.sub(r'data-device="[^"]*"|nonce="[^"]*"', "", hidden).replace(name, "NAME")

    def test_known_and_unknown_names_get_the_same_bytes(self, api: Api) -> None:
        api.person(mobile=self.KNOWN)
        known, unknown = self.pages(api, self.KNOWN), self.pages(api, self.UNKNOWN)
        assert [status for status, _ in known] == [400, 200, 400, 200]
        assert known == unknown


class TestHostileTexts:
    """Names are text, wherever they come from."""

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_a_name_in_the_form_stays_one(self, browser: PageBrowser, kind: str) -> None:
        for fields in ({"password": "x"}, {"way": "code"}):
            browser.open("/account/login")
            page = browser.send("login", username=HOSTILE[kind], **fields).text
            assert "<svg on" not in page
            # Nonces and digests are random.
            assert "49" not in re.sub(r'(value|nonce|src|href)="[^"]*"', "", page)
            assert "a" not in browser.set_cookies

    def test_the_name_of_a_user_is_isolated(self, api: Api, browser: PageBrowser) -> None:
        browser.log_in(api.person(name=HOSTILE["markup"]).email)
        page = browser.open("/account/login").text
        assert "<bdi>&#34;&gt;&lt;svg onload=alert(1)&gt;</bdi>" in page

    @pytest.mark.parametrize(
        "resume",
        [
            "https://evil.example/",
            "//evil.example/",
            "/\\evil.example",
            "javascript:alert(1)",
        ],
    )
    def test_the_login_leads_to_no_other_site(self, api: Api, browser: PageBrowser, resume: str) -> None:
        browser.open(f"/account/login?resume={resume}")
        form = {**browser.forms["/account/login"], "username": api.person().email, "password": PASSWORD}
        browser.request("/account/login", form)
        assert browser.page.headers["Location"] == "/account/"

    def test_no_other_site_frames_a_page(self, browser: PageBrowser) -> None:
        pages = [browser.open("/account/login"), browser.request_code(NUMBER)]
        for page in (*pages, browser.open("/account/login/code")):
            assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]


def test_a_login_that_a_part_refuses_is_503_and_says_when_to_try_again(
    api: Api, browser: PageBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise Unavailable(retry_after=7)

    person = api.person()
    monkeypatch.setattr(LoginThrottle, "begin", away)
    browser.log_in(person.email)
    assert (browser.page.status_code, browser.page.headers["Retry-After"]) == (503, "7")
    assert f"{ROOT}/login" in browser.forms
    monkeypatch.undo()
    browser.log_in(person.email, "Wrong1Horse")
    assert (browser.page.status_code, "Retry-After" in browser.page.headers) == (400, False)
