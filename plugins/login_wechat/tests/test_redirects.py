"""The contract about logins by redirect, with a website whose redirect URI is the server's callback."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
import requests
from tests.support.wechat import APPS, CALLBACK, WeChat, app_options, wechat

from strongroom.testing.server import LiveServer, free_port
from strongroom_login_oauth.testing import (
    MEMBER,
    OTHER,
    Harness,
    RedirectLoginContract,
    Through,
    contract_server,
)
from strongroom_login_wechat.method import WeChatLogin

PEOPLE: Final = {MEMBER: "lin", OTHER: "wei"}


class ServerWebsite(Harness):
    """Two people who scan the QR code of a website."""

    method = WeChatLogin
    plugin = "login_wechat"
    has_outsiders = False

    def __init__(self, platform: WeChat, server_url: str) -> None:
        self._platform = platform
        self._server_url = server_url

    def options(self, through: Through) -> Mapping[str, Any]:
        apps = {"site": app_options(APPS["site"], self._server_url)}
        return {"open_url": self._platform.url, "api_url": through(self._platform.url), "apps": apps}

    @property
    def secrets(self) -> tuple[str, ...]:
        return (APPS["site"].secret,)

    def approve(self, url: str, person: str = MEMBER) -> str:
        return self._decide(url, PEOPLE[person], "confirm")

    def refuse(self, url: str) -> str:
        return self._decide(url, "lin", "deny")

    def _decide(self, url: str, person: str, decision: str) -> str:
        form = {"person": person, "decision": decision}
        response = requests.post(url, data=form, allow_redirects=False, timeout=30)
        return response.headers["Location"]


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def harness(port: int) -> Iterator[Harness]:
    with wechat() as platform:
        yield ServerWebsite(platform, f"http://127.0.0.1:{port}")


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, harness: Harness, port: int
) -> Iterator[LiveServer]:
    with contract_server(tmp_path_factory.mktemp("server"), harness, port=port) as server:
        yield server


class TestLogin(RedirectLoginContract):
    @pytest.fixture
    def callback(self) -> str:
        return CALLBACK
