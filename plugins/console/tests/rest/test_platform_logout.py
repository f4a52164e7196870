"""A logout from the menu of the console also ends the login at the platform of the user."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import Api
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.session_plugin import BADGE_END, desk_config, log_in_by_badge

pytestmark = on_sqlite


@pytest.fixture
def config(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with desk_config(tmp_path, database_url, monkeypatch, ["login_pages", "console"]) as path:
        yield path


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


@pytest.mark.parametrize(
    ("badge", "headers"),
    [
        # The policy of the page forbids a redirect of its form to another site.
        ("door-7", {"Refresh": f"0; url={BADGE_END}"}),
        ("7", {"Location": "/account/login"}),
    ],
)
def test_it_leads_to_the_platform_of_the_login(
    browser: PageBrowser, badge: str, headers: dict[str, str]
) -> None:
    log_in_by_badge(browser, badge)
    browser.open("/console/")
    answer = browser.request("/console/logout", browser.forms["/console/logout"])
    assert {name: answer.headers.get(name) for name in ("Refresh", "Location")} == {
        "Refresh": None,
        "Location": None,
        **headers,
    }
    assert browser.request("/console/").headers["Location"].startswith("/account/login")
