"""The first page of the console, and the way to it."""

import pytest
from tests.support.api import Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


def test_the_start_page_leads_people_here_once_there_is_an_administrator(api: Api) -> None:
    browser = PageBrowser(api, Accept="text/html")
    assert browser.request("/").status_code == 200
    api.person(admin=True)
    assert browser.request("/").headers["Location"] == "/console/"
    assert api.get("/").json["name"] == "Strongroom"


def test_a_browser_without_a_session_is_led_to_the_login_and_back(api: Api, person: Person) -> None:
    browser = PageBrowser(api)
    browser.open("/console/")
    assert browser.path == "/account/login"
    browser.send("login", username=person.email, password="Correct1Horse")
    assert browser.path == "/console/"


def test_a_user_creates_a_space(browser: PageBrowser) -> None:
    browser.open("/console/")
    form = {**browser.forms["/console/tenants"], "name": "Acme"}
    browser.open("/console/tenants", form)
    assert browser.message == "The space was created."
    assert browser.path.endswith("/files/")


def test_the_only_space_opens_at_once(api: Api, person: Person, browser: PageBrowser) -> None:
    tenant = api.tenant(person)
    browser.open("/console/")
    assert browser.path == f"/console{tenant.removeprefix('/api/v1')}/files/"


def test_the_path_above_a_folder_leads_to_its_folders(
    api: Api, person: Person, browser: PageBrowser
) -> None:
    tenant = api.tenant(person)
    outer = api.folder(tenant, person, "50% off?#")["id"]
    inner = api.folder(tenant, person, "<i>Drafts", parent=outer)["id"]
    root = f"/console{tenant.removeprefix('/api/v1')}"
    page = browser.open(f"{root}/files/{inner}/")
    assert "<bdi>&lt;i&gt;Drafts</bdi>" in page.text
    browser.open(f"{root}/at/50%25%20off%3F%23")
    assert "<bdi>50% off?#</bdi>" in browser.page.text


def test_logging_out_ends_the_session(browser: PageBrowser) -> None:
    browser.open("/console/")
    browser.open("/console/logout", browser.forms["/console/logout"])
    assert browser.path == "/account/login"
    browser.open("/console/")
    assert browser.path == "/account/login"


def test_a_page_that_is_missing_or_hidden_says_so(browser: PageBrowser) -> None:
    assert browser.open("/console/nowhere").status_code == 404
    assert browser.open("/console/tenants/nowhere/files/").status_code == 403
    assert "That did not work" in browser.page.text


def test_the_fault_of_a_refused_form_is_at_its_field(
    api: Api, person: Person, browser: PageBrowser
) -> None:
    root = f"/console{api.tenant(person).removeprefix('/api/v1')}"
    api.tenant(person)
    # The pages of the tenants, groups, settings and invitations: path, action, field, text.
    for path, action, field, text in (
        ("/console/", "/console/tenants", "name", "a\x07b"),
        (f"{root}/groups/", f"{root}/groups/", "name", "a\x07b"),
        (f"{root}/settings/", f"{root}/settings/name", "name", "a\x07b"),
    ):
        browser.open(path)
        page = browser.submit(action, **{field: text})
        assert browser.message == "Check the marked fields.", path
        assert f'id="{field}-fault"' in page.text
        assert 'aria-invalid="true" autofocus' in page.text
        assert 'aria-invalid="true"' not in browser.open(path).text
