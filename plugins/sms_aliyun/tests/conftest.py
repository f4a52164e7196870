"""A gateway over real HTTP for each test, and a clock that tests move by hand."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.support.endpoints import (
    dead_endpoint,
    full_endpoint,
    mute_endpoint,
    received,
)

from strongroom_simulators.sms import Account, Gateway, SmsSimulator
from strongroom_sms_aliyun.options import AliyunSmsOptions
from strongroom_sms_aliyun.sender import AliyunSms

__all__ = ["dead_endpoint", "full_endpoint", "mute_endpoint", "received"]

SIGN_NAME = "Strongroom"
MAINLAND_TEMPLATE = "SMS_100000001"
OVERSEAS_TEMPLATE = "SMS_100000002"


class Clock:
    """Starts at the present, since the vendor's SDK signs with the real time, and stands still."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


def aliyun_options(endpoint: str, **changes: Any) -> AliyunSmsOptions:
    account = Account()
    options = AliyunSmsOptions(
        access_key_id=account.access_key_id,
        access_key_secret=account.access_key_secret,
        sign_name=SIGN_NAME,
        templates={"login": MAINLAND_TEMPLATE},
        overseas_templates={"login": OVERSEAS_TEMPLATE},
        endpoint=endpoint,
        protocol="http",
    )
    return replace(options, **changes)


@pytest.fixture
def gateway_clock() -> Clock:
    return Clock()


@pytest.fixture
def gateway(gateway_clock: Clock) -> Gateway:
    return Gateway(clock=gateway_clock)


@pytest.fixture
def simulator(gateway: Gateway) -> Iterator[SmsSimulator]:
    with SmsSimulator(gateway) as simulator:
        yield simulator


@pytest.fixture
def aliyun(simulator: SmsSimulator) -> AliyunSms:
    return AliyunSms(aliyun_options(simulator.endpoint))
