"""What the tests of the console share."""

from collections.abc import Iterator

import pytest
from tests.support.api import Api, Person
from tests.support.page_browser import PageBrowser


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(name="Alice")


@pytest.fixture
def browser(api: Api, person: Person) -> Iterator[PageBrowser]:
    browser = PageBrowser(api)
    browser.log_in(person.email)
    yield browser
    assert browser.page.status_code < 500
