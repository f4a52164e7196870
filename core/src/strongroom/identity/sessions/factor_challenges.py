"""Open challenges of second factors, open enrolments, and permissions to enrol.

The client has a random id, and the database only its keyed hash, so that no reader of the database can
meet a challenge. What a challenge carries is encrypted, because it has proofs and keys in it.
"""

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.pruning import AmortizedPruning, prune
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import ChallengeInvalid
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.sessions.models import factor_challenges
from strongroom.plugin_api.deactivation import Deactivation

LIFETIME: Final = 5 * 60 * 1000
"""Milliseconds within which a challenge must be met."""

DUE_LIFETIME: Final = 15 * 60 * 1000
"""Milliseconds for which a login waits for a factor to be enrolled, or for a consent. Both take time."""

TRIES: Final = 5
"""Wrong answers that end a challenge."""

DUE: Final = "due-enrolment"
"""The purpose of challenges that permit to enrol a factor that is required, and nothing else."""

_HASH: Final = "factor-challenge"
_SEAL: Final = "factor-challenge"
_FORM: Final = re.compile(r"[A-Za-z0-9_-]{43}")

_OPEN: Final = (factor_challenges.c.hash == bindparam("of_hash")) & (
    factor_challenges.c.purpose == bindparam("of_purpose")
)
_ISSUE: Final = Statement(insert(factor_challenges))
# One UPDATE counts the try before it is evaluated, so that parallel tries cannot exceed the limit.
_TRY: Final = Statement(
    update(factor_challenges)
    .where(_OPEN, factor_challenges.c.tries < TRIES, factor_challenges.c.expires_at > bindparam("now"))
    .values(tries=factor_challenges.c.tries + 1)
    .returning(factor_challenges.c.user_id, factor_challenges.c.sealed_state)
)
_CONSUME: Final = Statement(delete(factor_challenges).where(_OPEN))
# Consumes all of the user's: only one of several logins enrols a factor with the first proof alone.
_CONSUME_DUE: Final = Statement(
    delete(factor_challenges)
    .where(factor_challenges.c.user_id == bindparam("of_user"), factor_challenges.c.purpose == DUE)
    .returning(factor_challenges.c.hash)
)
_READ: Final = Statement(
    select(factor_challenges.c.user_id, factor_challenges.c.sealed_state).where(
        _OPEN, factor_challenges.c.expires_at > bindparam("now")
    )
)
_REMOVE_ALL: Final = Statement(
    delete(factor_challenges).where(factor_challenges.c.user_id == bindparam("of_user"))
)


@dataclass(frozen=True, slots=True)
class OpenChallenge:
    """A challenge that a client has presented.

    Args:
        user_id: the user whose factors meet it; ``None`` if any user's passwordless factor does.
        states: the state of each factor's ceremony, by the name of the factor.
    """

    user_id: str | None
    context: Mapping[str, Any] = field(repr=False)
    states: Mapping[str, Mapping[str, Any]] = field(repr=False)


class FactorChallenges:
    """The open challenges, within the caller's transaction."""

    def __init__(self, database: Database, clock: Clock, keys: SecretKeys) -> None:
        self._database = database
        self._clock = clock
        self._keys = keys
        self._pruning = AmortizedPruning(factor_challenges.c.hash, factor_challenges.c.expires_at)

    def open(
        self,
        connection: Connection,
        challenge: OpenChallenge,
        purpose: str,
        lifetime: int = LIFETIME,
    ) -> tuple[str, int]:
        """Store a challenge; return its id, and its expiry in milliseconds since the Unix epoch.

        Args:
            purpose: the only purpose that it may be presented for.
            lifetime: milliseconds until it expires.
        """
        identifier, expires_at = secrets.token_urlsafe(32), self._clock.now() + lifetime
        states = {factor: dict(state) for factor, state in challenge.states.items()}
        state = {"context": dict(challenge.context), "states": states}
        row = {
            "hash": self._digest(identifier),
            "purpose": purpose,
            "user_id": challenge.user_id,
            "sealed_state": self._keys.seal(_SEAL, json.dumps(state)),
            # A challenge without a user has one try, which the same statement counts.
            "tries": 0 if challenge.user_id else TRIES - 1,
            "expires_at": expires_at,
        }
        _ISSUE.execute(connection, row)
        # Expired rows are removed with the insertions, because anonymous requests create rows, too.
        self._pruning.inserted(connection, self._clock.now())
        return identifier, expires_at

    def count_try(self, connection: Connection, identifier: str, purpose: str) -> OpenChallenge:
        """Count a try of a challenge, and return it.

        Raises:
            ChallengeInvalid: it is unknown, expired or met, or has no tries left.
        """
        return self._find(_TRY, connection, identifier, purpose)

    def find(self, connection: Connection, identifier: str, purpose: str) -> OpenChallenge:
        """Return a challenge, without counting a try.

        Raises:
            ChallengeInvalid: it is unknown, expired or met.
        """
        return self._find(_READ, connection, identifier, purpose)

    def consume(self, connection: Connection, identifier: str, purpose: str) -> None:
        """Consume a challenge, in the transaction of what it permits.

        Raises:
            ChallengeInvalid: it was consumed at the same time.
        """
        if not _CONSUME.execute(
            connection, {"of_hash": self._digest(identifier), "of_purpose": purpose}
        ):
            raise ChallengeInvalid

    def consume_due(self, connection: Connection, user_id: str, due: str | None) -> None:
        """Consume all permissions of a user to enrol a factor.

        Args:
            due: the grant that must be among them; ``None`` if none is needed.

        Raises:
            ChallengeInvalid: ``due`` was consumed at the same time.
        """
        closed = _CONSUME_DUE.scalars(connection, {"of_user": user_id})
        if due is not None and self._digest(due) not in closed:
            raise ChallengeInvalid

    def remove_all(self, connection: Connection, user_id: str) -> None:
        """Remove the open challenges of a user."""
        _REMOVE_ALL.execute(connection, {"of_user": user_id})

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Remove the open challenges, enrolments and grants to enrol of a user."""
        if ended.is_of_account:
            self.remove_all(connection, ended.user_id)

    def prune(self) -> int:
        """Delete expired challenges; return the count."""
        expired = factor_challenges.c.expires_at <= self._clock.now()
        return prune(self._database, factor_challenges.c.hash, expired)

    def _find(
        self, statement: Statement[Any], connection: Connection, identifier: str, purpose: str
    ) -> OpenChallenge:
        values = {"of_hash": self._digest(identifier), "of_purpose": purpose, "now": self._clock.now()}
        row = statement.first(connection, values)
        if row is None:
            raise ChallengeInvalid
        state = json.loads(self._keys.unseal(_SEAL, row.sealed_state))
        return OpenChallenge(row.user_id, state["context"], state["states"])

    def _digest(self, identifier: str) -> str:
        # A malformed id costs no hash; nothing has the digest "".
        return self._keys.hash(_HASH, identifier) if _FORM.fullmatch(identifier) else ""
