"""A sample app and sample people."""

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from strongroom_simulators.alipay.keys import KeyPair
from strongroom_simulators.alipay.platform import Platform
from strongroom_simulators.alipay.registry import Person, PlatformApp
from strongroom_simulators.clock import AdjustableClock


def sample_app(public_key: RSAPublicKey, *redirect_uris: str) -> PlatformApp:
    """Return an app with this key and these redirect URIs."""
    return PlatformApp("2021000000000001", public_key, redirect_uris)


def sample_platform(
    *apps: PlatformApp, clock: AdjustableClock | None = None, keys: KeyPair | None = None
) -> Platform:
    """Return a platform with these apps and three people."""
    platform = Platform(clock, keys=keys)
    for app in apps:
        platform.add_app(app)
    platform.add_person(Person("lin", "林小雨", "https://tfs.alipayobjects.com/images/sample"))
    platform.add_person(Person("wei", '魏"晨" {🌅} \\/'))
    platform.add_person(Person("ada", "Ada"))
    return platform
