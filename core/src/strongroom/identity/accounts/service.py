"""Lists, blocks, renames and deletes users; deleted users are erased after a grace period."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from sqlalchemy import ColumnElement, Connection, false

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging
from strongroom.foundation.errors import Forbidden, LastAdministrator
from strongroom.identity.accounts.reauthentication import (
    FRESH_LOGIN,
    Proof,
    ProofFields,
    Reauthentication,
)
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.users.contacts import Notices
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import SINGLE_KINDS, User, UserStatus, UserType, users
from strongroom.identity.users.service import UserService
from strongroom.identity.verification.codes import CodeService, Purpose
from strongroom.plugin_api.login import Credential


class AccountService:
    """User accounts, for the users themselves and for administrators."""

    def __init__(
        self,
        database: Database,
        users: UserService,
        credentials: CredentialService,
        authorizations: AuthorizationService,
        notices: Notices,
        audit: AuditService,
    ) -> None:
        self._database = database
        self._users = users
        self._credentials = credentials
        self._authorizations = authorizations
        self._notices = notices
        self._audit = audit

    def get(self, identity: Identity, user_id: str) -> User:
        """Return a user.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
        """
        identity.require_self_or_admin(user_id)
        with self._database.read() as connection:
            return self._users.get(connection, user_id)

    def page(self, paging: Paging, filters: Mapping[str, str]) -> Page[User]:
        """Return a page of the users who match all filters.

        Args:
            paging: offset and size of the page.
            filters: by ``status`` and ``type``; by ``email``, ``mobile`` and ``username``, in any
                spelling; and by ``q``, a part of the name or of one of those three.
        """
        with self._database.read() as connection:
            return self._users.page(connection, paging, list(self._conditions(filters)))

    def contacts_of(self, user_ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return the e-mail address, mobile number and username of users, by user and kind."""
        with self._database.read() as connection:
            return self._credentials.contacts_of(connection, user_ids)

    def _conditions(self, filters: Mapping[str, str]) -> Iterator[ColumnElement[bool]]:
        for name, value in filters.items():
            if name in SINGLE_KINDS:
                # Normalised, so that any spelling finds the user. Invalid text matches no user.
                credential = self._credentials.identify(value)
                is_it = credential is not None and credential.kind == name
                held = self._credentials.holders_of(credential) if credential and is_it else None
                yield false() if held is None else users.c.id.in_(held)
            elif name == "q":
                named = users.c.name.icontains(value, autoescape=True)
                yield named | users.c.id.in_(self._credentials.holders_like(value))
            else:
                yield users.c[name] == value

    def change(
        self,
        identity: Identity,
        user_id: str,
        values: dict[str, str | None],
        revision: int | None,
        origin: Origin,
    ) -> User:
        """Change a user's name or locale. Administrators may also change the type.

        Raises:
            Forbidden: the caller may not make this change.
            NotFound: there is no such user.
            RevisionConflict: the user has changed since the given revision.
        """
        identity.require_self_or_admin(user_id)
        if "type" in values and not identity.is_admin:
            raise Forbidden("Only administrators may change the type of a user.")
        if values.get("type") == UserType.SERVICE:
            raise Forbidden("A user cannot become a service account.")

        def apply(connection: Connection, user: User) -> User:
            if values.get("type", user.type) != user.type:
                if user.type == UserType.SERVICE:
                    raise Forbidden("A service account cannot become a user.")
                # Authorizations store the user's type, so existing ones would keep the old type.
                self._authorizations.revoke_all(connection, user_id)
            return self._users.change(connection, user.id, revision, **values)

        return self._apply("user.change", identity, user_id, origin, apply)

    def suspend(self, identity: Identity, user_id: str, origin: Origin) -> User:
        """Suspend a user and revoke all tokens immediately. Suspending twice is no error.

        Raises:
            NotFound: there is no such user.
        """

        def apply(connection: Connection, user: User) -> User:
            self._authorizations.revoke_all(connection, user_id)
            return self._users.change(connection, user.id, status=UserStatus.SUSPENDED.value)

        user = self._apply("user.suspend", identity, user_id, origin, apply)
        with self._database.read() as connection:
            contacts = self._notices.contacts(connection, user_id)
        # Without the languages of the request, which are the administrator's.
        self._notices.notify(contacts, "user-suspended")
        return user

    def reinstate(self, identity: Identity, user_id: str, origin: Origin) -> User:
        """Let a suspended user log in again. Revoked tokens stay revoked.

        Raises:
            NotFound: there is no such user.
        """

        def apply(connection: Connection, user: User) -> User:
            return self._users.change(connection, user.id, status=UserStatus.ACTIVE.value)

        return self._apply("user.reinstate", identity, user_id, origin, apply)

    def _apply(
        self,
        action: str,
        identity: Identity,
        user_id: str,
        origin: Origin,
        apply: Callable[[Connection, User], User],
    ) -> User:
        with self._database.write() as connection:
            user = apply(connection, self._users.get(connection, user_id))
            event = AuditEvent(
                action, actor_id=identity.user_id, target_type="user", target_id=user_id, origin=origin
            )
            self._audit.record(connection, event)
        return user


_BATCH: Final = 500

Guard = Callable[[Connection, str], None]


class AccountDeletion:
    """Deletion of users.

    Tokens and credentials are revoked immediately: the user can no longer log in, and other users may
    register the address. The user's row stays, because files refer to their owner. Its personal data
    are erased later, so that an operator can investigate a mistaken or fraudulent deletion.

    Args:
        erase_after: milliseconds between the deletion and the erasure.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        users: UserService,
        credentials: CredentialService,
        codes: CodeService,
        authorizations: AuthorizationService,
        reauthentication: Reauthentication,
        notices: Notices,
        audit: AuditService,
        *,
        erase_after: int,
    ) -> None:
        self._database = database
        self._clock = clock
        self._users = users
        self._credentials = credentials
        self._codes = codes
        self._authorizations = authorizations
        self._reauthentication = reauthentication
        self._notices = notices
        self._audit = audit
        self._erase_after = erase_after
        self._guards: list[Guard] = []
        self._deletions: list[Callable[[Connection, str], None]] = []

    def guard(self, guard: Guard) -> None:
        """Register a check that runs before users delete themselves. It raises an error to refuse."""
        self._guards.append(guard)

    def on_deletion(self, remove: Callable[[Connection, str], None]) -> None:
        """Register a function that removes data of a user in the transaction of the deletion."""
        self._deletions.append(remove)

    def delete(
        self, identity: Identity, user_id: str, proof: Proof, fields: ProofFields, origin: Origin
    ) -> None:
        """Delete a user: the caller, with a fresh proof, or, as an administrator, any user.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
            LastAdministrator: the server, or a tenant with other members, would have no administrator.
            StrongroomError: as :meth:`Reauthentication.require_any`.
        """
        identity.require_self_or_admin(user_id)
        is_self = identity.user_id == user_id
        if is_self:
            # Checked before the proof, which would otherwise be used up in vain.
            with self._database.read() as connection:
                self._require_dispensable(connection, self._users.get(connection, user_id), is_self)
            self._reauthentication.require_any(
                identity, proof, Purpose.UNBIND, login_age=FRESH_LOGIN, fields=fields
            )
        with self._database.write() as connection:
            user = self._users.get(connection, user_id)
            # The same lock order as in a suspension, so that the two cannot deadlock.
            self._authorizations.revoke_all(connection, user_id)
            # Checked again under the lock: two administrators might delete each other concurrently.
            self._users.lock_administrators(connection)
            self._require_dispensable(connection, user, is_self)
            # Read before the credentials are released.
            contacts = self._notices.contacts(connection, user_id)
            self._end(connection, user)
            event = AuditEvent(
                "user.delete",
                actor_id=identity.user_id,
                target_type="user",
                target_id=user_id,
                origin=origin,
            )
            self._audit.record(connection, event)
        self._notices.notify(contacts, "user-deleted", origin.languages if is_self else ())

    def erase(self, origin: Origin) -> int:
        """Erase the personal data of users whose retention period has ended; return the count."""
        erased = 0
        while count := self._erase_some(origin):
            erased += count
        return erased

    def _erase_some(self, origin: Origin) -> int:
        before = self._clock.now() - self._erase_after
        with self._database.write() as connection:
            user_ids = self._users.erase(connection, before, limit=_BATCH)
            for user_id in user_ids:
                # Authorizations contain client addresses and user agents.
                self._authorizations.forget(connection, user_id)
                self._credentials.release_all(connection, user_id)
            if user_ids:
                details = {"count": str(len(user_ids))}
                self._audit.record(connection, AuditEvent("user.erase", origin=origin, details=details))
        return len(user_ids)

    def _require_dispensable(self, connection: Connection, user: User, is_self: bool) -> None:
        if user.type == UserType.ADMIN and not self._users.has_other_administrator(connection, user.id):
            raise LastAdministrator("At least one administrator of the server must remain.")
        if is_self:
            for guard in self._guards:
                guard(connection, user.id)

    def _end(self, connection: Connection, user: User) -> None:
        # A credential that is being bound concurrently is released, too.
        self._credentials.lock_user(connection, user.id)
        for item in self._credentials.of_user(connection, user.id):
            self._codes.void(connection, Credential(item.kind, item.value))
        self._credentials.release_all(connection, user.id)
        for remove in self._deletions:
            remove(connection, user.id)
        self._users.delete(connection, user.id)
