"""A simulated platform on a real port, and the plugin configured to talk to it."""

from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import cast
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import Client, Credential, LoginAttempt, VerificationCode
from strongroom_login_oauth.memory import MemoryValues
from strongroom_login_wechat import method
from strongroom_login_wechat.api import WeChatApi
from strongroom_login_wechat.method import WeChatLogin
from strongroom_login_wechat.mini_program import MiniProgram
from strongroom_login_wechat.options import WeChatApp, WeChatOptions
from strongroom_login_wechat.website import Website
from strongroom_simulators.wechat import (
    AdjustableClock,
    Platform,
    PlatformApp,
    Simulator,
    sample_mini_program,
    sample_platform,
    sample_website,
)

REDIRECT_URI = "http://127.0.0.1/wechat/callback?to=a b&lang=中文"


class NoProofs:
    """The core verifies no proofs."""

    def identify(self, text: str) -> Credential | None:
        return None

    def check_password(self, username: str, password: str) -> Credential | None:
        return None

    def consume_code(
        self,
        code: VerificationCode,
        recipient: str,
        purpose: str,
        *,
        client: Client | None = None,
    ) -> Credential | None:
        return None


@pytest.fixture
def vendor_clock() -> AdjustableClock:
    return AdjustableClock(lambda: 1_700_000_000.0)


class Milliseconds:
    """The clock of a server, with the platform's time."""

    def __init__(self, seconds: AdjustableClock) -> None:
        self._seconds = seconds

    def now(self) -> int:
        return int(self._seconds() * 1000)


@pytest.fixture
def host(vendor_clock: AdjustableClock) -> HostAPI:
    """The part of a server that mini programs use."""
    clock = Milliseconds(vendor_clock)
    return cast("HostAPI", SimpleNamespace(clock=clock, values=MemoryValues(clock)))


@pytest.fixture
def site_app() -> PlatformApp:
    return sample_website()


@pytest.fixture
def mini_app() -> PlatformApp:
    return sample_mini_program()


@pytest.fixture
def vendor(vendor_clock: AdjustableClock, site_app: PlatformApp, mini_app: PlatformApp) -> Platform:
    return sample_platform(site_app, mini_app, clock=vendor_clock)


@pytest.fixture
def simulator(vendor: Platform) -> Iterator[Simulator]:
    with Simulator(vendor) as simulator:
        yield simulator


@pytest.fixture
def options(simulator: Simulator, site_app: PlatformApp, mini_app: PlatformApp) -> WeChatOptions:
    site = WeChatApp("website", site_app.appid, site_app.secret, REDIRECT_URI)
    mini = WeChatApp("mini_program", mini_app.appid, mini_app.secret)
    return WeChatOptions(
        apps={"site": site, "mini": mini}, open_url=simulator.url, api_url=simulator.url
    )


@pytest.fixture
def pauses() -> list[float]:
    """The seconds the client would have slept."""
    return []


@pytest.fixture
def client(options: WeChatOptions, pauses: list[float]) -> Iterator[WeChatApi]:
    client = WeChatApi(options, sleep=pauses.append)
    yield client
    client.close()


@pytest.fixture
def make_login(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float], host: HostAPI
) -> Iterator[Callable[[WeChatOptions], WeChatLogin]]:
    made: list[WeChatLogin] = []
    monkeypatch.setattr(method, "WeChatApi", partial(WeChatApi, sleep=pauses.append))

    def make(options: WeChatOptions) -> WeChatLogin:
        made.append(WeChatLogin(options, NoProofs()))
        made[-1].attach(host)
        return made[-1]

    yield make
    for login in made:
        login.close()


@pytest.fixture
def login(make_login: Callable[[WeChatOptions], WeChatLogin], options: WeChatOptions) -> WeChatLogin:
    return make_login(options)


@pytest.fixture
def site(login: WeChatLogin) -> Website:
    app = login.providers["site"]
    assert isinstance(app, Website)
    return app


@pytest.fixture
def mini(login: WeChatLogin) -> MiniProgram:
    app = login.providers["mini"]
    assert isinstance(app, MiniProgram)
    return app


@pytest.fixture
def attempt() -> Callable[..., LoginAttempt]:
    def make(**proof: str) -> LoginAttempt:
        return LoginAttempt(Client("192.0.2.1"), method="wechat", proof=proof)

    return make


@pytest.fixture
def decide() -> Callable[..., dict[str, list[str]]]:
    """Decides on a QR page as a browser would; gives the query it is sent back with."""

    def post(url: str, **form: str) -> dict[str, list[str]]:
        response = requests.post(url, data=form, allow_redirects=False, timeout=30)
        assert response.status_code == 302, response.text
        return parse_qs(urlsplit(response.headers["Location"]).query)

    return post
