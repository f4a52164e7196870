"""The users of the server: who may see the pages, and the search."""

from collections.abc import Iterator

import pytest
from tests.support.api import Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
HOSTILE = '<img src=x onerror="alert(1)">\u202etxt'

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def admin(api: Api) -> Person:
    return api.person(admin=True, name="Root")


@pytest.fixture
def browser(api: Api, admin: Person) -> Iterator[PageBrowser]:
    browser = PageBrowser(api)
    browser.log_in(admin.email)
    yield browser
    assert browser.page.status_code < 500


def test_the_search_finds_names_and_contacts(api: Api, browser: PageBrowser) -> None:
    api.person(name=HOSTILE)
    api.person(name="Ben")
    page = browser.open("/console/server/users/")
    assert "Users found: 3" in page.text
    assert "&lt;img src=x" in page.text
    assert "<img src=x" not in page.text
    assert "Users found: 1" in browser.open("/console/server/users/?q=ben").text
    assert "Users found: 1" in browser.open("/console/server/users/?type=ADMIN").text
    assert "No user matches" in browser.open("/console/server/users/?status=suspended").text
    assert browser.open("/console/server/users/?sort=wrong&type=wrong&page=x").status_code == 200


def test_only_administrators_see_the_pages(api: Api, admin: Person) -> None:
    browser = PageBrowser(api)
    browser.log_in(api.person().email)
    for path in ("/console/server/", "/console/server/users/"):
        assert browser.open(path).status_code == 404
        assert "Users" not in browser.page.text
