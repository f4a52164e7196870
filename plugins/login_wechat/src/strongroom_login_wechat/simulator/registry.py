"""The people and the apps that the platform knows."""

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Final

WEBSITE: Final = "website"
MINI_PROGRAM: Final = "mini_program"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a WeChat account.

    Args:
        id: how the simulator's callers name the person.
        nickname: what websites are shown.
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
        appid: its id.
        secret: its secret.
        kind: ``website`` or ``mini_program``.
        domain: the host that a website's redirect_uri must have.
        account: the open-platform account it belongs to; people get a unionid only with one.
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
