"""Renames, removes and resets the second factors of users."""

from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.foundation import errors
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.identity.accounts.factor_methods import FactorMethods, Summary
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
from strongroom.identity.users.factor_policy import FactorPolicy
from strongroom.identity.users.models import FactorRow
from strongroom.identity.users.service import UserService
from strongroom.identity.verification.codes import Purpose


@dataclass(slots=True, eq=False, repr=False)
class FactorChanges:
    """Changes of enrolments by their users, and their removal by administrators."""

    _database: Database
    _users: UserService
    _enrolments: FactorEnrolments
    _enrolled: EnrolledFactors
    _authorizations: AuthorizationService
    _reauthentication: Reauthentication
    _changes: CredentialChanges
    _audit: AuditService
    _policy: FactorPolicy
    _methods: FactorMethods

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
            return renamed, self._methods.summary(connection, user_id)

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
            self._require_login_option(connection, user_id, removed)
            self._require_dispensable(connection, user_id)
            # Its proofs are void from the next request on.
            self._authorizations.weaken(connection, user_id)
            shown = self._methods.summary(connection, user_id)
            self._changes.settle(connection, ChangedBy(user_id, origin))
        return shown

    def _require_login_option(self, connection: Connection, user_id: str, removed: FactorRow) -> None:
        methods = self._methods
        if methods.is_login_option(removed) and not methods.has_login_option(connection, user_id):
            raise errors.LastContact("The last way to log in cannot be removed.")

    def _require_dispensable(self, connection: Connection, user_id: str) -> None:
        user = self._users.get(connection, user_id)
        is_last = not self._enrolled.of_user(connection, user_id)
        if is_last and self._policy.is_required(connection, user):
            raise errors.FactorNeeded

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
