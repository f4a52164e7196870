"""Enrols users in second factors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.foundation import errors
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.identity.accounts.factor_methods import FactorMethods
from strongroom.identity.accounts.reauthentication import (
    FRESH_LOGIN,
    Proof,
    ProofFields,
    Reauthentication,
)
from strongroom.identity.sessions.factor_enrolments import FactorEnrolments
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.enrolled_factors import EnrolledFactors
from strongroom.identity.users.models import FactorRow
from strongroom.identity.verification.codes import Purpose
from strongroom.plugin_api.factors import Ceremony, Enrolment, FactorRejected, factor_kind
from strongroom.plugin_api.login import Assurance

RECOVERY_CODE: Final = "recovery_code"
"""The name of the backup factor that the core itself has."""

_RECOVERY_KIND: Final = factor_kind(RECOVERY_CODE)


@dataclass(frozen=True, slots=True)
class ProvenEnrolment:
    """An open enrolment whose answer was right."""

    identifier: str = field(repr=False)
    factor: str
    name: str
    enrolment: Enrolment


@dataclass(frozen=True, slots=True)
class BegunEnrolment:
    """An open enrolment. ``expires_at`` is in milliseconds since the Unix epoch."""

    id: str
    kind: str
    expires_at: int
    shown: Mapping[str, Any]


@dataclass(slots=True, eq=False, repr=False)
class FactorEnrolling:
    """Enrolment in two steps: a ceremony begins, and an answer confirms it."""

    _database: Database
    _enrolments: FactorEnrolments
    _enrolled: EnrolledFactors
    _authorizations: AuthorizationService
    _reauthentication: Reauthentication
    _changes: CredentialChanges
    _methods: FactorMethods

    def begin(
        self,
        identity: Identity,
        user_id: str,
        kind: str,
        name: str,
        proof: Proof,
        fields: ProofFields,
    ) -> BegunEnrolment:
        """Begin the enrolment of the caller in a factor; nothing changes until it is confirmed.

        Raises:
            Forbidden: the caller is another user.
            ValidationFailed: there is no such factor, or a backup is the first one.
            StrongroomError: as :meth:`Reauthentication.require_any`.
        """
        # Not even administrators: another person's factor is a login option of that person.
        identity.require_self(user_id)
        method = self._methods.method(kind)
        self._reauthentication.require_any(
            identity, proof, Purpose.BIND, login_age=FRESH_LOGIN, fields=fields
        )
        with self._database.write() as connection:
            rows = self._enrolled.of_user(connection, user_id)
            if method.is_backup and all(row.is_backup for row in rows):
                message = "Enrol another factor first: this one only replaces others."
                raise errors.ValidationFailed.of_field("kind", "backup", message)
            mine = self._enrolled.opened(row for row in rows if row.factor == method.name)
            ceremony = method.begin_enrolment(self._methods.user(connection, user_id), mine)
            identifier, expires_at = self._enrolments.begin(
                connection, user_id, method.name, name, ceremony
            )
        return BegunEnrolment(identifier, kind, expires_at, ceremony.shown)

    def confirm(
        self,
        identity: Identity,
        user_id: str,
        identifier: str,
        answer: Any,
        origin: Origin,
        *,
        member: str = "answer",
        name: str | None = None,
        with_recovery_codes: bool = False,
    ) -> tuple[FactorRow, Mapping[str, Any]]:
        """Finish an enrolment; return the row, and what the client receives only once.

        Args:
            origin: the origin of the request, for the audit log.
            member: the member of the request that has the answer, for errors.
            name: replaces the name that the enrolment was begun with.
            with_recovery_codes: whether a user without recovery codes gets a sheet of them.

        Raises:
            Forbidden: the caller is another user.
            ChallengeInvalid: the enrolment is unknown, expired or finished, or has no tries left.
            FactorInvalid: the answer is wrong.
            StepUpRequired: the user has enrolled another factor since, and the login has not proven it.
        """
        identity.require_self(user_id)
        self._reauthentication.require_factor(identity)
        begun = self.prove(user_id, identifier, answer, member)
        if name is not None:
            begun = replace(begun, name=name)
        with self._database.write() as connection:
            self._authorizations.lock_live(connection, identity)
            row = self.store(connection, user_id, begun)
            shown = begun.enrolment.shown
            if with_recovery_codes:
                shown = {**shown, **self._first_recovery_codes(connection, user_id)}
            if not row.is_backup:
                # The login has just proven the factor; it states what it proves in the next challenge.
                self._authorizations.strengthen(
                    connection, identity, Assurance(), origin, is_second=True
                )
            self._changes.settle(connection, ChangedBy(user_id, origin))
        return row, shown

    def _first_recovery_codes(self, connection: Connection, user_id: str) -> Mapping[str, Any]:
        method = self._enrolments.methods.get(RECOVERY_CODE)
        held = {row.factor for row in self._enrolled.of_user(connection, user_id)}
        if method is None or RECOVERY_CODE in held:
            return {}
        sheet = method.enrol(Ceremony(), None)
        self._enrolled.add(connection, user_id, RECOVERY_CODE, "", sheet, is_backup=method.is_backup)
        return sheet.shown

    def renew_recovery_codes(
        self,
        identity: Identity,
        user_id: str,
        proof: Proof,
        fields: ProofFields,
        origin: Origin,
    ) -> Sequence[str]:
        """Enrol a new sheet of recovery codes, which voids the one before; return the codes.

        Raises:
            StrongroomError: as :meth:`begin` and :meth:`confirm`.
        """
        begun = self.begin(identity, user_id, _RECOVERY_KIND, "", proof, fields)
        _, shown = self.confirm(identity, user_id, begun.id, None, origin)
        codes: Sequence[str] = shown["recoveryCodes"]
        return codes

    def prove(
        self, user_id: str, identifier: str, answer: Any, member: str = "answer"
    ) -> ProvenEnrolment:
        """Check the answer to an open enrolment, and count the try.

        Raises:
            ChallengeInvalid: the enrolment is unknown, expired or finished, or has no tries left.
            FactorInvalid: the answer is wrong.
        """
        with self._database.write() as connection:
            factor, name, ceremony = self._enrolments.count_try(connection, user_id, identifier)
        method = self._enrolments.methods.get(factor)
        if method is None:
            raise errors.ChallengeInvalid
        try:
            return ProvenEnrolment(identifier, factor, name, method.enrol(ceremony, answer))
        except FactorRejected as error:
            raise errors.FactorInvalid.of_field(member, "wrong", str(error)) from error

    def store(
        self,
        connection: Connection,
        user_id: str,
        begun: ProvenEnrolment,
        *,
        due: str | None = None,
    ) -> FactorRow:
        """Store an enrolment whose answer was right; raises as :meth:`FactorEnrolments.finish`.

        The caller settles the change.
        """
        factor, name = begun.factor, begun.name
        return self._enrolments.finish(
            connection, user_id, begun.identifier, factor, name, begun.enrolment, due=due
        )
