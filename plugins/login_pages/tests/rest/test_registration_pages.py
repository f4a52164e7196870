"""Registration in the pages, without scripts."""

import re

import pytest
from tests.support.api import PASSWORD, Api
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "factor_totp", "login_pages"]}}
)
HOSTILE = '"><svg onload=alert(1)> {{7*7}} \u202ecod'

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


def begin(browser: PageBrowser, contact: str, name: str = "Alice") -> None:
    browser.open("/account/register")
    browser.send("register", name=name, username=contact, captchaAnswer="42")


def newest_code(api: Api) -> str:
    code: str = api.outbox()[-1]["code"]
    return code


@pytest.mark.parametrize("contact", ["alice@example.com", "+86 138 0013 8000"])
def test_a_code_and_a_password_create_an_account_that_is_logged_in(
    api: Api, browser: PageBrowser, contact: str
) -> None:
    browser.open("/account/login")
    assert "/account/register" in browser.page.text
    begin(browser, contact)
    assert browser.path == "/account/register/code"
    browser.send("register/code", code=newest_code(api), newPassword=PASSWORD)
    assert browser.path == "/account/"
    assert browser.is_logged_in


def test_pages_of_known_and_unknown_contacts_are_equal(api: Api) -> None:
    api.person(email="alice@example.com")
    pages = {}
    for contact in ("alice@example.com", "alicf@example.com"):
        browser = PageBrowser(api)
        begin(browser, contact)
        entered = browser.page.text
        browser.send("register/code", code="000000", newPassword=PASSWORD)
        pages[contact] = [
            re.sub(r'(value|nonce)="[\w.-]{20,}"', "", text).replace(contact, "CONTACT")
            for text in (entered, browser.page.text)
        ]
    assert pages["alice@example.com"] == pages["alicf@example.com"]


def test_the_holder_of_a_known_contact_is_led_to_the_login(api: Api, browser: PageBrowser) -> None:
    api.person(email="alice@example.com")
    begin(browser, "alice@example.com")
    browser.send("register/code", code=newest_code(api), newPassword=PASSWORD)
    assert browser.message.startswith("It already has an account.")
    assert not browser.is_logged_in


def test_wrong_input_keeps_the_form(api: Api, browser: PageBrowser) -> None:
    begin(browser, "alice")
    assert browser.message.startswith("No code can be sent there.")
    begin(browser, "alice@example.com", name=" ")
    assert browser.message.startswith("Enter your name")
    assert 'value="alice@example.com"' in browser.page.text
    begin(browser, "alice@example.com")
    browser.send("register/code", code=newest_code(api), newPassword="weak")
    assert browser.message.startswith("Choose another password")


def test_a_hostile_name_is_a_text(api: Api, browser: PageBrowser) -> None:
    begin(browser, "alice@example.com", name=HOSTILE)
    browser.send("register/code", code=newest_code(api), newPassword=PASSWORD)
    browser.open("/account/login")
    assert "<svg onload" not in browser.page.text
    assert "49" not in browser.message


@pytest.mark.config(merged(CONFIG, {"users": {"registration": "closed"}}))
def test_closed_registration_has_no_page(browser: PageBrowser) -> None:
    browser.open("/account/register")
    assert browser.page.status_code == 404
    browser.open("/account/login")
    assert "/account/register" not in browser.page.text
