"""Tickets: the result of a redirect, kept on the server until the person has proven the account, too.

Codes of providers end within a minute or less, while a person reads a code from an e-mail. So the code
is redeemed at once, and the ticket has its result.
"""

import hashlib
import secrets
from dataclasses import asdict, dataclass
from typing import Any, Final

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import (
    LoginRejected,
    LoginUnavailable,
    VerifiedCredential,
)
from strongroom.plugin_api.state import ValueStore

LIFETIME: Final = 600_000
"""Milliseconds for which tickets and states are valid."""

Outcome = VerifiedCredential | LoginRejected | LoginUnavailable


@dataclass(frozen=True, slots=True)
class StartedLogin:
    """What a client has begun by the REST API; see :meth:`Tickets.remember_start`."""

    name: str
    target: str | None


class Tickets:
    """Keeps outcomes of redirects, each for one use."""

    def __init__(self, host: HostAPI) -> None:
        self._values: ValueStore = host.values
        self._clock = host.clock

    def keep(self, outcome: Outcome) -> str:
        """Keep an outcome, and return its ticket."""
        ticket = secrets.token_urlsafe(32)
        ends = self._clock.now() + LIFETIME
        self._values.put(_key("ticket", ticket), _encoded(outcome), expires_at=ends)
        return ticket

    def consume(self, ticket: str) -> VerifiedCredential | None:
        """Consume a ticket, and return its credential; ``None`` for one that is unknown, old or used.

        Raises:
            LoginRejected: the outcome is this refusal.
            LoginUnavailable: the outcome is this failure.
        """
        key = _key("ticket", ticket)
        stored = self._values.get(key)
        if stored is None or not self._values.compare_and_set(key, stored, None):
            return None
        return _decoded(stored)

    def remember_start(self, state: str, name: str, target: str | None) -> None:
        """Remember what a client has begun by the REST API, for the answer to its state.

        Args:
            name: the name of the provider.
            target: where the browser with the answer is redirected to.
        """
        ends = self._clock.now() + LIFETIME
        self._values.put(_key("start", state), {"name": name, "target": target}, expires_at=ends)

    def find_start(self, state: str) -> StartedLogin | None:
        """Return what a client has begun with a state; ``None`` if it is unknown or too old."""
        stored = self._values.get(_key("start", state))
        return None if stored is None else StartedLogin(**stored)


def _key(kind: str, secret: str) -> str:
    # Keys are not encrypted, unlike values.
    return f"{kind}.{hashlib.sha256(secret.encode()).hexdigest()}"


def _encoded(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, VerifiedCredential):
        return {"verified": asdict(outcome)}
    if isinstance(outcome, LoginRejected):
        return {"rejected": [str(outcome), outcome.code]}
    return {"unavailable": [str(outcome), outcome.retry_after, outcome.misconfigured]}


def _decoded(stored: dict[str, Any]) -> VerifiedCredential:
    if "rejected" in stored:
        message, code = stored["rejected"]
        raise LoginRejected(message, code=code)
    if "unavailable" in stored:
        message, retry_after, misconfigured = stored["unavailable"]
        raise LoginUnavailable(message, retry_after=retry_after, misconfigured=misconfigured)
    return VerifiedCredential.from_json(stored["verified"])
