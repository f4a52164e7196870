"""People and apps of the platform."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

SENSITIVE = frozenset({"mobile", "email", "biz_mail"})


class Status(IntEnum):
    """The ``status`` of a member in the contacts."""

    ACTIVE = 1
    DISABLED = 2
    NOT_ACTIVATED = 4
    LEFT = 5


@dataclass(slots=True)
class Person:
    """A person with WeCom or WeChat.

    Args:
        id: the person's name in calls of the simulator.
        name: the name in the contacts.
        userid: the id in the corporation; ``None``: an outsider.
        corpid: the corporation of the member.
        contact: ``mobile``, ``email`` and ``biz_mail``.
        external_userid: the id of an outsider who is an external contact of a member.
        status: as in the contacts.
    """

    id: str
    name: str
    userid: str | None = None
    corpid: str | None = None
    contact: Mapping[str, str] = field(default_factory=dict)
    external_userid: str | None = None
    status: Status = Status.ACTIVE


@dataclass(slots=True)
class PlatformApp:
    """An app of a corporation's own.

    Args:
        corpid: the corporation.
        agentid: the number of the app in the corporation.
        secret: the app's own.
        domains: the trusted hosts of redirect URIs.
        trusted_addresses: the addresses that may call the interfaces; ``None``: all.
        visible_to: the userids that the app is visible to; ``None``: all members.
        sensitive: the members of the profile that the administrator lets the app ask for.
        links: the linked corporations, whose members the app is visible to.
    """

    corpid: str
    agentid: int
    secret: str = field(repr=False)
    domains: tuple[str, ...] = ()
    trusted_addresses: frozenset[str] | None = None
    visible_to: frozenset[str] | None = None
    sensitive: frozenset[str] = SENSITIVE
    links: frozenset[str] = frozenset()

    def is_member(self, person: Person) -> bool:
        """Return whether the person is a member of the app's corporation now."""
        return person.corpid == self.corpid and person.userid is not None

    def is_linked(self, person: Person) -> bool:
        """Return whether the person is a member of a linked corporation."""
        return person.corpid in self.links and person.userid is not None

    def is_visible_to(self, person: Person) -> bool:
        """Return whether the app is visible to a member."""
        return self.visible_to is None or person.userid in self.visible_to

    def openid(self, person: Person) -> str:
        """Return the id of an outsider in the corporation."""
        digest = hashlib.sha256(f"{self.corpid}/{person.id}".encode()).digest()
        return f"o{urlsafe_b64encode(digest).decode()[:27]}"
