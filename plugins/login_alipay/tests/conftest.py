"""A simulated Alipay on a real port, and the plugin configured to talk to it."""

from collections.abc import Iterator

import pytest
from tests.support.alipay import REDIRECT, alipay_app

from strongroom_login_alipay.options import AlipayApp, AlipayOptions
from strongroom_simulators.alipay import KeyPair, Platform, Simulator, sample_app, sample_platform
from strongroom_simulators.clock import AdjustableClock


@pytest.fixture(scope="session")
def app_keys() -> KeyPair:
    return KeyPair()


@pytest.fixture(scope="session")
def alipay_keys() -> KeyPair:
    return KeyPair()


@pytest.fixture
def vendor(app_keys: KeyPair, alipay_keys: KeyPair) -> Platform:
    return sample_platform(
        sample_app(app_keys.public, REDIRECT), clock=AdjustableClock(), keys=alipay_keys
    )


@pytest.fixture
def simulator(vendor: Platform) -> Iterator[Simulator]:
    with Simulator(vendor) as simulator:
        yield simulator


@pytest.fixture
def app(simulator: Simulator, app_keys: KeyPair) -> AlipayApp:
    return AlipayApp(**alipay_app(simulator, app_keys))


@pytest.fixture
def options(app: AlipayApp) -> AlipayOptions:
    return AlipayOptions(apps={"main": app})
