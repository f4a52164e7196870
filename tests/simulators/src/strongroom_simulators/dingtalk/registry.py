"""People, companies and apps of the platform."""

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Final

PROFILE_RIGHT: Final = "Contact.User.Read"
"""通讯录个人信息读权限: a person's own profile."""

MOBILE_RIGHT: Final = "Contact.User.mobile"
"""个人手机号信息: the number in that profile."""

MEMBER_RIGHT: Final = "qyapi_get_member"
"""成员信息读权限: the members of the app's company."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person with an account.

    Args:
        id: the person's name in calls of the simulator.
        nick: the name in the profile.
        mobile: the number without its country code; empty if there is none.
        state_code: the country code without a plus sign.
        exclusive_corp: the corpId of the company that owns the account (专属帐号).
    """

    id: str
    nick: str
    mobile: str = "13800000000"
    state_code: str = "86"
    email: str = ""
    exclusive_corp: str | None = None


@dataclass(slots=True)
class Company:
    """An organisation.

    Args:
        members: the userids of its members, by the people's ids.
        contacts: the userids of its external contacts, by the people's ids.
    """

    corp_id: str
    name: str
    members: dict[str, str] = field(default_factory=dict)
    contacts: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class PlatformApp:
    """An internal app of a company.

    Args:
        client_id: the Client ID (the former AppKey).
        client_secret: the Client Secret (the former AppSecret).
        corp_id: the company that develops and uses the app.
        hosts: the registered hosts of redirect URIs.
        rights: the granted rights.
    """

    client_id: str
    client_secret: str = field(repr=False)
    corp_id: str
    hosts: tuple[str, ...] = ()
    rights: set[str] = field(default_factory=lambda: {PROFILE_RIGHT, MOBILE_RIGHT, MEMBER_RIGHT})

    def openid(self, person: Person) -> str:
        """Return the person's id in this app."""
        return _digest(self.client_id, person.id)

    def unionid(self, person: Person) -> str:
        """Return the person's id in all apps of the company that develops this one."""
        return _digest(self.corp_id, person.id)


def _digest(*parts: str) -> str:
    return urlsafe_b64encode(hashlib.sha256("/".join(parts).encode()).digest()).decode()[:22] + "iE"
