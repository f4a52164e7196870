"""A logout from the pages also ends the login at the platform that the user has logged in by."""

import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.support.api import Answer, Api
from tests.support.config import Table, lifted, write_api_config
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.session_plugin import install_desk

CONFIG: Table = {
    "plugins": {"enabled": ["storage_local", "login_pages", "desk"]},
    "login": {"methods": ["password", "badge"]},
}
END = "https://door.example/end?sid=door-7&to=https://files.example.com/account/login"

pytestmark = on_sqlite


@pytest.fixture
def config(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    install_desk(tmp_path)
    yield write_api_config(tmp_path, database_url, CONFIG, lifted())
    del sys.modules["acme_desk"]


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


def log_in(browser: PageBrowser, badge: str) -> Answer:
    door = browser.request("/api/v1/desk/begin").headers["Location"]
    state = parse_qs(urlsplit(door).query)["state"][0]
    browser.open(f"/api/v1/desk/callback?state={state}&badge={badge}")
    return browser.open("/account/")


def log_out(browser: PageBrowser) -> Answer:
    form = browser.forms["/account/logout"]
    return browser.request("/account/logout", form)


def test_it_leads_to_the_platform_and_back(browser: PageBrowser) -> None:
    security = log_in(browser, "door-7")
    # Chromium applies the policy to the redirect after the form.
    assert "form-action 'self' https://door.example;" in security.headers["Content-Security-Policy"]
    answer = log_out(browser)
    assert (answer.status_code, answer.headers["Location"]) == (303, END)
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "You are logged out." in browser.open("/account/login").text
    assert browser.request("/account/").headers["Location"] == "/account/login"


def test_other_logins_end_here_only(api: Api, browser: PageBrowser) -> None:
    assert "form-action 'self';" in log_in(browser, "7").headers["Content-Security-Policy"]
    assert log_out(browser).headers["Location"] == "/account/login"
    browser.log_in(api.person().email)
    browser.open("/account/")
    assert log_out(browser).headers["Location"] == "/account/login"


def test_a_broken_platform_does_not_keep_the_user_logged_in(
    browser: PageBrowser, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log_in(browser, "door-7")

    def fail(*_: object) -> str:
        raise RuntimeError("broken")

    monkeypatch.setattr(sys.modules["acme_desk"].Badge, "logout_url", fail)
    assert log_out(browser).headers["Location"] == "/account/login"
    assert "Login method badge has no page for a logout" in caplog.text
    assert browser.request("/account/").headers["Location"] == "/account/login"
