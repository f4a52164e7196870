"""People and apps of the platform."""

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Final

WEBSITE: Final = "website"
MINI_PROGRAM: Final = "mini_program"


@dataclass(frozen=True, slots=True)
class Person:
    """A person with a WeChat account.

    Args:
        id: the person's name in calls of the simulator.
        nickname: the name in the profile.
        mobile: the number without its country code.
        country_code: without a plus sign.
    """

    id: str
    nickname: str
    mobile: str = "13800000000"
    country_code: str = "86"


@dataclass(slots=True)
class PlatformApp:
    """A registered app.

    Args:
        appid: the AppID.
        secret: the AppSecret.
        kind: ``website`` or ``mini_program``.
        domain: the required host of a website's redirect_uri.
        account: the open-platform account; without one, people have no unionid.
    """

    appid: str
    secret: str = field(repr=False)
    kind: str
    domain: str = ""
    account: str | None = None

    def openid(self, person: Person) -> str:
        """Return the person's id in this app."""
        return f"o{_digest(self.appid, person.id)}"

    def unionid(self, person: Person) -> str | None:
        """Return the person's id in all apps of the open-platform account, if this app is in one."""
        return None if self.account is None else f"u{_digest(self.account, person.id)}"


def _digest(*parts: str) -> str:
    return urlsafe_b64encode(hashlib.sha256("/".join(parts).encode()).digest()).decode()[:27]
