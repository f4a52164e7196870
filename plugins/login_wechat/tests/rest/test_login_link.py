"""The button of the login page: it leads to the QR code page, and back with a session."""

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from tests.support.api import Answer, Api
from tests.support.config import Table
from tests.support.databases import on_sqlite
from tests.support.wechat import CALLBACK, WeChat

pytestmark = on_sqlite

ROOT = "https://127.0.0.1"
BEGIN = "/api/v1/wechat-authorizations/begin"


@pytest.fixture
def config_changes(platform: WeChat) -> Table:
    changes = platform.config(ROOT)
    # This website logs in by the pages of a front end.
    changes["login"]["wechat"]["apps"]["shop"]["redirect_uri"] = f"{ROOT}/front-end"
    plugins = {"enabled": ["storage_local", "login_wechat", "login_pages"]}
    return {**changes, "plugins": plugins, "server": {"public_url": ROOT}}


IN_APP = "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 MicroMessenger/8.0.50 Language/zh_CN"


class Person:
    """A person in front of a browser."""

    def __init__(self, api: Api, platform: WeChat) -> None:
        self._client = api.app.test_client()
        self._platform = platform

    def open(self, path: str, browser: str = "Firefox") -> Answer:
        return Answer(self._client.get(path, base_url=ROOT, headers={"User-Agent": browser}))

    def begin(self, app: str = "site", page: str = "/connect/qrconnect") -> str:
        """Press the button, and return the state that WeChat gets."""
        url = urlsplit(self.open(f"{BEGIN}?app={app}").headers["Location"])
        assert url.geturl().startswith(f"{self._platform.url}{page}?")
        return parse_qs(url.query)["state"][0]

    def come_back(self, state: str, code: str | None) -> Answer:
        query = {"state": state, **({"code": code} if code else {})}
        return self.open(f"{CALLBACK}?{urlencode(query)}")


@pytest.fixture
def person(api: Api, platform: WeChat) -> Person:
    return Person(api, platform)


def test_clients_with_pages_of_their_own_learn_of_the_website(api: Api) -> None:
    (provider,) = api.get("/api/v1/login-providers", headers={"Accept-Language": "zh"}).json["data"]
    assert (provider["name"], provider["kind"]) == ("wechat", "wechat")
    assert (provider["displayName"], provider["showsQrCode"]) == ("微信", True)
    request = provider["request"]
    answer = api.post(request["path"], {**request["body"], "purpose": "login"})
    assert (answer.status_code, answer.json["app"]) == (201, "site")


def test_the_login_page_has_a_button_for_a_website_of_the_server(person: Person) -> None:
    page = person.open("/account/login").text
    shown = [app for app in ("site", "shop", "mini") if f'href="{BEGIN}?app={app}"' in page]
    assert shown == ["site"]


class TestBrowserOfWeChat:
    """It cannot scan its own screen, so it logs in by an official account, or not at all."""

    def test_without_an_account_the_page_leads_to_another_browser(self, person: Person) -> None:
        page = person.open("/account/login", IN_APP).text
        assert BEGIN not in page
        assert "open this page in the browser of your device" in page
        assert "open this page in the browser of your device" not in person.open("/account/login").text


class TestOfficialAccount:
    @pytest.fixture
    def config_changes(self, config_changes: Table) -> Table:
        apps = config_changes["login"]["wechat"]["apps"]
        apps["account"] = {**apps["site"], "kind": "official_account"}
        return config_changes

    def test_each_browser_has_the_button_that_works_in_it(self, person: Person) -> None:
        for browser, expected in (("Firefox", "site"), (IN_APP, "account")):
            page = person.open("/account/login", browser).text
            shown = [app for app in ("site", "account") if f'href="{BEGIN}?app={app}"' in page]
            assert shown == [expected]

    def test_a_person_logs_in_without_a_scan(self, person: Person, platform: WeChat) -> None:
        state = person.begin("account", page="/connect/oauth2/authorize")
        answer = person.come_back(state, platform.code("site", "lin"))
        assert (answer.status_code, answer.headers["Location"]) == (303, "/account/")
