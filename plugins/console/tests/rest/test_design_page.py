"""The page of the design, for administrators of a server in development."""

from collections.abc import Callable

import pytest
from tests.support.api import Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.assembly.plugin_host.server import HostServer
from strongroom.plugin_api.server import ServerSetting

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]

LogIn = Callable[[Person], PageBrowser]


def test_administrators_see_all_parts(api: Api, log_in: LogIn) -> None:
    page = log_in(api.person(admin=True)).open("/console/design")
    assert page.status_code == 200
    assert all(f'class="{name}' in page.text for name in ("popup", "toast", "avatar", "window", "stat"))


def test_other_users_see_none(browser: PageBrowser) -> None:
    assert browser.open("/console/design").status_code == 404


def test_a_server_in_production_has_none(
    api: Api, log_in: LogIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    mode = ServerSetting("server.mode", '"production"', "default", is_changed=False, help="")
    monkeypatch.setattr(HostServer, "settings", lambda _: [mode])
    page = log_in(api.person(admin=True)).open("/console/design")
    assert page.status_code == 404
