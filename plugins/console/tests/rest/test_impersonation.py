"""An administrator sees the console as a user does, for a limited time, and changes nothing."""

import pytest
from tests.support.api import Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.content.nodes.events import DownloadRecorder

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
USERS = "/console/server/users/"
END = "/console/impersonation/end"

pytestmark = [on_sqlite, pytest.mark.config(CONFIG), pytest.mark.usefixtures("tables")]


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(admin=True, name="Root")


@pytest.fixture
def user(api: Api) -> Person:
    return api.person(name="<b>Anna")


def begin(browser: PageBrowser, user: Person, minutes: str = "5") -> None:
    browser.open(f"{USERS}{user.id}/")
    path = f"{USERS}{user.id}/impersonation"
    browser.open(path, {**browser.forms[path], "reason": "Ticket 7", "minutes": minutes})


def is_administrator(browser: PageBrowser) -> bool:
    return browser.open(USERS).status_code == 200


def test_every_page_says_whom_it_shows(api: Api, browser: PageBrowser, user: Person) -> None:
    tenant = api.tenant(user, "Anna's")
    begin(browser, user)
    assert browser.path == f"/console{tenant.removeprefix('/api/v1')}/files/"
    for path in (browser.path, "/console/nowhere", USERS):
        page = browser.open(path)
        assert "<bdi>&lt;b&gt;Anna</bdi>" in page.text
        assert END in browser.forms
    assert page.status_code == 404
    # The pages of the account would refuse the session.
    assert 'href="/account/' not in page.text
    sessions = api.get(f"/users/{user.id}/authorizations", by=user).json["data"]
    assert [item["actor"] is not None for item in sessions].count(True) == 1


def test_nothing_can_be_changed(api: Api, browser: PageBrowser, user: Person) -> None:
    begin(browser, user)
    browser.open("/console/")
    csrf = browser.forms[END]
    refused = browser.open("/console/tenants", {**csrf, "name": "Acme"})
    assert refused.status_code == 403
    assert "Impersonation is read-only" in refused.text
    assert browser.open("/console/logout", csrf).status_code == 403
    assert browser.open("/account/").status_code == 403
    assert browser.open("/account/profile", {**csrf, "name": "Mallory"}).status_code == 403
    assert browser.open(f"{USERS}{user.id}/deletion", csrf).status_code == 403
    assert api.get("/api/v1/tenants", by=user).json["data"] == []


def test_the_administrator_returns(api: Api, browser: PageBrowser, user: Person) -> None:
    begin(browser, user)
    browser.open("/console/")
    assert browser.open(END, {"csrf": "wrong"}).status_code == 400
    browser.open("/console/")
    browser.open(END, browser.forms[END])
    assert browser.path == USERS
    assert is_administrator(browser)
    assert END not in browser.forms
    sessions = api.get(f"/users/{user.id}/authorizations", by=user).json["data"]
    assert all(item["actor"] is None for item in sessions)


def test_it_ends_with_its_time(api: Api, browser: PageBrowser, user: Person) -> None:
    begin(browser, user, "1")
    assert not is_administrator(browser)
    form = browser.forms[END]
    api.clock.advance(61_000)
    assert browser.open("/console/tenants", {**form, "name": "Acme"}).status_code == 400
    assert is_administrator(browser)


def test_it_ends_with_the_login_of_the_administrator(
    api: Api, browser: PageBrowser, person: Person, user: Person
) -> None:
    begin(browser, user)
    another = api.person(admin=True)
    assert api.delete(f"/users/{person.id}/authorizations", by=another).status_code == 200
    browser.open("/console/")
    assert browser.path == "/account/login"


def test_the_user_ends_it(api: Api, browser: PageBrowser, user: Person) -> None:
    begin(browser, user)
    assert api.delete(f"/users/{user.id}/authorizations", by=user).status_code == 200
    assert is_administrator(browser)


def test_only_ordinary_users_are_shown(api: Api, browser: PageBrowser, user: Person) -> None:
    another = api.person(admin=True)
    browser.open(f"{USERS}{another.id}/")
    assert f"{USERS}{another.id}/impersonation" not in browser.forms
    form = browser.forms["/console/logout"]
    sent = {**form, "reason": "x", "minutes": "5"}
    browser.open(f"{USERS}{another.id}/impersonation", sent)
    assert 'role="alert"' in browser.page.text
    for minutes in ("0", "61", "x", "٣"):
        begin(browser, user, minutes)
        assert 'role="alert"' in browser.page.text
    assert is_administrator(browser)


def test_the_audit_log_names_the_administrator(
    api: Api, browser: PageBrowser, person: Person, user: Person
) -> None:
    begin(browser, user)
    browser.open("/console/")
    browser.open(END, browser.forms[END])
    events = api.get("/audit-events?action=impersonation.end", by=person).json["data"]
    assert events[0]["actor"]["$ref"] == person.id


def test_the_activity_of_a_space_names_the_administrator_and_the_user(
    api: Api, browser: PageBrowser, person: Person, user: Person
) -> None:
    tenant = api.tenant(user, "Anna's")
    file = api.send(tenant, user, "plan.txt", b"x").json
    begin(browser, user)
    root = f"/console{tenant.removeprefix('/api/v1')}"
    assert api.get(f"{tenant}/files/{file['id']}/download", by=user).status_code == 200
    assert browser.open(f"{root}/nodes/{file['id']}/download").status_code == 200
    api.container.get(DownloadRecorder).flush()
    for page in (f"{root}/activity/", f"{root}/nodes/{file['id']}/activity"):
        text = browser.open(page).text
        assert text.count("on behalf of <bdi>&lt;b&gt;Anna</bdi>") == 1, page
        assert "<bdi>Root</bdi>" in text, page
