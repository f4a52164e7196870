"""A simulated WeCom on a real port."""

from collections.abc import Iterator

import pytest

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.wecom import Platform, PlatformApp, Simulator, sample_app, sample_platform


@pytest.fixture
def vendor_clock() -> AdjustableClock:
    return AdjustableClock(lambda: 1_700_000_000.0)


@pytest.fixture
def vendor_app() -> PlatformApp:
    return sample_app("127.0.0.1")


@pytest.fixture
def vendor(vendor_clock: AdjustableClock, vendor_app: PlatformApp) -> Platform:
    return sample_platform(vendor_app, clock=vendor_clock)


@pytest.fixture
def simulator(vendor: Platform) -> Iterator[Simulator]:
    with Simulator(vendor) as simulator:
        yield simulator
