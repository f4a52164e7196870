"""The set-up link on a server with login pages: the browser is logged in afterwards."""

import pytest
from tests.support.api import PASSWORD, Answer, Api, Person
from tests.support.config import Table, lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.extensions.first_start.first_administrator import Setup
from strongroom.foundation.caller import Origin

EMAIL = "root@example.com"
COOKIE = "strongroom-session"
CONFIG: Table = merged(lifted(), {"plugins": {"enabled": ["storage_local", "login_pages"]}})
FACTORS: Table = {
    "plugins": {"enabled": ["storage_local", "login_pages", "factor_totp"]},
    "second_factors": {"required_for": ["admin"], "grace_days": 0},
}

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


def set_up(api: Api, browser: PageBrowser, **headers: str) -> Answer:
    """Send the form of the setup page as its script does."""
    token = api.container.get(Setup).issue(Origin()).token
    body = {"token": token, "email": EMAIL, "name": "Root", "password": PASSWORD}
    return browser.send_json("/setup", body, **headers)


def logins_of(api: Api, person: Person) -> int:
    return len(api.get("/users/me/authorizations", by=person).json["data"])


def test_the_browser_has_the_session_of_the_administrator(api: Api, browser: PageBrowser) -> None:
    assert set_up(api, browser).status_code == 201
    assert browser.is_logged_in
    assert "Root" in browser.open("/account/").text


def test_the_login_that_the_browser_had_ends(api: Api, browser: PageBrowser) -> None:
    person = api.person()
    browser.log_in(person.email)
    before = logins_of(api, person)
    assert set_up(api, browser).status_code == 201
    assert logins_of(api, person) == before - 1


@pytest.mark.parametrize("site", ["", "cross-site", "same-site"])
def test_programs_and_other_sites_get_no_session(api: Api, browser: PageBrowser, site: str) -> None:
    assert set_up(api, browser, **{"Sec-Fetch-Site": site}).status_code == 201
    assert browser.cookie(COOKIE) is None
    assert not browser.is_logged_in


def test_a_refused_setup_begins_no_session(api: Api, browser: PageBrowser) -> None:
    body = {"token": "guessed", "email": EMAIL, "name": "", "password": PASSWORD}
    assert browser.send_json("/setup", body).status_code == 400
    assert browser.cookie(COOKIE) is None


@pytest.mark.config(CONFIG, FACTORS)
def test_a_second_factor_that_is_due_comes_before_the_session(api: Api, browser: PageBrowser) -> None:
    assert set_up(api, browser).status_code == 201
    assert not browser.is_logged_in


def test_a_used_link_shows_the_way_to_the_login_and_no_form(api: Api, browser: PageBrowser) -> None:
    set_up(api, browser)
    page = browser.open("/setup").text
    assert "<form" not in page
    assert "The server is set up" in page
    assert 'href="/account/login"' in page
    assert "<noscript" not in page
