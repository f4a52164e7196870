"""A simulated WeChat platform: the same interfaces, and people controlled by the caller.

It is written from the platform's documentation and shares no code with the plugin's client. In a test::

    platform = Platform()
    platform.add_app(PlatformApp("wx0123456789abcdef", "a secret", WEBSITE, domain="127.0.0.1"))
    platform.add_person(Person("lin", nickname="林", mobile="13800000001"))
    with Simulator(platform) as simulator:
        options = WeChatOptions(apps=..., open_url=simulator.url, api_url=simulator.url)
"""

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.wechat.platform import Platform
from strongroom_simulators.wechat.registry import MINI_PROGRAM, WEBSITE, Person, PlatformApp
from strongroom_simulators.wechat.samples import (
    sample_mini_program,
    sample_platform,
    sample_website,
)
from strongroom_simulators.wechat.server import Simulator

__all__ = [
    "MINI_PROGRAM",
    "WEBSITE",
    "AdjustableClock",
    "Person",
    "Platform",
    "PlatformApp",
    "Simulator",
    "sample_mini_program",
    "sample_platform",
    "sample_website",
]
