"""The login page with a plugin that leads names to logins of their own: the name comes first."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import PASSWORD, Api
from tests.support.config import FIXED_CAPTCHA, Table, merged, write_api_config
from tests.support.databases import on_sqlite
from tests.support.distributions import install
from tests.support.page_browser import PageBrowser

PLUGIN = """
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.pages import LoginRoute
from strongroom.plugin_api.web import ApiError, ErrorKind

API_VERSION = "2.0"
ELSEWHERE = ErrorKind(403, "error.elsewhere", "Log in at the company.")

@hookimpl
def register_errors():
    return [ELSEWHERE]

def refuse(transaction, login):
    if login.client.user_agent == "outside":
        raise ApiError(ELSEWHERE)

@hookimpl
def register_login_conditions(host):
    return [refuse]

def find_route(name):
    if name.endswith("@broken.example"):
        raise RuntimeError("broken")
    for domain, is_required in (("strict", True), ("free", False)):
        if name.endswith(f"@{domain}.example"):
            labels = {"en": f"Log in with {domain.title()}", "zh": f"{domain}登录"}
            return LoginRoute(f"/company?of={domain}", labels, is_required)
    return None

@hookimpl
def register_login_routes(host):
    return [find_route]
"""
TUTORIAL = Path(__file__).parents[4] / "docs" / "tutorials" / "redirect_login.md"
IMPORTS = """
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.host import HostAPI

API_VERSION = "2.0"
"""
CONFIG: Table = {"plugins": {"enabled": ["storage_local", "login_pages", "company"]}}

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def code() -> str:
    """The code of the plugin."""
    return PLUGIN


def code_of_tutorial() -> str:
    section = TUTORIAL.read_text(encoding="utf-8").partition("A provider may also own names")[2]
    block = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert block
    return IMPORTS + block[1]


@pytest.fixture
def config(
    tmp_path: Path,
    database_url: str,
    config_changes: Table,
    code: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    module = install(tmp_path, "company", code)
    yield write_api_config(tmp_path, database_url, merged(FIXED_CAPTCHA, config_changes))
    sys.modules.pop(module, None)


def name_of(browser: PageBrowser, name: str) -> str:
    """Enter a name on the first page, and return the text of the page that follows."""
    browser.open("/account/login")
    return browser.send("login", username=name, way="name").text


def without_secrets(page: str, name: str) -> str:
    """Return a page without what differs in each response."""
    page = re.sub(r'(nonce|value)="[\w+/=-]{20,}"', "", page)
    return page.replace(name, "NAME")


def test_the_first_page_asks_for_the_name_only(api: Api) -> None:
    page = PageBrowser(api).open("/account/login").text
    assert 'name="username"' in page
    assert 'type="password"' not in page


def test_a_login_takes_two_pages(api: Api) -> None:
    person = api.person()
    browser = PageBrowser(api)
    page = name_of(browser, person.email)
    assert 'type="password"' in page
    assert re.search(rf'name="username" value="{re.escape(person.email)}" readonly', page)
    browser.send("login", username=person.email, password=PASSWORD, way="password")
    assert browser.is_logged_in


def test_a_wrong_password_keeps_the_name(api: Api) -> None:
    person = api.person()
    browser = PageBrowser(api)
    name_of(browser, person.email)
    page = browser.send("login", username=person.email, password="wrong", way="password")
    assert page.status_code == 400
    assert 'type="password"' in page.text
    assert person.email in page.text


def test_a_name_that_must_log_in_elsewhere_is_led_there(api: Api) -> None:
    browser = PageBrowser(api)
    browser.open("/account/login")
    form = {**browser.forms["/account/login"], "username": "ann@strict.example", "way": "name"}
    answer = browser.request("/account/login", form)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/company?of=strict")


def test_a_browser_that_comes_back_finds_the_other_ways(api: Api) -> None:
    person = api.person(email="ann@strict.example")
    browser = PageBrowser(api)
    browser.open("/account/login")
    form = {**browser.forms["/account/login"], "username": person.email, "way": "name"}
    browser.request("/account/login", form)
    page = browser.open("/account/login").text
    assert '<a href="/company?of=strict" class="button">Log in with Strict</a>' in page
    assert "<details>" in page
    browser.send("login", username=person.email, password=PASSWORD, way="password")
    assert browser.is_logged_in


def test_a_name_that_may_log_in_elsewhere_has_both_ways(api: Api) -> None:
    page = name_of(PageBrowser(api), "ann@free.example")
    assert '<a href="/company?of=free" class="button">Log in with Free</a>' in page
    assert 'type="password"' in page
    page = name_of(PageBrowser(api, Accept_Language="zh"), "ann@free.example")
    assert "free登录" in page


def test_the_page_is_the_same_whether_or_not_a_user_has_the_name(api: Api) -> None:
    person = api.person()
    names = (person.email, "nobody@example.com", "ann@broken.example", "unknown-name")
    pages = {without_secrets(name_of(PageBrowser(api), name), name) for name in names}
    assert len(pages) == 1


def test_another_way_begins_with_the_name_again(api: Api) -> None:
    browser = PageBrowser(api)
    name_of(browser, "ann@free.example")
    page = browser.send("another-way").text
    assert 'type="password"' not in page
    assert 'value="ann@free.example"' in page


def test_a_refusal_by_a_plugin_is_shown_in_its_words(api: Api) -> None:
    person = api.person()
    browser = PageBrowser(api, User_Agent="outside")
    name_of(browser, person.email)
    page = browser.send("login", username=person.email, password=PASSWORD, way="password").text
    assert "Log in at the company." in page
    assert not browser.is_logged_in


@pytest.mark.config({"plugins": {"enabled": ["storage_local", "login_pages"]}})
def test_without_such_a_plugin_the_page_has_both_fields(api: Api) -> None:
    page = PageBrowser(api).open("/account/login").text
    assert 'name="username"' in page
    assert 'type="password"' in page


@pytest.mark.parametrize("code", [code_of_tutorial()], ids=["tutorial"])
def test_the_example_of_the_tutorial_leads_its_names_to_the_provider(api: Api) -> None:
    page = name_of(PageBrowser(api), "Ann@Drawer.Example")
    button = '<a href="/api/v1/drawer-authorizations/begin" class="button">Log in with Drawer</a>'
    assert button in page
    assert "Log in with Drawer" not in name_of(PageBrowser(api), "ann@notdrawer.example")
