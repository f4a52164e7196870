"""Second factors that a login must prove or enrol: the only such decision."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from sqlalchemy import Connection

from strongroom.clock import Clock
from strongroom.foundation.assurance import is_as_strong
from strongroom.foundation.database.transaction_state import after_commit
from strongroom.foundation.errors import (
    ChallengeInvalid,
    FactorEnrolmentRequired,
    SecondFactorRequired,
)
from strongroom.identity.sessions.factor_enrolments import FactorEnrolments
from strongroom.identity.sessions.factor_verification import MetChallenge, SecondFactors
from strongroom.identity.sessions.login_conditions import LoginCondition, LoginIncomplete
from strongroom.identity.sessions.pending_login import LoginTransaction, RequiredEnrolment
from strongroom.identity.users.factor_policy import FactorPolicy
from strongroom.plugin_api.login import MULTI_FACTOR

LOGIN: Final = "login"
"""The purpose of challenges that a login is finished by."""


@dataclass(slots=True, eq=False, repr=False)
class DueFactors(LoginCondition):
    """Requires a second factor of users who have or must have one."""

    _clock: Clock
    _factors: SecondFactors
    _enrolments: FactorEnrolments
    _policy: FactorPolicy

    def in_transaction(self, transaction: LoginTransaction) -> None:
        """Require the second factor.

        Raises:
            ChallengeInvalid: the answer or the enrolment is for another user, or was used already; or
                the user has a factor by now.
            LoginIncomplete: a second factor is missing.
        """
        login = transaction.login
        if login.second_proof is not None:
            self._prove(transaction, login.second_proof)
        elif login.enrolment is not None:
            self._enrol(transaction, login.enrolment)
        elif not is_as_strong(login.assurance.acr, MULTI_FACTOR):
            self._require_enrolled(transaction)

    def _prove(self, transaction: LoginTransaction, second_proof: MetChallenge) -> None:
        _require_user(transaction, second_proof.user_id)
        self._factors.consume(transaction.connection, second_proof)
        notify = partial(self._factors.notify_of_backup, second_proof, transaction.login.origin)
        after_commit(transaction.connection, notify)

    def _enrol(self, transaction: LoginTransaction, enrolment: RequiredEnrolment) -> None:
        _require_user(transaction, enrolment.user_id)
        # The first proof alone enrols a factor only if there is none to ask for.
        if transaction.account.has_second_factor:
            raise ChallengeInvalid
        enrolment.store(transaction.connection)

    def _require_enrolled(self, transaction: LoginTransaction) -> None:
        user_id, context = transaction.user.id, transaction.login.first_proof.json

        def challenge(connection: Connection) -> SecondFactorRequired:
            issued = self._factors.issue(connection, user_id, LOGIN, context())
            return SecondFactorRequired(issued.json())

        def grant(connection: Connection) -> FactorEnrolmentRequired:
            granted = self._enrolments.grant(connection, user_id, context())
            return FactorEnrolmentRequired(granted.json())

        if transaction.account.has_second_factor:
            raise LoginIncomplete(user_id, challenge)
        due_at = self._policy.due_at(transaction.connection, transaction.user)
        if due_at is not None and due_at <= self._clock.now():
            # The grant names the user.
            raise LoginIncomplete(user_id, grant, keeps_user=transaction.resolved.is_new)
        transaction.factor_due_at = due_at


def _require_user(transaction: LoginTransaction, user_id: str) -> None:
    # The credential may belong to another user since the first proof.
    if user_id != transaction.user.id:
        raise ChallengeInvalid
