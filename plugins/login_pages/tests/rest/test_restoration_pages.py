"""The page of a link in the notice of a changed contact, without scripts."""

import re

import pytest
from tests.support.api import PASSWORD, Api, Person
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.foundation.database.upgrade import upgrade

EMAIL, STOLEN, NEW = "alice@example.com", "stolen@example.com", "Another2Battery"
pytestmark = [
    on_sqlite,
    pytest.mark.config(merged(lifted(), {"plugins": {"enabled": ["storage_local", "login_pages"]}})),
]


@pytest.fixture
def admin(api: Api) -> Person:
    upgrade(api.container.database.engine, api.container.selection.plugins.tables)
    return api.person(admin=True)


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


@pytest.fixture
def path(api: Api, admin: Person) -> str:
    """The path of the page, in the message to a replaced address."""
    person, body = api.person(email=EMAIL), {"value": STOLEN, "verified": True}
    assert api.put(f"/users/{person.id}/contacts/email", body, by=admin).status_code == 200
    (text,) = [each["text"] for each in api.outbox() if "/restore/" in each["text"]]
    found = re.search(r"/account/restore/\S+", text)
    assert found
    return found[0]


def test_it_shows_what_it_does_and_changes_nothing_before_the_form_is_sent(
    api: Api, browser: PageBrowser, path: str
) -> None:
    for _ in range(2):
        browser.open(path)
    assert "a•••@example.com was replaced by s•••@example.com." in browser.page.text
    assert EMAIL not in browser.page.text
    assert browser.page.headers["Referrer-Policy"] == "no-referrer"
    assert "no-store" in browser.page.headers["Cache-Control"]
    assert browser.head(path).status_code == 200
    assert api.log_in(STOLEN).status_code == 200
    forged = browser.open(path, {"newPassword": NEW, "csrf": "wrong"})
    assert forged.status_code == 400
    browser.open(path)
    browser.send(path.removeprefix("/account/"), newPassword="weak")
    assert "Choose another password" in browser.page.text
    browser.send(path.removeprefix("/account/"), newPassword=NEW)
    assert (browser.path, browser.message) == (
        "/account/login",
        "The change is undone. Log in with your new password.",
    )
    browser.log_in(EMAIL, NEW)
    assert browser.path == "/account/"
    assert api.log_in(STOLEN, PASSWORD).status_code == 401


def test_a_link_that_is_void_or_whose_address_is_taken_has_a_page(
    api: Api, browser: PageBrowser, path: str
) -> None:
    browser.open("/account/restore/unknown")
    assert browser.page.status_code == 400
    assert "has expired" in browser.page.text
    api.person(email=EMAIL)
    browser.open(path)
    assert browser.page.status_code == 409
    assert "now belongs to another account" in browser.page.text


def test_its_form_is_small(browser: PageBrowser, path: str) -> None:
    large = browser.open(path, {"newPassword": "x" * 70_000})
    assert large.status_code == 413
