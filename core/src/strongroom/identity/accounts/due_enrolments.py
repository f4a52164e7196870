"""Enrols the second factor that a user must have, in the login that would need it.

A login without that factor yields no tokens, only a grant: a secret that stands for the first
proof. It begins enrolments, and finishes one of them together with the login, once. It opens no other
route.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import ValidationFailed
from strongroom.identity.accounts.factor_enrolling import BegunEnrolment, FactorEnrolling
from strongroom.identity.accounts.factor_methods import FactorMethods
from strongroom.identity.sessions.factor_enrolments import FactorEnrolments
from strongroom.identity.sessions.login import LoginService
from strongroom.identity.sessions.pending_login import FirstProof, RequiredEnrolment
from strongroom.identity.sessions.token_issuing import IssuedTokens
from strongroom.identity.users.models import FactorRow
from strongroom.plugin_api.login import Client


@dataclass(frozen=True, slots=True)
class EnrolledLogin:
    """A login that has enrolled a factor, and what the client receives only once."""

    issued: IssuedTokens
    factor: FactorRow
    shown: Mapping[str, Any]


@dataclass(slots=True, eq=False, repr=False)
class DueEnrolments:
    """Enrolments without a login, of users who must have a second factor and have none."""

    _database: Database
    _enrolments: FactorEnrolments
    _enrolling: FactorEnrolling
    _methods: FactorMethods
    _logins: LoginService

    def begin(self, grant: str, kind: str, name: str, client: Client) -> BegunEnrolment:
        """Begin an enrolment; nothing changes until it is confirmed.

        Args:
            grant: the secret that the login has returned.
            client: the client, whose device must be the first proof's.

        Raises:
            ChallengeInvalid: the grant is unknown, expired, of another device, or consumed.
            ValidationFailed: there is no such factor, or it only replaces others.
        """
        with self._database.write() as connection:
            user_id, _ = self._find(connection, grant, client)
            method = self._methods.method(kind)
            if method.is_backup:
                message = "Enrol another factor first: this one only replaces others."
                raise ValidationFailed.of_field("type", "backup", message)
            ceremony = method.begin_enrolment(self._methods.user(connection, user_id), [])
            identifier, expires_at = self._enrolments.begin(
                connection, user_id, method.name, name, ceremony
            )
        return BegunEnrolment(identifier, kind, expires_at, ceremony.shown)

    def confirm(
        self, grant: str, identifier: str, answer: Any, client: Client, origin: Origin
    ) -> EnrolledLogin:
        """Finish an enrolment and the login; the grant is consumed.

        Args:
            grant: the secret that the login has returned.
            client: the client, whose device must be the first proof's.
            origin: the origin of the request, for the audit log.

        Raises:
            ChallengeInvalid: the grant or the enrolment is unknown, expired or consumed; or the user
                has a factor by now.
            FactorInvalid: the answer is wrong.
            InvalidCredentials: the password was changed since the first proof.
            UserSuspended: the user is suspended.
        """
        with self._database.read() as connection:
            user_id, first_proof = self._find(connection, grant, client)
        begun = self._enrolling.prove(user_id, identifier, answer)
        rows: list[FactorRow] = []

        def store(connection: Connection) -> None:
            row = self._enrolling.store(connection, user_id, begun, due=grant)
            rows.append(row)

        enrolment = RequiredEnrolment(user_id, store)
        issued = self._logins.finish_enrolled(first_proof, enrolment, client, origin)
        return EnrolledLogin(issued, rows[-1], begun.enrolment.shown)

    def _find(self, connection: Connection, grant: str, client: Client) -> tuple[str, FirstProof]:
        user_id, context = self._enrolments.find_grant(connection, grant)
        first_proof = FirstProof.from_json(context)
        first_proof.require_device(client)
        return user_id, first_proof
