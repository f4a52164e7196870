"""A simulated DingTalk: the same interfaces, and people controlled by the caller.

It is written from the platform's documentation and shares no code with the plugin's client. It serves
the platform's three hosts at one address. In a test::

    platform = Platform()
    platform.add_company(Company("ding1", "A company", members={"lin": "lin01"}))
    platform.add_app(PlatformApp("dingkey", "a secret", "ding1", hosts=("127.0.0.1",)))
    platform.add_person(Person("lin", nick="林小雨", mobile="13800000001"))
    with Simulator(platform) as simulator:
        ...
"""

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.dingtalk.platform import Platform
from strongroom_simulators.dingtalk.registry import (
    MEMBER_RIGHT,
    MOBILE_RIGHT,
    PROFILE_RIGHT,
    Company,
    Person,
    PlatformApp,
)
from strongroom_simulators.dingtalk.samples import sample_app, sample_platform
from strongroom_simulators.dingtalk.server import Simulator

__all__ = [
    "MEMBER_RIGHT",
    "MOBILE_RIGHT",
    "PROFILE_RIGHT",
    "AdjustableClock",
    "Company",
    "Person",
    "Platform",
    "PlatformApp",
    "Simulator",
    "sample_app",
    "sample_platform",
]
