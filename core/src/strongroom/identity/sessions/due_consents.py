"""Consents that a login must have which registers its user.

The first proof of such a login, such as a code, is often valid once. It is kept while the terms are
shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.clock import iso_format
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import TermsNotAccepted
from strongroom.identity.sessions.factor_challenges import (
    DUE_LIFETIME,
    FactorChallenges,
    OpenChallenge,
)
from strongroom.identity.users.consents import Consents
from strongroom.identity.users.resolver import ResolvedUser

_PURPOSE: Final = "consent"


class ConsentMissing(Exception):
    """The login would register a user who has not accepted the terms."""


@dataclass(slots=True, eq=False, repr=False)
class DueConsents:
    """Requires consents of logins that register."""

    _database: Database
    _challenges: FactorChallenges
    _consents: Consents

    def settle(
        self, connection: Connection, resolved: ResolvedUser, accepted: str | None, origin: Origin
    ) -> None:
        """Store the consent of a login, and require one if the login registers its user.

        Raises:
            ConsentMissing: it has none.
            TermsNotAccepted: it is for another version.
        """
        if resolved.is_new and accepted is None and self._consents.terms.is_required:
            raise ConsentMissing
        if accepted is not None:
            self._consents.require(accepted)
        self._consents.record(connection, resolved.user.id, accepted, origin)

    def grant(self, context: Mapping[str, Any]) -> TermsNotAccepted:
        """Keep the context of a login, and return the error with the id by which it continues."""
        with self._database.write() as connection:
            challenge = OpenChallenge(None, context, {})
            identifier, expires_at = self._challenges.open(connection, challenge, _PURPOSE, DUE_LIFETIME)
        granted = {"id": identifier, "expiresAt": iso_format(expires_at)}
        return TermsNotAccepted({**granted, **self._consents.terms.json()})

    def redeem(self, identifier: str, accepted: str) -> Mapping[str, Any]:
        """Use up a grant, and return the context of its login.

        Raises:
            TermsNotAccepted: another version is accepted. The grant stays valid.
            ChallengeInvalid: the grant is unknown, expired or used up.
        """
        self._consents.require(accepted)
        with self._database.write() as connection:
            challenge = self._challenges.find(connection, identifier, _PURPOSE)
            self._challenges.spend(connection, identifier, _PURPOSE)
        return challenge.context
