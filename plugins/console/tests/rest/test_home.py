"""The first page of the console, and the way to it."""

from collections.abc import Callable

import pytest
from tests.support.api import Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.statements import statements

from strongroom_console.home import CARDS

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
MOST_OF_A_CARD = 9
MOST_OF_THE_PAGE = 20

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


def test_the_menu_shows_the_address_of_its_user_below_the_name(
    api: Api, log_in: Callable[[Person], PageBrowser]
) -> None:
    named, nameless = api.person(name="Ada"), api.person(name="")
    page = log_in(named).open("/console/").text
    assert page.count(f"<small><bdi>{named.email}</bdi></small>") == 1
    assert nameless.email in log_in(nameless).open("/console/").text


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
    assert "<h1>Page not found</h1>" in browser.page.text
    assert browser.open("/console/tenants/nowhere/files/").status_code == 403
    assert "<h1>No access</h1>" in browser.page.text
    assert browser.page.headers["X-Request-Id"] in browser.page.text.partition("<details")[2]


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


def test_the_start_page_shows_spaces_with_people_and_recent_files(
    api: Api, person: Person, browser: PageBrowser
) -> None:
    plans, other = api.tenant(person, "Plans"), api.tenant(person, "Other")
    bob = api.person(name="Bob Brown")
    api.join(plans, person, bob)
    api.upload(plans, person, "old.txt", b"x")
    api.upload(plans, person, "Dockerfile", b"x")
    api.clock.advance(60_000)
    api.upload(other, person, "new.txt", b"x")
    api.upload(api.tenant(bob, "Secret"), bob, "secret.txt", b"x")
    page = browser.open("/console/").text
    assert "People: 2" in page
    assert "Administrator" in page
    assert 0 < page.index("new.txt") < page.index("old.txt")
    assert "Dockerfile" in page
    assert "secret" not in page.lower().replace("strongroom-secret", "")


def test_the_start_page_asks_few_questions_for_each_space(
    api: Api, person: Person, browser: PageBrowser
) -> None:
    for number in range(CARDS + 1):
        api.tenant(person, f"Plans {number}")
    browser.request("/console/")
    with statements() as seen:
        browser.request("/console/")
    assert len(seen) <= CARDS * MOST_OF_A_CARD + MOST_OF_THE_PAGE, len(seen)


def test_an_administrator_sees_the_next_step(api: Api, log_in: Callable[[Person], PageBrowser]) -> None:
    page = log_in(api.person(admin=True)).open("/console/").text
    assert "First steps" in page
    assert "Add your name and logo" in page
    assert "First steps" not in log_in(api.person()).open("/console/").text


def test_the_switcher_reads_the_spaces_of_the_user(
    api: Api, person: Person, browser: PageBrowser, log_in: Callable[[Person], PageBrowser]
) -> None:
    tenant = api.tenant(person, "<b>Plans")
    root = f"/console{tenant.removeprefix('/api/v1')}/"
    page = browser.open("/console/spaces").text
    assert f'<a href="{root}files/" data-root="{root}">' in page
    assert "<bdi>&lt;b&gt;Plans</bdi>" in page
    assert "Plans" not in log_in(api.person()).open("/console/spaces").text
