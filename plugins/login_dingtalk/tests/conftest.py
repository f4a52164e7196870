"""A simulated DingTalk on a real port, and the apps of the plugin that talk to it."""

from collections.abc import Callable, Iterator

import pytest

from strongroom.testing.clock import ManualClock
from strongroom_login_dingtalk.app import App
from strongroom_login_dingtalk.client import MakeToken
from strongroom_login_dingtalk.options import DingTalkApp, DingTalkOptions
from strongroom_login_oauth.app_token import AppToken, Token
from strongroom_login_oauth.memory import MemoryValues
from strongroom_simulators.dingtalk import (
    AdjustableClock,
    Platform,
    PlatformApp,
    Simulator,
    sample_app,
    sample_platform,
)

MakeApp = Callable[..., App]


@pytest.fixture
def vendor_clock() -> AdjustableClock:
    return AdjustableClock(lambda: 1_700_000_000.0)


@pytest.fixture
def vendor_app() -> PlatformApp:
    return sample_app()


@pytest.fixture
def vendor(vendor_app: PlatformApp, vendor_clock: AdjustableClock) -> Platform:
    return sample_platform(vendor_app, clock=vendor_clock)


@pytest.fixture
def simulator(vendor: Platform) -> Iterator[Simulator]:
    with Simulator(vendor) as simulator:
        yield simulator


@pytest.fixture
def make_token() -> MakeToken:
    clock = ManualClock()
    values = MemoryValues(clock)

    def make(key: str, fetch: Callable[[], Token]) -> AppToken:
        return AppToken(key, fetch, values=lambda: values, clock=lambda: clock)

    return make


@pytest.fixture
def make_app(simulator: Simulator, vendor_app: PlatformApp, make_token: MakeToken) -> Iterator[MakeApp]:
    apps: list[App] = []

    def make(**changes: object) -> App:
        keys = {"client_id": vendor_app.client_id, "client_secret": vendor_app.client_secret}
        app = DingTalkApp(**{**keys, **changes})  # type: ignore[arg-type]
        url = simulator.url
        options = DingTalkOptions(apps={"main": app}, login_url=url, api_url=url, oapi_url=url)
        apps.append(App(app, options, make_token))
        return apps[-1]

    yield make
    for app in apps:
        app.close()


@pytest.fixture
def app(make_app: MakeApp) -> App:
    return make_app()
