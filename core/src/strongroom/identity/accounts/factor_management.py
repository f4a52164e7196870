"""Enrols, reports, renames and removes the second factors of users."""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.foundation import errors
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, page_of
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.accounts.reauthentication import (
    FRESH_LOGIN,
    Proof,
    ProofFields,
    Reauthentication,
)
from strongroom.identity.sessions.factor_enrolments import FactorEnrolments
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.enrolled_factors import EnrolledFactors
from strongroom.identity.users.factor_policy import FactorPolicy, FactorState
from strongroom.identity.users.models import SINGLE_KINDS, USERNAME, FactorRow
from strongroom.identity.users.service import UserService
from strongroom.identity.verification.codes import Purpose
from strongroom.plugin_api.factors import (
    Ceremony,
    Enrolment,
    FactorInfo,
    FactorRejected,
    FactorUser,
    PasswordlessFactor,
    SecondFactor,
    kind_of,
    member_of,
)
from strongroom.plugin_api.login import Assurance

RECOVERY_CODE: Final = "recovery_code"
"""The name of the backup factor that the core itself has."""

_RECOVERY_KIND: Final = kind_of(RECOVERY_CODE)

Summary = Mapping[str, Mapping[str, Any]]
"""What each factor shows to its user, by the member of its answer."""


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
class FactorService:
    """Second factors of users: enrolment, report and removal."""

    _database: Database
    _users: UserService
    _credentials: CredentialService
    _enrolments: FactorEnrolments
    _enrolled: EnrolledFactors
    _authorizations: AuthorizationService
    _reauthentication: Reauthentication
    _changes: CredentialChanges
    _audit: AuditService
    _keys: SecretKeys
    _policy: FactorPolicy

    def page(self, identity: Identity, user_id: str, paging: Paging) -> tuple[Page[FactorRow], Summary]:
        """Return a page of a user's enrolments, and for the user the summary of each factor.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
        """
        identity.require_self_or_admin(user_id)
        with self._database.read() as connection:
            self._users.get(connection, user_id)
            rows = self._enrolled.of_user(connection, user_id)
            is_self = identity.user_id == user_id
            summary = self._summary(connection, user_id) if is_self else {}
        return page_of(rows, paging, lambda row: (row.factor, row.created_at, row.id)), summary

    def of_kind(self, identity: Identity, user_id: str, factor: str) -> list[FactorRow]:
        """Return the enrolments of a user in one factor.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
        """
        identity.require_self_or_admin(user_id)
        with self._database.read() as connection:
            self._users.get(connection, user_id)
            rows = self._enrolled.of_user(connection, user_id)
        return [row for row in rows if row.factor == factor]

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
        method = self.method(kind)
        self._reauthentication.require_any(
            identity, proof, Purpose.BIND, login_age=FRESH_LOGIN, fields=fields
        )
        with self._database.write() as connection:
            rows = self._enrolled.of_user(connection, user_id)
            if method.is_backup and all(row.is_backup for row in rows):
                message = "Enrol another factor first: this one only replaces others."
                raise errors.ValidationFailed.of_field("kind", "backup", message)
            mine = self._enrolled.opened(row for row in rows if row.factor == method.name)
            ceremony = method.begin_enrolment(self.user(connection, user_id), mine)
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

    def rename(
        self,
        identity: Identity,
        user_id: str,
        factor_id: str,
        name: str,
        proof: Proof,
        fields: ProofFields,
        origin: Origin,
    ) -> tuple[FactorRow, Summary]:
        """Rename an enrolment of the caller; return it, and the summary of each factor.

        Raises:
            Forbidden: the caller is another user.
            NotFound: the user has no such enrolment.
            StrongroomError: as :meth:`Reauthentication.require_any`.
        """
        identity.require_self(user_id)
        # A wrong name could make the user remove the wrong one.
        self._reauthentication.require_any(
            identity, proof, Purpose.BIND, login_age=FRESH_LOGIN, fields=fields
        )
        with self._database.write() as connection:
            self._authorizations.lock_live(connection, identity)
            renamed = self._enrolled.rename(connection, user_id, factor_id, name)
            if renamed is None:
                raise errors.NotFound
            self._record(connection, "factor.rename", user_id, user_id, origin, renamed.factor)
            return renamed, self._summary(connection, user_id)

    def remove(
        self,
        identity: Identity,
        user_id: str,
        factor_id: str,
        proof: Proof,
        fields: ProofFields,
        origin: Origin,
    ) -> Summary:
        """Remove an enrolment of the caller; the last one takes the backups with it.

        Returns the summary of each factor.

        Raises:
            Forbidden: the caller is another user.
            NotFound: the user has no such enrolment.
            LastContact: the user could not log in any more.
            FactorNeeded: the user must have a second factor, and this is the last one.
            StrongroomError: as :meth:`Reauthentication.require_any`.
        """
        identity.require_self(user_id)
        self._reauthentication.require_any(
            identity, proof, Purpose.UNBIND, login_age=FRESH_LOGIN, fields=fields
        )
        with self._database.write() as connection:
            # Before the first read: two concurrent removals must not leave a user without any factor
            # who must have one.
            self._authorizations.lock_live(connection, identity, shared=False)
            removed = self._enrolments.remove(connection, user_id, factor_id)
            if removed is None:
                raise errors.NotFound
            if self._is_login_option(removed) and not self._has_login_option(connection, user_id):
                raise errors.LastContact("The last way to log in cannot be removed.")
            self._require_dispensable(connection, user_id)
            # Its proofs are void from the next request on.
            self._authorizations.weaken(connection, user_id)
            shown = self._summary(connection, user_id)
            self._changes.settle(connection, ChangedBy(user_id, origin))
        return shown

    def _require_dispensable(self, connection: Connection, user_id: str) -> None:
        user = self._users.get(connection, user_id)
        is_last = not self._enrolled.of_user(connection, user_id)
        if is_last and self._policy.is_required(connection, user):
            raise errors.FactorNeeded

    def report(self, paging: Paging, *, only_missing: bool = False) -> Page[FactorState]:
        """Return a page of the users with their second factors, oldest first, for administrators.

        Args:
            only_missing: whether to return only users who must have a second factor and have none.
        """
        with self._database.read() as connection:
            return self._policy.page(connection, paging, only_missing=only_missing)

    def reset(self, identity: Identity | None, user_id: str, origin: Origin) -> int:
        """Remove all factors of a user who has lost them, and end all logins; return the count.

        Args:
            identity: an administrator of the server, or ``None`` for the command line.
            origin: the origin of the request, for the audit log.

        Raises:
            Forbidden: the caller is no administrator.
            NotFound: there is no such user.
        """
        if identity is not None and not identity.is_admin:
            raise errors.Forbidden
        with self._database.write() as connection:
            self._users.get(connection, user_id)
            self._authorizations.revoke_all(connection, user_id)
            count = self._enrolments.remove_all(connection, user_id)
            actor_id = identity.user_id if identity else None
            self._changes.settle(connection, ChangedBy(actor_id, origin))
            self._record(connection, "factor.reset", actor_id, user_id, origin, "all")
        return count

    def _is_login_option(self, row: FactorRow) -> bool:
        return isinstance(self._enrolments.methods.get(row.factor), PasswordlessFactor)

    def _has_login_option(self, connection: Connection, user_id: str) -> bool:
        """Return whether a user can log in: a username alone is none."""
        # Locked, so that no concurrent transaction removes the others.
        self._credentials.lock_user(connection, user_id)
        kinds = {held.kind for held in self._credentials.of_user(connection, user_id)}
        return (
            bool(kinds - {USERNAME})
            or self._credentials.has_password(connection, user_id)
            or any(map(self._is_login_option, self._enrolled.of_user(connection, user_id)))
        )

    def _summary(self, connection: Connection, user_id: str) -> Summary:
        user = self.user(connection, user_id)
        summaries = {
            member_of(name): method.summary(user, self._enrolled.of_kind(connection, user_id, name))
            for name, method in self._enrolments.methods.items()
        }
        return {name: summary for name, summary in summaries.items() if summary}

    def method(self, kind: str) -> SecondFactor[Any]:
        """Return the enabled factor of a kind.

        Raises:
            ValidationFailed: there is none.
        """
        known = {kind_of(name): method for name, method in self._enrolments.methods.items()}
        if kind not in known:
            message = f"Must be one of: {', '.join(sorted(known)) or 'none is enabled'}."
            raise errors.ValidationFailed.of_field("kind", "unknown", message)
        return known[kind]

    def user(self, connection: Connection, user_id: str) -> FactorUser:
        """Return a user as ceremonies see one."""
        held = {item.kind: item.address for item in self._credentials.of_user(connection, user_id)}
        name = self._users.get(connection, user_id).name
        account = next((held[kind] for kind in SINGLE_KINDS if kind in held), name or user_id)
        return FactorUser(user_id, account, name, self._handle(user_id))

    def _handle(self, user_id: str) -> str:
        # Derived, and so permanent without a row that two first enrolments could both write.
        digest = hmac.digest(self._keys.derive("user-handle"), user_id.encode(), "sha512")
        return urlsafe_b64encode(digest).rstrip(b"=").decode()

    def _record(
        self,
        connection: Connection,
        action: str,
        actor_id: str | None,
        user_id: str,
        origin: Origin,
        factor: str,
    ) -> None:
        event = AuditEvent(
            action,
            actor_id=actor_id,
            target_type="user",
            target_id=user_id,
            origin=origin,
            details={"factor": factor},
        )
        self._audit.record(connection, event)


def info_of(row: FactorRow) -> FactorInfo:
    """Return an enrolment without its secrets."""
    return FactorInfo(
        row.id, kind_of(row.factor), row.name, row.is_backup, row.created_at, row.last_used_at
    )
