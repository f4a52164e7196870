"""What the tests of the console share."""

from collections.abc import Callable, Iterator

import pytest
from tests.support.api import Api, Person
from tests.support.console_space import ConsoleSpace
from tests.support.page_browser import PageBrowser

from strongroom.foundation.database.upgrade import upgrade
from strongroom_login_pages.plugin import register_tables


@pytest.fixture
def log_in(api: Api) -> Iterator[Callable[[Person], PageBrowser]]:
    """Return a function that returns a browser in which a person is logged in."""
    browsers = []

    def begin(person: Person) -> PageBrowser:
        browser = PageBrowser(api)
        browser.log_in(person.email)
        browsers.append(browser)
        return browser

    yield begin
    assert [browser.path for browser in browsers if browser.page.status_code >= 500] == []


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(name="Alice")


@pytest.fixture
def browser(person: Person, log_in: Callable[[Person], PageBrowser]) -> PageBrowser:
    return log_in(person)


@pytest.fixture
def space(api: Api) -> Iterator[ConsoleSpace]:
    space = ConsoleSpace.made(api)
    yield space
    assert space.browser.page.status_code < 500


@pytest.fixture
def tenant(api: Api, person: Person) -> str:
    """The path of a tenant that the person administers."""
    return api.tenant(person)


@pytest.fixture
def root(tenant: str) -> str:
    """The path of the pages of the tenant."""
    return f"/console{tenant.removeprefix('/api/v1')}"


@pytest.fixture
def tables(api: Api) -> None:
    """The tables of the login pages, which an end of an account writes to."""
    upgrade(api.container.database.engine, {"login_pages": register_tables()})
