"""Where the login page shows providers: tabs, buttons, more ways, and before all in their own app."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import Api
from tests.support.config import FIXED_CAPTCHA, Table, merged, write_api_config
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.platforms import FEW, MANY, choose, install_platforms, platforms_config

PHONE = "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Mobile Safari/537.36"
SCANS = {"scans": ("beta", "gamma")}

pytestmark = [on_sqlite, pytest.mark.config(platforms_config(*MANY))]


@pytest.fixture
def config(
    tmp_path: Path, database_url: str, config_changes: Table, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    install_platforms(tmp_path)
    yield write_api_config(tmp_path, database_url, merged(FIXED_CAPTCHA, config_changes))
    sys.modules.pop("acme_town", None)


def shown(api: Api, **headers: str) -> dict[str, list[str]]:
    """Return the platforms in each place of the login page, in their order."""
    return places(PageBrowser(api, **headers).open("/account/login").text)


def places(page: str) -> dict[str, list[str]]:
    tabs = re.search(r'<ul class="tabs">.*?</ul>', page, re.DOTALL)
    lists = re.findall(
        r'(<details>[^<]*<summary>[^<]*</summary>\s*)?<ul class="links[^"]*">(.*?)</ul>', page, re.DOTALL
    )
    parts = {
        "first": "".join(re.findall(r'<a href="[^"]+" class="button plain".*?</a>', page, re.DOTALL)),
        "tabs": tabs[0] if tabs else "",
        "links": "".join(text for fold, text in lists if not fold),
        "more": "".join(text for fold, text in lists if fold),
    }
    return {name: re.findall(r"begin\?provider=(\w+)", text) for name, text in parts.items()}


@pytest.mark.config(platforms_config(*FEW))
def test_a_few_are_buttons_with_pictures(api: Api) -> None:
    page = PageBrowser(api).open("/account/login").text
    assert places(page) == {"first": [], "tabs": [], "links": ["alpha", "beta"], "more": []}
    assert re.search(r'<img src="/static/town/\w+/mark.svg" alt="" [^>]*>Alpha ', page)
    assert 'aria-label="Log in with Alpha"' in page
    assert "<details>" not in page


def test_the_others_of_many_are_behind_more_ways(api: Api) -> None:
    expected = {"links": list(MANY[:4]), "more": list(MANY[4:])}
    assert shown(api) == {"first": [], "tabs": [], **expected}
    assert "更多方式" in PageBrowser(api, Accept_Language="zh").open("/account/login").text


def test_the_one_that_was_used_last_is_always_shown(api: Api) -> None:
    browser = PageBrowser(api)
    choose(browser, "zeta", "ann")
    assert browser.path == "/account/"
    browser.send("logout")
    page = browser.open("/account/login").text
    assert places(page)["links"] == ["zeta", *MANY[:3]]
    assert page.count("last used") == 1


@pytest.mark.config(platforms_config(*MANY, **SCANS))
def test_pages_with_a_qr_code_are_tabs_next_to_the_password(api: Api) -> None:
    page = PageBrowser(api).open("/account/login").text
    assert places(page)["tabs"] == ["beta", "gamma"]
    assert places(page)["links"] == ["alpha", "delta", "epsilon", "zeta"]
    assert 'aria-label="Log in with Beta"' in page


@pytest.mark.config(platforms_config(*FEW, scans=("beta",)))
def test_a_phone_has_no_tab_for_a_code_on_its_own_screen(api: Api) -> None:
    expected = {"first": [], "tabs": [], "links": ["alpha", "beta"], "more": []}
    assert shown(api, User_Agent=PHONE) == expected


@pytest.mark.config(merged(platforms_config(*FEW, scans=("beta",)), {"login": {"methods": ["town"]}}))
def test_without_a_password_and_codes_there_are_no_tabs(api: Api) -> None:
    assert shown(api)["links"] == ["alpha", "beta"]


@pytest.mark.config(platforms_config(*FEW, scans=("beta",)))
def test_in_the_app_of_a_platform_its_login_comes_first(api: Api) -> None:
    browser = PageBrowser(api, User_Agent=f"{PHONE} BetaApp/7.0")
    page = browser.open("/account/login").text
    assert places(page)["first"] == ["beta"]
    assert page.index("begin?provider=beta") < page.index("<summary>Log in another way")
    # The other ways are there, too, and are shown after an error.
    browser.send("login", username="a@example.com", password="Wrong1Password", way="password")
    assert "<details open>" in browser.page.text
