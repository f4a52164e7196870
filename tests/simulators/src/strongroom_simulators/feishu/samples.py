"""A sample app and sample people of two companies."""

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.feishu.platform import MAINLAND, Platform
from strongroom_simulators.feishu.registry import OTHER_TENANT, Person, PlatformApp


def sample_app(*redirect_uris: str) -> PlatformApp:
    """Return an app with these redirect URIs."""
    return PlatformApp("cli_00000000000000a1", "feishu-secret", redirect_uris)


def sample_platform(
    *apps: PlatformApp, clock: AdjustableClock | None = None, region: str = MAINLAND
) -> Platform:
    """Return a platform with these apps, three members of a company, and one of another."""
    platform = Platform(clock, region=region)
    for app in apps:
        platform.add_app(app)
    platform.add_person(
        Person(
            "lin",
            "林小雨",
            en_name="Lin Xiaoyu",
            email="lin@example.com",
            enterprise_email="lin@corp.example.com",
            mobile="+8613800000001",
            employee_no="1001",
        )
    )
    platform.add_person(Person("wei", "魏晨 🌅", mobile="+8613800000002"))
    platform.add_person(Person("ada", "Ada", en_name="Ada"))
    platform.add_person(Person("eve", "外部 Eve", tenant=OTHER_TENANT, email="lin@example.com"))
    return platform
