"""The one design of all pages: style sheets, and the switch of languages."""

import re
from importlib.resources import files

import pytest
from flask.testing import FlaskClient
from tests.support.api import Api
from werkzeug.test import TestResponse

from strongroom.web.pages.brand_styles import brand_sheet
from strongroom.web.pages.compact_files import minified

MAX_STYLES = 12_000
"""Bytes as sent, because phones load them over slow networks."""
HTML = {"Accept": "text/html"}
PLUGINS = {"plugins": {"enabled": ["storage_local", "login_pages"]}, "server": {"base_path": "/vault"}}


def styles(page: TestResponse) -> list[str]:
    return re.findall(r'<link rel="stylesheet" href="([^"]+)">', page.text)


def switch(page: TestResponse) -> str:
    link = re.search(r'<a href="([^"]+)" lang="zh" hreflang="zh">中文</a>', page.text)
    assert link is not None
    return link[1].replace("&amp;", "&")


@pytest.mark.config(PLUGINS)
class TestStyles:
    def test_all_style_sheets_of_a_page_are_at_most_12_kilobytes(self, api: Api) -> None:
        client = api.app.test_client()
        paths = styles(client.get("/vault/account/login"))
        sheets = [client.get(path, headers={"Accept-Encoding": "gzip"}) for path in paths]
        assert [sheet.headers["Content-Type"] for sheet in sheets] == ["text/css; charset=utf-8"]
        assert 0 < sum(len(sheet.data) for sheet in sheets) <= MAX_STYLES

    def test_browsers_keep_them_until_they_change(self, api: Api) -> None:
        client = api.app.test_client()
        for path in styles(client.get("/vault/account/login")):
            assert path.startswith("/vault/static/strongroom/")
            assert "immutable" in client.get(path).headers["Cache-Control"]

    def test_the_brand_is_the_end_of_one_file(self, api: Api) -> None:
        """A browser that opens a connection for each file paints later."""
        client = api.app.test_client()
        (path,) = styles(client.get("/vault/setup"))
        brand = minified(brand_sheet(api.container.settings.pages))
        assert client.get(path).text.endswith(brand)

    def test_all_scripts_of_the_design_are_served(self, api: Api) -> None:
        client = api.app.test_client()
        (path,) = styles(client.get("/vault/setup"))
        static = files("strongroom.web.pages") / "static"
        scripts = [item.name for item in static.iterdir() if item.name.endswith(".js")]
        assert "questions.js" in scripts
        for name in scripts:
            assert client.get(f"{path.rpartition('/')[0]}/{name}").status_code == 200

    def test_all_pages_have_the_same_ones(self, api: Api) -> None:
        client = api.app.test_client()
        paths = ("/vault/", "/vault/setup", "/vault/account/login")
        assert len({tuple(styles(client.get(path, headers=HTML))) for path in paths}) == 1


class TestLanguages:
    @pytest.fixture
    def browser(self, api: Api) -> FlaskClient:
        client = api.app.test_client()
        client.environ_base["HTTP_ACCEPT"] = "text/html"
        client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "en"
        return client

    def test_the_switch_works_without_scripts_and_lasts(self, browser: FlaskClient) -> None:
        page = browser.get("/setup")
        assert page.headers["Content-Language"] == "en"
        assert browser.get(f"/setup{switch(page)}").headers["Content-Language"] == "zh"
        assert browser.get("/").headers["Content-Language"] == "zh"

    def test_the_languages_of_a_client_precede_the_choice(self, browser: FlaskClient) -> None:
        browser.get("/setup?lang=zh")
        page = browser.get("/setup?ui_locales=fr en-GB")
        assert page.headers["Content-Language"] == "en"
        assert switch(page) == "?lang=zh"

    def test_an_unknown_language_changes_nothing(self, browser: FlaskClient) -> None:
        page = browser.get("/setup?lang=xx")
        assert (page.status_code, page.headers["Content-Language"]) == (200, "en")
        assert "Set-Cookie" not in page.headers

    def test_a_page_is_opened_without_a_cookie(self, browser: FlaskClient) -> None:
        assert "Set-Cookie" not in browser.get("/setup").headers

    @pytest.mark.config(PLUGINS)
    def test_the_switch_keeps_the_other_parameters(self, browser: FlaskClient) -> None:
        page = browser.get("/vault/account/login?resume=/vault/%26x&lang=en")
        assert switch(page) == "?resume=%2Fvault%2F%26x&lang=zh"

    def test_programs_may_pass_it(self, api: Api) -> None:
        assert api.get("/setup?lang=zh").status_code == 200


@pytest.mark.config(PLUGINS)
class TestThemes:
    def test_a_page_has_the_theme_that_the_browser_keeps(self, api: Api) -> None:
        client = api.app.test_client()
        assert "data-theme" not in client.get("/vault/account/login").text
        chosen = client.get("/vault/account/login?theme=dark")
        assert 'data-theme="dark"' in chosen.text
        cookie = next(c for c in chosen.headers.getlist("Set-Cookie") if c.startswith("theme="))
        assert {"theme=dark", "Max-Age=31536000", "HttpOnly", "SameSite=Lax"} <= set(cookie.split("; "))
        assert 'data-theme="dark"' in client.get("/vault/account/login").text

    def test_the_theme_of_the_system_replaces_a_kept_one(self, api: Api) -> None:
        client = api.app.test_client()
        client.get("/vault/account/login?theme=light")
        assert "data-theme" not in client.get("/vault/account/login?theme=system").text
        assert "data-theme" not in client.get("/vault/account/login").text

    @pytest.mark.parametrize("theme", ["", "none", '"><script>', "dark light"])
    def test_another_theme_is_ignored(self, api: Api, theme: str) -> None:
        client = api.app.test_client()
        page = client.get("/vault/account/login", query_string={"theme": theme})
        assert "data-theme" not in page.text
        assert "<script>" not in page.text
        assert not any(c.startswith("theme=") for c in page.headers.getlist("Set-Cookie"))
        client.set_cookie("theme", theme or "x")
        assert "data-theme" not in client.get("/vault/account/login").text
