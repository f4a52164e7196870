"""The consent to the terms in the pages: a box that is not ticked, and that the server checks."""

import pytest
from tests.support.api import PASSWORD, Api
from tests.support.config import FIXED_CAPTCHA, SMS_LOGIN, Table, lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

NUMBER, EMAIL = "13800138000", "alice@example.com"
MISSING = "Accept the terms first: tick the box."
CONFIG: Table = merged(
    SMS_LOGIN,
    FIXED_CAPTCHA,
    lifted(),
    {
        "plugins": {"enabled": ["storage_local", "login_sms", "login_pages"]},
        "pages": {"terms_url": "https://example.com/terms", "terms_version": "2026-11"},
        "users": {"require_terms": True},
    },
)

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


def count_users(api: Api) -> int:
    count: int = api.get("/users?type=USER", by=api.person(admin=True)).json["meta"]["totalCount"]
    return count


def begin(browser: PageBrowser, **fields: str) -> None:
    browser.open("/account/register")
    browser.send("register", name="Alice", username=EMAIL, captchaAnswer="42", **fields)


def enter_login_code(api: Api, browser: PageBrowser) -> None:
    browser.request_code(NUMBER)
    browser.send("login/code/entry", code=api.outbox()[-1]["code"])


def test_a_registration_needs_the_box_of_the_current_version(api: Api, browser: PageBrowser) -> None:
    page = browser.open("/account/register").text
    sentence = page.partition('<label class="check">')[2].partition("</label>")[0]
    assert 'accept the <a href="https://example.com/terms"' in sentence
    assert sentence.endswith("</a> and the privacy policy.</span>")
    assert "checked" not in page
    for fields in ({}, {"terms": "2026-10"}, {"terms": ""}):
        begin(browser, **fields)
        assert (browser.page.status_code, browser.message) == (400, MISSING)
    assert api.outbox() == []
    begin(browser, terms="2026-11")
    browser.send("register/code", code=api.outbox()[-1]["code"], newPassword=PASSWORD)
    assert (browser.path, browser.is_logged_in) == ("/account/", True)


def test_a_login_that_registers_shows_the_terms_first(api: Api, browser: PageBrowser) -> None:
    enter_login_code(api, browser)
    assert (browser.path, count_users(api)) == ("/account/terms", 0)
    browser.send("terms")
    assert (browser.message, count_users(api)) == (MISSING, 0)
    browser.send("terms", terms="2026-11")
    assert (browser.path, browser.is_logged_in) == ("/account/", True)
    assert count_users(api) == 1


def test_another_way_leaves_no_account(api: Api, browser: PageBrowser) -> None:
    enter_login_code(api, browser)
    form = {**browser.forms["/account/terms"], "terms": "2026-11"}
    browser.send("another-way")
    browser.open("/account/terms", form)
    assert (browser.path, count_users(api)) == ("/account/login", 0)


@pytest.mark.config(CONFIG, {"users": {"require_terms": False}, "pages": {"terms_url": None}})
def test_a_server_without_terms_shows_no_box(api: Api, browser: PageBrowser) -> None:
    begin(browser)
    assert browser.path == "/account/register/code"
