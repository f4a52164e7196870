"""The ``state`` of OAuth redirects (RFC 6749, section 10.12), valid for one use and one browser."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, bindparam, delete, insert

from strongroom.activity.audit.service import FAILURE, AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.foundation.addresses import get_network
from strongroom.foundation.caller import Origin
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.database import Database
from strongroom.foundation.database.pruning import prune, prune_some
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import StateInvalid
from strongroom.foundation.limits.service import Allowance, RateLimits
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.sessions.models import oauth_states
from strongroom.plugin_api.deactivation import Deactivation
from strongroom.plugin_api.web import State, prefix_of_state

LIFETIME: Final = 600_000
"""Milliseconds for which a state is valid."""

_FORGOTTEN_AT_ONCE: Final = 2

_STATES: Final = oauth_states.c
_ADD: Final = Statement(insert(oauth_states))
# A mismatch deletes nothing, so that an attacker cannot consume the state of another browser.
_CONSUME: Final = Statement(
    delete(oauth_states)
    .where(
        _STATES.hash == bindparam("hash"),
        _STATES.purpose == bindparam("purpose"),
        _STATES.browser_hash == bindparam("browser_hash"),
        _STATES.user_id.is_not_distinct_from(bindparam("user_id")),
        _STATES.expires_at > bindparam("now"),
    )
    .returning(_STATES.data)
)
# States last ten minutes and are limited per address, so the table is small enough to be read.
_END: Final = Statement(delete(oauth_states).where(_STATES.user_id == bindparam("of_user")))


@dataclass(slots=True, eq=False, repr=False)
class OAuthStateStore:
    """Issues and redeems states. The database stores keyed hashes of states and browser secrets."""

    _database: Database
    _clock: Clock
    _keys: SecretKeys
    _rates: RateLimits
    _per_address: Sequence[Rate]
    _audit: AuditService

    def issue(
        self, purpose: str, browser: str, user_id: str | None, data: Mapping[str, str], origin: Origin
    ) -> State:
        """Issue a state.

        Args:
            purpose: the purpose that :meth:`spend` must name.
            browser: a secret of the browser, stored in its cookie.
            user_id: the user who may use the state; ``None``: a browser that is not logged in.
            data: returned when the state is used.
            origin: the origin of the request, for the rate limit.

        Raises:
            TooManyRequests: the address has exceeded its rate limit.
        """
        self._count(origin)
        now = self._clock.now()
        state = State(f"{prefix_of_state(purpose)}{secrets.token_hex(32)}", now + LIFETIME)
        row = {
            "hash": self._hash(state.value),
            "purpose": purpose,
            "browser_hash": self._hash(browser),
            "user_id": user_id,
            "data": dict(data),
            "expires_at": state.expires_at,
        }
        with self._database.write() as connection:
            # Deletes up to two rows per inserted row, so that expired rows do not accumulate.
            prune_some(connection, oauth_states.c.hash, self._expired(), _FORGOTTEN_AT_ONCE)
            _ADD.execute(connection, row)
        return state

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Delete the states that only this user may use."""
        if ended.is_of_account:
            _END.execute(connection, {"of_user": ended.user_id})

    def prune(self) -> int:
        """Delete expired states; return the count."""
        return prune(self._database, oauth_states.c.hash, self._expired())

    def consume(
        self, value: str, purpose: str, browser: str, user_id: str | None, origin: Origin
    ) -> Mapping[str, str]:
        """Consume a state; return its data.

        Raises:
            StateInvalid: it is unknown, too old, used, or of another browser, user or purpose.
            TooManyRequests: the address has exceeded its rate limit.
        """
        self._count(origin)
        parameters = {
            "hash": self._hash(value),
            "purpose": purpose,
            "browser_hash": self._hash(browser),
            "user_id": user_id,
            "now": self._clock.now(),
        }
        with self._database.write() as connection:
            row = _CONSUME.first(connection, parameters)
            if row is None:
                self._record_refusal(connection, purpose, user_id, origin)
        # Raised outside of the transaction, which must commit the audit record.
        if row is None:
            raise StateInvalid
        data: Mapping[str, str] = row.data
        return data

    def _record_refusal(
        self, connection: Connection, purpose: str, user_id: str | None, origin: Origin
    ) -> None:
        details = {"purpose": purpose}
        event = AuditEvent("state.spend", FAILURE, actor_id=user_id, origin=origin, details=details)
        self._audit.record(connection, event)

    def _count(self, origin: Origin) -> None:
        # Issuing and using states share one limit.
        self._rates.spend(Allowance("state", get_network(origin.address or ""), self._per_address))

    def _expired(self) -> ColumnElement[bool]:
        return oauth_states.c.expires_at <= self._clock.now()

    def _hash(self, text: str) -> str:
        return self._keys.hash("browser-state", text)
