"""Consents that a login must have which registers its user.

The first proof of such a login, such as a code, is often valid once. It is kept while the terms are
shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.clock import iso_format
from strongroom.foundation.database import Database
from strongroom.foundation.errors import ChallengeInvalid, TermsNotAccepted
from strongroom.identity.sessions.factor_challenges import (
    DUE_LIFETIME,
    FactorChallenges,
    OpenChallenge,
)
from strongroom.identity.sessions.login_conditions import LoginCondition, LoginIncomplete
from strongroom.identity.sessions.pending_login import FirstProof, LoginTransaction
from strongroom.identity.users.consents import Consents

_PURPOSE: Final = "consent"


@dataclass(slots=True, eq=False, repr=False)
class DueConsents(LoginCondition):
    """Requires consents of logins that register."""

    _database: Database
    _challenges: FactorChallenges
    _consents: Consents

    def in_transaction(self, transaction: LoginTransaction) -> None:
        """Store the consent of a login, and require one if the login registers its user.

        Raises:
            LoginIncomplete: it has none.
            ChallengeInvalid: it has none, and a later step of the login: its user is gone.
            TermsNotAccepted: it is for another version.
        """
        login = transaction.login
        accepted = login.first_proof.accepted_terms
        if accepted is not None:
            self._consents.require(accepted)
            self._consents.record(transaction.connection, transaction.user.id, accepted, login.origin)
        elif transaction.resolved.is_new and self._consents.terms.is_required:
            if not login.is_first_step:
                raise ChallengeInvalid
            raise LoginIncomplete(None, lambda connection: self._grant(connection, login.first_proof))

    def consume(self, identifier: str, accepted: str) -> Mapping[str, Any]:
        """Consume a grant, and return the context of its login.

        Raises:
            TermsNotAccepted: another version is accepted. The grant stays valid.
            ChallengeInvalid: the grant is unknown, expired or consumed.
        """
        self._consents.require(accepted)
        with self._database.write() as connection:
            challenge = self._challenges.find(connection, identifier, _PURPOSE)
            self._challenges.consume(connection, identifier, _PURPOSE)
        return challenge.context

    def _grant(self, connection: Connection, first_proof: FirstProof) -> TermsNotAccepted:
        """Keep the context of a login, and return the error with the id by which it continues."""
        challenge = OpenChallenge(None, first_proof.json(), {})
        identifier, expires_at = self._challenges.open(connection, challenge, _PURPOSE, DUE_LIFETIME)
        granted = {"id": identifier, "expiresAt": iso_format(expires_at)}
        return TermsNotAccepted({**granted, **self._consents.terms.json()})
