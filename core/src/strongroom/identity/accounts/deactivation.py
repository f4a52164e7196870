"""Ends what users can do: the only way in which suspensions, deletions and others revoke secrets."""

from collections.abc import Iterable

from sqlalchemy import Connection

from strongroom.identity.users.models import User
from strongroom.identity.users.service import UserService, lock_logins
from strongroom.plugin_api.deactivation import Deactivation, DeactivationCause
from strongroom.web.parts import UserEnding


class Deactivations:
    """Ends the secrets of users, all in the transaction of the caller.

    Features and plugins register what they end by ``register_deactivations``. What was ended stays so
    when the user may act again.
    """

    def __init__(self, users: UserService) -> None:
        self._users = users
        self._endings: Iterable[UserEnding] = ()

    def end_by(self, endings: Iterable[UserEnding]) -> None:
        """Set the functions that end secrets of a user. They are read at each deactivation."""
        self._endings = endings

    def lock(self, connection: Connection, user_id: str) -> None:
        """Lock what decides whether a user is dispensable, before the row of the user is changed."""
        lock_logins(connection, user_id)
        self._users.lock_administrators(connection)

    def require_dispensable(self, connection: Connection, user_id: str) -> User:
        """Return a user who is not the last active administrator of the server.

        Locked until the transaction ends: two administrators might deactivate each other concurrently.

        Raises:
            NotFound: there is no such user.
            LastAdministrator: the user is the last one.
        """
        self.lock(connection, user_id)
        user = self._users.get(connection, user_id)
        self._users.require_other_administrator(connection, user)
        return user

    def deactivate(
        self,
        connection: Connection,
        user_id: str,
        cause: DeactivationCause,
        *,
        tenant_id: str | None = None,
    ) -> None:
        """End everything that the user could do, or with ``tenant_id`` what concerns this tenant."""
        if tenant_id is None:
            # Waits for logins in progress, whose uncommitted rows no UPDATE sees, and blocks others.
            lock_logins(connection, user_id)
        ended = Deactivation(user_id, cause, tenant_id)
        for end in self._endings:
            end(connection, ended)
