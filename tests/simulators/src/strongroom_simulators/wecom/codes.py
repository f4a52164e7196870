"""One-time codes of authorization pages, and the tickets for sensitive members of a profile."""

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from strongroom_simulators.grants import find_grant
from strongroom_simulators.wecom.refusals import (
    INVALID_CODE,
    INVALID_TICKET,
    TICKET_EXPIRED,
    Refusal,
)
from strongroom_simulators.wecom.registry import Person, PlatformApp

CODE_LIFETIME: Final = 300
TICKET_LIFETIME: Final = 1800
PRIVATE: Final = "snsapi_privateinfo"
BASE: Final = "snsapi_base"


@dataclass(slots=True)
class Grant:
    """A person's permission to an app; ``scope`` is that of the authorization page."""

    app: PlatformApp
    person: Person
    scope: str
    expires_at: float
    is_used: bool = False


class Codes:
    """All issued codes: for one use within five minutes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._grants: dict[str, Grant] = {}

    def issue(self, app: PlatformApp, person: Person, scope: str) -> str:
        """Return a new code, which may be as long as 512 bytes."""
        code = secrets.token_urlsafe(384)
        self._grants[code] = Grant(app, person, scope, self._clock() + CODE_LIFETIME)
        return code

    def spend(self, app: PlatformApp, code: str) -> Grant:
        """Redeem a code.

        Raises:
            Refusal: the code is unknown, used, expired, or another app's.
        """
        with self._lock:
            invalid = Refusal(INVALID_CODE)
            grant = find_grant(self._grants, code, app, self._clock(), (invalid, invalid))
            if grant.is_used:
                raise invalid
            grant.is_used = True
            return grant


class Tickets:
    """All issued tickets: valid for half an hour."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._grants: dict[str, Grant] = {}

    def issue(self, grant: Grant) -> str:
        """Return the ticket of a redeemed code."""
        ticket = secrets.token_urlsafe(64)
        expires_at = self._clock() + TICKET_LIFETIME
        self._grants[ticket] = Grant(grant.app, grant.person, grant.scope, expires_at)
        return ticket

    def person(self, app: PlatformApp, ticket: str) -> Person:
        """Return the person of a ticket.

        Raises:
            Refusal: the ticket is unknown, expired, or another app's.
        """
        refusals = Refusal(INVALID_TICKET), Refusal(TICKET_EXPIRED)
        return find_grant(self._grants, ticket, app, self._clock(), refusals).person
