"""A simulated Feishu or Lark: the same interfaces, and people controlled by the caller.

It is written from the platform's documentation and shares no code with the plugin's client. In a test::

    platform = sample_platform(sample_app("http://127.0.0.1:8000/callback"))
    with Simulator(platform) as simulator:
        code = platform.authorize("cli_00000000000000a1", "lin", redirect_uri=..., challenge=...)
"""

from strongroom_simulators.feishu.platform import GLOBAL, MAINLAND, Platform
from strongroom_simulators.feishu.registry import OTHER_TENANT, TENANT, Person, PlatformApp, Status
from strongroom_simulators.feishu.samples import sample_app, sample_platform
from strongroom_simulators.feishu.server import Simulator

__all__ = [
    "GLOBAL",
    "MAINLAND",
    "OTHER_TENANT",
    "TENANT",
    "Person",
    "Platform",
    "PlatformApp",
    "Simulator",
    "Status",
    "sample_app",
    "sample_platform",
]
