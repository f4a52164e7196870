"""A simulated Feishu on a real port, and the plugin configured to talk to it."""

from collections.abc import Callable, Iterator
from typing import cast

import pytest
from tests.support.feishu import REDIRECT, Values

from strongroom.plugin_api.host import HostAPI
from strongroom.testing.clock import ManualClock
from strongroom_login_feishu.options import FeishuApp, FeishuOptions
from strongroom_login_feishu.provider import FeishuProvider
from strongroom_login_oauth.memory import MemoryValues
from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.feishu import TENANT, Platform, Simulator, sample_app, sample_platform


@pytest.fixture
def region() -> str:
    return "cn"


@pytest.fixture
def feishu(region: str) -> Iterator[Simulator]:
    """The simulated platform; its people are lin, wei and ada of a company, and eve of another."""
    platform = sample_platform(sample_app(REDIRECT), clock=AdjustableClock(), region=region)
    with Simulator(platform) as simulator:
        yield simulator


@pytest.fixture
def vendor(feishu: Simulator) -> Platform:
    return feishu.platform


@pytest.fixture
def app(feishu: Simulator, region: str) -> FeishuApp:
    known = next(iter(feishu.platform.apps.values()))
    return FeishuApp(
        app_id=known.app_id,
        app_secret=known.app_secret,
        allowed_tenants=(TENANT,),
        region=region,
        accounts_url=feishu.url,
        open_url=feishu.url,
    )


@pytest.fixture
def server() -> Values:
    clock = ManualClock()
    return Values(MemoryValues(clock), clock)


@pytest.fixture
def make_provider(server: Values) -> Iterator[Callable[[FeishuApp], FeishuProvider]]:
    made: list[FeishuProvider] = []

    def make(app: FeishuApp) -> FeishuProvider:
        options = FeishuOptions(apps={"main": app}, read_timeout=2)
        made.append(FeishuProvider(app, options, lambda: cast("HostAPI", server)))
        return made[-1]

    yield make
    for provider in made:
        provider.close()


@pytest.fixture
def provider(make_provider: Callable[[FeishuApp], FeishuProvider], app: FeishuApp) -> FeishuProvider:
    return make_provider(app)
