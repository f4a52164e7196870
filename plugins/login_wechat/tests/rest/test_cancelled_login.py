"""A person who cancels at WeChat reads so on the login page."""

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from tests.support.api import Api
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.wechat import CALLBACK, WeChat

pytestmark = on_sqlite

ROOT = "http://127.0.0.1"


@pytest.fixture
def config_changes(platform: WeChat) -> Table:
    plugins = {"enabled": ["storage_local", "login_wechat", "login_pages"]}
    changes = merged(FIXED_CAPTCHA, platform.config(ROOT))
    return {**changes, "plugins": plugins, "server": {"public_url": ROOT}}


def test_the_login_page_names_the_platform_where_the_person_cancelled(api: Api) -> None:
    browser = PageBrowser(api)
    begun = browser.request("/api/v1/wechat-authorizations/begin?app=site")
    state = parse_qs(urlsplit(begun.headers["Location"]).query)["state"][0]
    browser.open(f"{CALLBACK}?{urlencode({'state': state})}")
    assert browser.message == "You cancelled at WeChat. Log in again, or choose another way."
