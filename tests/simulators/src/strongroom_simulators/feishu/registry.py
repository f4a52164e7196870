"""People and apps of the platform."""

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

TENANT: Final = "736588c9260f175d"
"""The company of the sample app."""
OTHER_TENANT: Final = "2ed263bf32cf1651"
"""Another company."""

CONTACT: Final = "contact:contact.base:readonly"
EMPLOYMENT: Final = "contact:user.employee:readonly"
EMAIL: Final = "contact:user.email:readonly"
PHONE: Final = "contact:user.phone:readonly"
USER_ID: Final = "contact:user.employee_id:readonly"


class Status(StrEnum):
    """The state of a person in the company."""

    ACTIVE = "active"
    FROZEN = "frozen"
    EXITED = "exited"
    RESIGNED = "resigned"


@dataclass(slots=True)
class Person:
    """A person with an account.

    Args:
        id: the person's name in calls of the simulator.
        tenant: the ``tenant_key`` of the person's company.
        mobile: in E.164; like the addresses, set by the company's administrator.
        may_use: whether the administrator allows the person to use apps.
    """

    id: str
    name: str
    en_name: str = ""
    tenant: str = TENANT
    email: str = ""
    enterprise_email: str = ""
    mobile: str = ""
    employee_no: str = ""
    status: Status = Status.ACTIVE
    may_use: bool = True


@dataclass(slots=True)
class PlatformApp:
    """A registered app.

    Args:
        redirect_uris: the registered redirect URIs, which are compared exactly.
        tenant: the company that owns the app.
        is_shared: whether members of other companies may use it, as those of a store app.
        scopes: the permissions of the app.
        developer: the developer within whose apps union ids are constant.
        contacts: the ids of the people in the app's range of contacts; ``None`` for all of its company.
    """

    app_id: str
    app_secret: str = field(repr=False)
    redirect_uris: tuple[str, ...]
    tenant: str = TENANT
    is_shared: bool = True
    is_enabled: bool = True
    scopes: set[str] = field(default_factory=lambda: {CONTACT, EMPLOYMENT})
    developer: str = "sample-developer"
    contacts: set[str] | None = None

    def open_id(self, person: Person) -> str:
        """Return the person's id in this app."""
        return f"ou_{_digest(self.app_id, person.tenant, person.id)}"

    def union_id(self, person: Person) -> str:
        """Return the person's id in all apps of the developer."""
        return f"on_{_digest(self.developer, person.tenant, person.id)}"

    def contains(self, person: Person) -> bool:
        """Return whether the person is in the app's range of contacts."""
        return person.tenant == self.tenant and (self.contacts is None or person.id in self.contacts)


def _digest(*parts: str) -> str:
    return hashlib.sha256("/".join(parts).encode()).hexdigest()[:32]
