"""What a page shows while the REST API is unavailable, such as without a database."""

from typing import Final

import flask
import pytest
from tests.support.api import Api
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.console_space import ConsoleSpace
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.foundation.errors import InternalError, StrongroomError, Unavailable

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
NAVIGATION: Final = "text/html,application/xhtml+xml"

pytestmark = [on_sqlite, pytest.mark.config(CONFIG), pytest.mark.usefixtures("tables")]


@pytest.fixture
def faults(api: Api) -> list[StrongroomError]:
    """The errors of all requests to the REST API, while there is one."""
    faults: list[StrongroomError] = []

    @api.app.before_request
    def fail() -> None:
        if faults and not flask.request.path.startswith("/console"):
            raise faults[0]

    return faults


@pytest.fixture
def browser(api: Api, faults: list[StrongroomError]) -> PageBrowser:
    browser = PageBrowser(api)
    browser.log_in(api.person(name="Anna").email)
    assert faults == []
    return browser


@pytest.mark.parametrize("path", ["/console/", "/console/tenants/x/files/"])
def test_a_page_says_that_the_fault_is_temporary(
    browser: PageBrowser, faults: list[StrongroomError], path: str
) -> None:
    faults.append(Unavailable(retry_after=3))
    page = browser.request(path, Accept=NAVIGATION)
    assert (page.status_code, page.headers["Retry-After"]) == (503, "3")
    assert "<h1>Temporarily unavailable</h1>" in page.text
    faults[:] = [InternalError()]
    page = browser.request(path, Accept=NAVIGATION)
    assert (page.status_code, "<h1>Something went wrong</h1>" in page.text) == (500, True)


def test_a_refusal_says_what_people_can_do(space: ConsoleSpace) -> None:
    """The text of the REST API is for programs; a page names the person who can help."""
    space.log_in(space.member)
    page = space.browser.open(f"{space.root}/activity/")
    assert page.status_code in (403, 404)
    space.browser.open(f"{space.root}/groups/")
    csrf = next(iter(space.browser.forms.values()))["csrf"]
    space.browser.open(f"{space.root}/groups/", {"csrf": csrf, "name": "Team"})
    assert "does not have permission for this operation" not in space.browser.page.text
    assert "You may not do this; ask an administrator." in space.browser.page.text


def test_a_refusal_by_the_host_is_in_the_language_of_the_page(space: ConsoleSpace, api: Api) -> None:
    """The page reads the tenant by the host, whose errors are in English."""
    space.log_in(api.person())
    for language, text in (("en", "You may not do this"), ("zh", "您没有执行此操作的权限")):
        page = space.browser.open(f"{space.root}/trash/empty", None, **{"Accept-Language": language})
        assert (page.status_code, text in page.text) == (403, True)
