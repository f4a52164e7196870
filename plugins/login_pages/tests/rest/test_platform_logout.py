"""A logout from the pages also ends the login at the platform that the user has logged in by."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import Answer, Api
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.session_plugin import BADGE_END, desk_config, log_in_by_badge

pytestmark = on_sqlite


@pytest.fixture
def config(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with desk_config(tmp_path, database_url, monkeypatch, ["login_pages"]) as path:
        yield path


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


def log_in(browser: PageBrowser, badge: str) -> Answer:
    log_in_by_badge(browser, badge)
    return browser.open("/account/")


def log_out(browser: PageBrowser) -> Answer:
    form = browser.forms["/account/logout"]
    return browser.request("/account/logout", form)


def test_it_leads_to_the_platform_and_back(browser: PageBrowser) -> None:
    security = log_in(browser, "door-7")
    # Chromium applies the policy to the redirect after the form.
    assert "form-action 'self' https://door.example;" in security.headers["Content-Security-Policy"]
    answer = log_out(browser)
    assert (answer.status_code, answer.headers["Location"]) == (303, BADGE_END)
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
