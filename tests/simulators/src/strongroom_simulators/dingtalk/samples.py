"""Sample apps, companies and people."""

from typing import Final

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.dingtalk.platform import CALLS_A_SECOND, Platform
from strongroom_simulators.dingtalk.registry import Company, Person, PlatformApp

COMPANY: Final = "ding00000000000000c1"
OTHER_COMPANY: Final = "ding00000000000000c2"


def sample_app(*hosts: str) -> PlatformApp:
    """Return an internal app of the company, with redirect URIs on ``hosts``."""
    return PlatformApp("dingsimulatedapp01", "app-secret", COMPANY, hosts=hosts or ("127.0.0.1",))


def sample_platform(
    *apps: PlatformApp,
    clock: AdjustableClock | None = None,
    repeats_code: bool = False,
    calls_a_second: int = CALLS_A_SECOND,
) -> Platform:
    """Return a platform with these apps, two companies and five people.

    Lin and Wei are members of the company; Zhao has an account of the company. Ada is a member of the
    other company. Ren is an external contact of the company.
    """
    platform = Platform(clock, repeats_code=repeats_code, calls_a_second=calls_a_second)
    for app in apps:
        platform.add_app(app)
    platform.add_person(Person("lin", nick="林小雨", mobile="13800000001", email="lin@example.com"))
    platform.add_person(Person("wei", nick="魏晨 🌅", mobile="13800000002"))
    platform.add_person(Person("zhao", nick="赵敏", mobile="", exclusive_corp=COMPANY))
    platform.add_person(Person("ada", nick="Ada", mobile="7400123456", state_code="44"))
    platform.add_person(Person("ren", nick="任远", mobile="13800000005"))
    members = {"lin": "lin01", "wei": "manager42", "zhao": "zhao-1"}
    platform.add_company(Company(COMPANY, "小雨有限公司", members, contacts={"ren": "e-ren"}))
    platform.add_company(Company(OTHER_COMPANY, "Ada & Co", {"ada": "ada"}))
    return platform
