"""A simulated WeCom: the same interfaces, and people controlled by the caller.

It is written from the platform's documentation and shares no code with the plugin's client. In a test::

    platform = sample_platform(sample_app("127.0.0.1"))
    with Simulator(platform) as simulator:
        options = {"login_url": simulator.url, "open_url": simulator.url, "api_url": simulator.url}
"""

from strongroom_simulators.wecom.platform import Platform
from strongroom_simulators.wecom.registry import Person, PlatformApp, Status
from strongroom_simulators.wecom.samples import (
    CORPORATION,
    LINKED_CORPORATION,
    sample_app,
    sample_platform,
)
from strongroom_simulators.wecom.server import Simulator

__all__ = [
    "CORPORATION",
    "LINKED_CORPORATION",
    "Person",
    "Platform",
    "PlatformApp",
    "Simulator",
    "Status",
    "sample_app",
    "sample_platform",
]
