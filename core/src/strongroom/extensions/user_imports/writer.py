"""Applies the plan of a chunk: creates and changes users, with their audit records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.extensions.user_imports.lines import FACTOR, UserLine
from strongroom.extensions.user_imports.models import UserImport
from strongroom.extensions.user_imports.plan import Plan
from strongroom.foundation.caller import Origin
from strongroom.identity.accounts.suspension import Suspension, Suspensions
from strongroom.identity.users.bulk import BulkUsers, ForeignUser
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.enrolled_factors import EnrolledFactors
from strongroom.identity.users.metadata import StoredMetadata, UserMetadata
from strongroom.identity.users.models import SINGLE_KINDS, User, UserStatus, UserType
from strongroom.identity.users.passwords import UserPasswords
from strongroom.identity.users.service import UserService, lock_logins

ORIGIN: Final = Origin(user_agent="user import")
"""The origin of the audit records of imported users."""

_IMPORTED: Final = "user.import"
_UPDATED: Final = "user.import-update"
_SUSPENDED: Final = "user.suspend"
_CAUSES: Final = {_SUSPENDED: {"cause": "import"}}


@dataclass(slots=True, eq=False, repr=False)
class ImportWriter:
    """Writes users, within the caller's transaction."""

    _bulk: BulkUsers
    _metadata: UserMetadata
    _users: UserService
    _credentials: CredentialService
    _passwords: UserPasswords
    _factors: EnrolledFactors
    _suspensions: Suspensions
    _login_changes: CredentialChanges
    _audit: AuditService

    def apply(self, connection: Connection, job: UserImport, plan: Plan) -> None:
        """Create and change the users of a plan.

        Raises:
            IntegrityError: another user has got one of the credentials since the plan was made.
        """
        created = self._bulk.add(connection, [_new_user(line) for line in plan.created])
        for user_id, line in zip(created, plan.created, strict=True):
            self._enrol(connection, user_id, line)
        # Before the rows of the users, in the order of a deletion, so that the two cannot deadlock.
        for user_id in sorted(user.id for user, line in plan.updated if _is_suspension(user, line)):
            lock_logins(connection, user_id)
        own = self._bulk.with_own_passwords(connection, [user.id for user, _ in plan.updated])
        suspended = [
            user.id
            for user, line in plan.updated
            if self._update(connection, user, line, keeps_password=user.id in own)
        ]
        changed = [user.id for user, _ in plan.updated]
        by = ChangedBy(job.created_by, ORIGIN, details={"import": job.id})
        self._login_changes.settle(connection, by)
        self._audit.record_all(connection, list(_events(job, created, changed, suspended)))

    def _update(
        self, connection: Connection, user: User, line: UserLine, *, keeps_password: bool
    ) -> bool:
        """Change a user; return whether the user was suspended."""
        self._credentials.lock_user(connection, user.id)
        self._change_profile(connection, user, line)
        self._change_credentials(connection, user, line)
        if line.password is not None and not keeps_password:
            self._passwords.set_password(connection, user.id, line.password)
        if line.factor is not None and not self._factors.of_kind(connection, user.id, FACTOR):
            self._enrol(connection, user.id, line)
        return self._suspend(connection, user, line)

    def _change_profile(self, connection: Connection, user: User, line: UserLine) -> None:
        named = {key: line.values[key] for key in ("name", "external_id") if key in line.values}
        changes = {key: value for key, value in named.items() if getattr(user, key) != value}
        if changes:
            self._users.change(connection, user.id, **changes)
        if {"metadata", "server_metadata"} & line.values.keys():
            former = self._bulk.find_metadata(connection, [user.id]).get(user.id, StoredMetadata())
            self._metadata.set(connection, user.id, _metadata(line, former))

    def _change_credentials(self, connection: Connection, user: User, line: UserLine) -> None:
        bound = {
            (item.kind, item.value): item for item in self._credentials.of_user(connection, user.id)
        }
        kinds = {item.kind for item in bound.values()}
        for new in line.credentials:
            credential = new.credential
            current = bound.get((credential.kind, credential.value))
            if current is None and credential.kind in SINGLE_KINDS and credential.kind in kinds:
                self._credentials.release(connection, user.id, credential.kind)
            elif current is not None and new.is_verified and not current.is_verified:
                self._credentials.release_one(connection, user.id, credential)
            elif current is not None:
                continue
            self._bulk.bind(connection, [(user.id, new)])

    def _enrol(self, connection: Connection, user_id: str, line: UserLine) -> None:
        if line.factor is not None:
            self._factors.add(connection, user_id, FACTOR, "", line.factor, is_backup=False)

    def _suspend(self, connection: Connection, user: User, line: UserLine) -> bool:
        if not _is_suspension(user, line):
            return False
        self._suspensions.apply(connection, user.id, Suspension())
        return True


def _is_suspension(user: User, line: UserLine) -> bool:
    status = UserStatus.SUSPENDED.value
    return line.values.get("status") == status and user.status != status


def _new_user(line: UserLine) -> ForeignUser:
    values: Any = line.values
    has_metadata = {"metadata", "server_metadata"} & values.keys()
    return ForeignUser(
        name=values.get("name", ""),
        credentials=line.credentials,
        password=line.password,
        metadata=_metadata(line, StoredMetadata()) if has_metadata else None,
        external_id=line.external_id,
        created_at=values.get("created_at"),
        is_suspended=values.get("status") == UserStatus.SUSPENDED.value,
    )


def _metadata(line: UserLine, former: StoredMetadata) -> StoredMetadata:
    return StoredMetadata(
        line.values.get("metadata", former.own),
        line.values.get("server_metadata", former.server),
    )


def _events(
    job: UserImport, created: Sequence[str], changed: Sequence[str], suspended: Sequence[str]
) -> Iterator[AuditEvent]:
    # Without the choice of the importer, a million users must not become a million events, so their
    # records have an action of their own.
    by_action = {
        "user.create" if job.events else _IMPORTED: created,
        "user.change" if job.events else _UPDATED: changed,
        _SUSPENDED: suspended,
    }
    for action, user_ids in by_action.items():
        for user_id in user_ids:
            yield AuditEvent(
                action,
                actor_id=job.created_by,
                target_type="user",
                target_id=user_id,
                origin=ORIGIN,
                details={"type": UserType.USER.value, "import": job.id, **_CAUSES.get(action, {})},
            )
