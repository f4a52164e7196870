"""A forgotten password in the pages, without scripts."""

import re

import pytest
from tests.support.api import PASSWORD, Api, Person
from tests.support.config import FIXED_CAPTCHA, SMS_LOGIN, Table, lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.testing.clock import MINUTE

NUMBER, EMAIL = "13800138000", "alice@example.com"
NEW = "Another2Battery"
CONFIG: Table = merged(
    SMS_LOGIN,
    FIXED_CAPTCHA,
    lifted(),
    {"plugins": {"enabled": ["storage_local", "login_sms", "login_pages"]}},
)
PATTERNS = {
    "csrf": r'name="csrf" value="[^"]+"',
    "captcha": r'name="captcha" value="[^"]+"|src="data:[^"]+"',
    "nonce": r'nonce="[^"]+"',
    "address": r"[\w.]+@example\.com",
}

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(name="Alice", email=EMAIL, mobile=NUMBER)


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


def request_code(browser: PageBrowser, name: str) -> None:
    browser.open("/account/forgot")
    browser.send("forgot", username=name, captchaAnswer="42")


def newest_code(api: Api) -> str:
    code: str = api.outbox()[-1]["code"]
    return code


@pytest.mark.parametrize("contact", [EMAIL, NUMBER, "Alice@Example.COM ", "+86 138-0013-8000"])
def test_a_code_sets_a_new_password(
    api: Api, browser: PageBrowser, person: Person, contact: str
) -> None:
    browser.open("/account/login")
    assert 'href="/account/forgot"' in browser.page.text
    request_code(browser, contact)
    assert browser.path == "/account/reset"
    browser.send("reset", code=newest_code(api), newPassword=NEW)
    assert (browser.path, browser.message) == ("/account/login", "The password is set. Log in with it.")
    assert not browser.is_logged_in
    # All former logins have ended.
    assert api.get("/users/me", by=person).status_code == 401
    browser.log_in(EMAIL, NEW)
    assert browser.path == "/account/"


def test_the_pages_are_the_same_for_contacts_without_a_user(
    api: Api, browser: PageBrowser, person: Person
) -> None:
    pages = {}
    for name in (EMAIL, "other@example.com"):
        request_code(browser, name)
        entry = browser.page
        refused = browser.send("reset", code="000000", newPassword=NEW)
        pages[name] = [(page.status_code, anonymous(page.text)) for page in (entry, refused)]
    assert pages[EMAIL] == pages["other@example.com"]
    assert pages[EMAIL][1][0] == 400
    assert [message["recipient"] for message in api.outbox()] == [EMAIL]


def anonymous(text: str) -> str:
    """Return a page without what differs between any two requests."""
    for name, pattern in PATTERNS.items():
        text = re.sub(pattern, name, text)
    return text


def test_a_refused_password_uses_up_no_code(api: Api, browser: PageBrowser, person: Person) -> None:
    request_code(browser, EMAIL)
    browser.send("reset", code=newest_code(api), newPassword="weak")
    assert (browser.page.status_code, browser.message[:22]) == (400, "Choose another passwor")
    assert "<title>Error: " in browser.page.text
    browser.send("reset", code=newest_code(api), newPassword=NEW)
    assert browser.path == "/account/login"


def test_a_wrong_code_sets_nothing(api: Api, browser: PageBrowser, person: Person) -> None:
    request_code(browser, EMAIL)
    wrong = f"{(int(newest_code(api)) + 1) % 10**6:06}"
    for _ in range(5):
        browser.send("reset", code=wrong, newPassword=NEW)
        assert browser.message.startswith("The code is wrong")
    browser.send("reset", code=newest_code(api), newPassword=NEW)
    assert browser.message.startswith("Too many wrong codes.")
    assert api.log_in(EMAIL, NEW).status_code != 200
    assert api.get("/users/me", by=person).status_code == 200


def test_an_expired_code_leads_to_a_new_one(api: Api, browser: PageBrowser, person: Person) -> None:
    request_code(browser, EMAIL)
    api.clock.advance(6 * MINUTE)
    browser.send("reset", code=newest_code(api), newPassword=NEW)
    assert (browser.path, browser.message[:24]) == ("/account/forgot", "The code is no longer va")
    assert f'value="{EMAIL}"' in browser.page.text


def test_a_code_is_for_the_browser_that_has_requested_it(
    api: Api, browser: PageBrowser, person: Person
) -> None:
    request_code(browser, EMAIL)
    other = PageBrowser(api)
    other.open("/account/reset")
    assert other.path == "/account/forgot"
    form = {"csrf": other.forms["/account/forgot"]["csrf"], "code": newest_code(api), "newPassword": NEW}
    other.open("/account/reset", form)
    assert (other.path, api.log_in(EMAIL, PASSWORD).status_code) == ("/account/forgot", 200)


def test_a_login_by_another_way_drops_the_code(api: Api, browser: PageBrowser, person: Person) -> None:
    request_code(browser, EMAIL)
    form = {**browser.forms["/account/reset"], "code": newest_code(api), "newPassword": NEW}
    browser.open("/account/login")
    browser.send("login", username=NUMBER, way="code")
    browser.open("/account/reset", form)
    assert browser.path == "/account/forgot"
    assert api.log_in(EMAIL, PASSWORD).status_code == 200


def test_a_code_for_a_login_sets_no_password(api: Api, browser: PageBrowser, person: Person) -> None:
    browser.request_code(NUMBER)
    form = {"csrf": browser.forms["/account/login/code/entry"]["csrf"]}
    browser.open("/account/reset", {**form, "code": newest_code(api), "newPassword": NEW})
    assert browser.path == "/account/forgot"
    assert api.log_in(EMAIL, PASSWORD).status_code == 200


def test_the_last_contact_is_the_one_whose_code_counts(
    api: Api, browser: PageBrowser, person: Person
) -> None:
    request_code(browser, EMAIL)
    of_mail = newest_code(api)
    request_code(browser, NUMBER)
    browser.send("reset", code=of_mail, newPassword=NEW)
    assert browser.page.status_code == 400
    browser.send("reset", code=newest_code(api), newPassword=NEW)
    assert browser.path == "/account/login"


@pytest.mark.parametrize(
    "name", ["", "alice", "x" * 2000, '"><svg onload=alert(1)>', "{{7*7}}", "a\r\nb: c", "\u202ealice"]
)
def test_other_names_get_no_code(api: Api, browser: PageBrowser, name: str) -> None:
    request_code(browser, name)
    assert (browser.page.status_code, browser.path) == (400, "/account/forgot")
    assert browser.message.startswith("No code can be sent there.")
    assert "<svg" not in browser.page.text
    assert api.outbox() == []


def test_a_wrong_captcha_sends_nothing(api: Api, browser: PageBrowser, person: Person) -> None:
    browser.open("/account/forgot")
    browser.send("forgot", username=EMAIL, captchaAnswer="41")
    assert (browser.page.status_code, api.outbox()) == (400, [])
    browser.send("forgot", username=EMAIL, captchaAnswer="42")
    assert browser.path == "/account/reset"


@pytest.mark.parametrize("path", ["forgot", "reset"])
def test_a_form_of_another_site_is_refused(api: Api, browser: PageBrowser, path: str) -> None:
    browser.open("/account/forgot")
    browser.open(f"/account/{path}", {"csrf": "x", "username": EMAIL, "code": "1", "newPassword": NEW})
    assert "This form has expired" in browser.page.text


@pytest.mark.config(CONFIG, {"login": {"methods": ["sms"]}})
def test_a_server_without_passwords_has_no_page(browser: PageBrowser) -> None:
    assert browser.open("/account/forgot").status_code == 404
    assert "forgot" not in browser.open("/account/login").text
