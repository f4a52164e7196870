"""State of the platform, and the actions of people."""

import secrets
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Final

from strongroom_simulators.alipay.keys import KeyPair
from strongroom_simulators.alipay.refusals import (
    CALL_LIMITED,
    INVALID_CODE,
    INVALID_TOKEN,
    TOKEN_EXPIRED,
    Refusal,
)
from strongroom_simulators.alipay.registry import Person, PlatformApp
from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.grants import find_grant
from strongroom_simulators.limits import Limit
from strongroom_simulators.planned import PlannedAnswers

CODE_LIFETIME: Final = 24 * 3600
TOKEN_LIFETIME: Final = 1_296_000
"""Seconds."""
REQUESTS_A_SECOND: Final = 100


@dataclass(slots=True)
class Grant:
    """What a code or a token stands for."""

    app: PlatformApp
    person: Person
    scope: str
    expires_at: float
    is_used: bool = False


class Platform:
    """The platform's state.

    Args:
        clock: the clock, which tests can advance.
        keys: sign the platform's answers.
    """

    def __init__(self, clock: AdjustableClock | None = None, *, keys: KeyPair | None = None) -> None:
        self.clock = clock or AdjustableClock()
        self.keys = keys or KeyPair()
        self.apps: dict[str, PlatformApp] = {}
        self.people: dict[str, Person] = {}
        self.failures = PlannedAnswers()
        self.requests: Counter[str] = Counter()
        self.limit = Limit(REQUESTS_A_SECOND, 1, lambda: Refusal(CALL_LIMITED), self.clock)
        self._lock = threading.Lock()
        self._codes: dict[str, Grant] = {}
        self._tokens: dict[str, Grant] = {}

    def add_app(self, app: PlatformApp) -> None:
        """Register an app."""
        self.apps[app.app_id] = app

    def add_person(self, person: Person) -> None:
        """Add a person with an account."""
        self.people[person.id] = person

    def authorize(self, app_id: str, person: str, *, scope: str = "auth_user") -> str:
        """Simulate a person who confirms a login; return the code."""
        code = secrets.token_hex(16)
        expires_at = self.clock() + CODE_LIFETIME
        self._codes[code] = Grant(self.apps[app_id], self.people[person], scope, expires_at)
        return code

    def spend_code(self, app: PlatformApp, code: str) -> tuple[str, Grant]:
        """Redeem a code; return a token and what it stands for.

        Raises:
            Refusal: the code is unknown, used, expired, or another app's.
        """
        with self._lock:
            invalid = Refusal(INVALID_CODE)
            grant = find_grant(self._codes, code, app, self.clock(), (invalid, invalid))
            if grant.is_used:
                raise invalid
            grant.is_used = True
        token = f"authusrB{secrets.token_hex(16)}"
        self._tokens[token] = Grant(app, grant.person, grant.scope, self.clock() + TOKEN_LIFETIME)
        return token, self._tokens[token]

    def holder(self, app: PlatformApp, token: str) -> Grant:
        """Return what a token stands for.

        Raises:
            Refusal: the token is unknown, expired, or another app's.
        """
        refusals = Refusal(INVALID_TOKEN), Refusal(TOKEN_EXPIRED)
        return find_grant(self._tokens, token, app, self.clock(), refusals)
