"""A gateway over real HTTP for each test, and a clock that tests move by hand."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from strongroom_login_sms.aliyun import AliyunSms
from strongroom_login_sms.options import AliyunSmsOptions
from strongroom_simulators.sms import Account, Gateway, SmsSimulator

from .recording import Received, recording

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


@pytest.fixture
def dead_endpoint() -> Iterator[str]:
    """An address without a listener: bound, so that no other process takes it meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


@pytest.fixture
def mute_endpoint() -> Iterator[str]:
    """An address that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def full_endpoint() -> Iterator[str]:
    """An address at which connections are never completed, since its queue of them is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, ExitStack() as waiting:
        for _ in range(2):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        yield f"127.0.0.1:{full.getsockname()[1]}"


@pytest.fixture
def received() -> Iterator[Received]:
    with recording() as received:
        yield received
