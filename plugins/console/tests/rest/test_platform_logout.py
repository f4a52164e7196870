"""A logout from the menu of the console also ends the login at the platform of the user."""

import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.support.api import Api
from tests.support.config import Table, lifted, write_api_config
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.session_plugin import install_desk

CONFIG: Table = {
    "plugins": {"enabled": ["storage_local", "login_pages", "console", "desk"]},
    "login": {"methods": ["password", "badge"]},
}
END = "https://door.example/end?sid=door-7&to=https://files.example.com/account/login"

pytestmark = on_sqlite


@pytest.fixture
def config(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    install_desk(tmp_path)
    yield write_api_config(tmp_path, database_url, CONFIG, lifted())
    del sys.modules["acme_desk"]


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


@pytest.mark.parametrize(
    ("badge", "headers"),
    [
        # The policy of the page forbids a redirect of its form to another site.
        ("door-7", {"Refresh": f"0; url={END}"}),
        ("7", {"Location": "/account/login"}),
    ],
)
def test_it_leads_to_the_platform_of_the_login(
    browser: PageBrowser, badge: str, headers: dict[str, str]
) -> None:
    door = browser.request("/api/v1/desk/begin").headers["Location"]
    state = parse_qs(urlsplit(door).query)["state"][0]
    browser.open(f"/api/v1/desk/callback?state={state}&badge={badge}")
    browser.open("/console/")
    answer = browser.request("/console/logout", browser.forms["/console/logout"])
    assert {name: answer.headers.get(name) for name in ("Refresh", "Location")} == {
        "Refresh": None,
        "Location": None,
        **headers,
    }
    assert browser.request("/console/").headers["Location"].startswith("/account/login")
