"""A simulated Alipay: the same interfaces, and people controlled by the caller.

It is written from the platform's documentation and shares no code with the plugin's client. In a test::

    keys = KeyPair()
    platform = sample_platform(sample_app(keys.public, "http://127.0.0.1:8000/callback"))
    with Simulator(platform) as simulator:
        code = platform.authorize("2021000000000001", "lin")
"""

from strongroom_simulators.alipay.keys import KeyPair
from strongroom_simulators.alipay.platform import Platform
from strongroom_simulators.alipay.registry import Person, PlatformApp
from strongroom_simulators.alipay.samples import sample_app, sample_platform
from strongroom_simulators.alipay.server import Simulator

__all__ = ["KeyPair", "Person", "Platform", "PlatformApp", "Simulator", "sample_app", "sample_platform"]
