"""Sample apps and people."""

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.wechat.platform import Platform
from strongroom_simulators.wechat.registry import MINI_PROGRAM, WEBSITE, Person, PlatformApp

ACCOUNT = "sample-account"


def sample_website(domain: str = "127.0.0.1") -> PlatformApp:
    """Return a website with a redirect_uri on ``domain``."""
    return PlatformApp("wx00000000000000a1", "website-secret", WEBSITE, domain=domain, account=ACCOUNT)


def sample_mini_program() -> PlatformApp:
    """Return a mini program of the same open-platform account."""
    return PlatformApp("wx00000000000000b2", "mini-program-secret", MINI_PROGRAM, account=ACCOUNT)


def sample_platform(
    *apps: PlatformApp, clock: AdjustableClock | None = None, denial_redirects: bool = True
) -> Platform:
    """Return a platform with these apps and three people."""
    platform = Platform(clock, denial_redirects=denial_redirects)
    for app in apps:
        platform.add_app(app)
    platform.add_person(Person("lin", nickname="林小雨", mobile="13800000001"))
    platform.add_person(Person("wei", nickname="魏晨 🌅", mobile="13800000002"))
    platform.add_person(Person("ada", nickname="Ada", mobile="7400123456", country_code="44"))
    return platform
