"""Shows, changes, suspends and reinstates users."""

from collections.abc import Callable

from sqlalchemy import Connection

from strongroom.audit.service import AuditEvent, AuditService
from strongroom.authorizations.service import AuthorizationService
from strongroom.credentials.notices import Notices
from strongroom.database import Database
from strongroom.errors import Forbidden, RevisionConflict
from strongroom.identity import Identity, Origin
from strongroom.paging import Page, Paging
from strongroom.users.models import User, UserStatus
from strongroom.users.service import UserService


class AccountService:
    """Users as they see themselves and as administrators see them.

    Args:
        database: where they are kept.
        users: finds and changes them.
        authorizations: what a suspension ends.
        notices: tells them.
        audit: the record of changes.
    """

    def __init__(
        self,
        database: Database,
        users: UserService,
        authorizations: AuthorizationService,
        notices: Notices,
        audit: AuditService,
    ) -> None:
        self._database = database
        self._users = users
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

    def page(self, paging: Paging) -> Page[User]:
        """Return a page of all users."""
        with self._database.read() as connection:
            return self._users.page(connection, paging)

    def change(
        self,
        identity: Identity,
        user_id: str,
        values: dict[str, str],
        revision: int | None,
        origin: Origin,
    ) -> User:
        """Change a user's name, or, for administrators, type.

        Raises:
            Forbidden: the caller may not.
            RevisionConflict: the user has changed since the revision given.
        """
        identity.require_self_or_admin(user_id)
        if "type" in values and not identity.is_admin:
            raise Forbidden("Only administrators change the type of a user.")

        def apply(connection: Connection, user: User) -> User:
            if revision is not None and revision != user.revision:
                raise RevisionConflict
            if values.get("type", user.type) != user.type:
                # The type stands in each authorization, so those of before must not live on.
                self._authorizations.revoke_all(connection, user_id)
            return self._users.change(connection, user, **values)

        return self._apply("user.change", identity, user_id, origin, apply)

    def suspend(self, identity: Identity, user_id: str, origin: Origin) -> User:
        """Keep a user out, at once; suspending twice is no error.

        Raises:
            NotFound: there is no such user.
        """

        def apply(connection: Connection, user: User) -> User:
            self._authorizations.revoke_all(connection, user_id)
            return self._users.change(connection, user, status=UserStatus.SUSPENDED.value)

        user = self._apply("user.suspend", identity, user_id, origin, apply)
        with self._database.read() as connection:
            contacts = self._notices.contacts(connection, user_id)
        # Not in the language of the administrator, who has sent the request.
        self._notices.tell(contacts, "user-suspended")
        return user

    def reinstate(self, identity: Identity, user_id: str, origin: Origin) -> User:
        """Let a suspended user log in again; tokens of before stay dead.

        Raises:
            NotFound: there is no such user.
        """

        def apply(connection: Connection, user: User) -> User:
            return self._users.change(connection, user, status=UserStatus.ACTIVE.value)

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
