"""A gateway over real HTTP for each test, and a clock that tests move by hand."""

import socket
import time
from collections.abc import Iterator

import pytest

from strongroom_login_sms.aliyun import AliyunSms
from strongroom_login_sms.options import AliyunSmsOptions
from strongroom_login_sms.simulator import Account, Gateway, SmsSimulator

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


def aliyun_options(endpoint: str, **changes: object) -> AliyunSmsOptions:
    account = Account()
    values: dict[str, object] = {
        "access_key_id": account.access_key_id,
        "access_key_secret": account.access_key_secret,
        "sign_name": SIGN_NAME,
        "templates": {"login": MAINLAND_TEMPLATE},
        "overseas_templates": {"login": OVERSEAS_TEMPLATE},
        "endpoint": endpoint,
        "protocol": "http",
    }
    return AliyunSmsOptions(**{**values, **changes})


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def gateway(clock: Clock) -> Gateway:
    return Gateway(clock=clock)


@pytest.fixture
def simulator(gateway: Gateway) -> Iterator[SmsSimulator]:
    with SmsSimulator(gateway) as simulator:
        yield simulator


@pytest.fixture
def aliyun(simulator: SmsSimulator) -> AliyunSms:
    return AliyunSms(aliyun_options(simulator.endpoint))


@pytest.fixture
def dead_endpoint() -> Iterator[str]:
    """An address at which nobody listens: bound, so that nobody else takes it meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


@pytest.fixture
def mute_endpoint() -> Iterator[str]:
    """An address that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"
