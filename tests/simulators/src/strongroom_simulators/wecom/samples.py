"""Sample apps, corporations and people."""

from typing import Final

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.wecom.platform import Platform
from strongroom_simulators.wecom.registry import Person, PlatformApp, Status

CORPORATION: Final = "ww00000000000000c1"
LINKED_CORPORATION: Final = "ww00000000000000c2"

VISIBLE: Final = frozenset({"LinXiaoYu", "wei", "zhao-1", "qian", "sun@example.com"})


def sample_app(*domains: str, agentid: int = 1000002, secret: str = "app-secret") -> PlatformApp:
    """Return an app of the corporation with trusted ``domains``, visible to all members but Chen."""
    return PlatformApp(
        CORPORATION,
        agentid,
        secret,
        domains=domains or ("127.0.0.1",),
        visible_to=VISIBLE,
        links=frozenset({LINKED_CORPORATION}),
    )


def sample_platform(*apps: PlatformApp, clock: AdjustableClock | None = None) -> Platform:
    """Return a platform with these apps and eight people.

    Lin, Wei, Zhao and Sun are active members, and Qian is a disabled one. The app is not visible to the
    member Chen. Ada is a member of the linked corporation. Ren is an outsider, and an external contact.
    """
    platform = Platform(clock)
    for app in apps:
        platform.add_app(app)
    contact = {"mobile": "13800000001", "email": "lin@example.com", "biz_mail": "lin@corp.example.com"}
    for person in (
        Person("lin", "林小雨", "LinXiaoYu", CORPORATION, contact),
        Person("wei", "魏晨 🌅", "wei", CORPORATION, {"mobile": "13800000002"}),
        Person("zhao", "赵敏", "zhao-1", CORPORATION),
        Person("sun", "孙悦", "sun@example.com", CORPORATION),
        Person("qian", "钱进", "qian", CORPORATION, status=Status.DISABLED),
        Person("chen", "陈默", "chen", CORPORATION),
        Person("ada", "Ada", "ada", LINKED_CORPORATION),
        Person("ren", "任远", external_userid="wmRenYuan0000000000000000000001"),
    ):
        platform.add_person(person)
    return platform
