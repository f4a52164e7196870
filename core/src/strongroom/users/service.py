"""Makes, finds and changes users."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, insert, select

from strongroom.clock import Clock
from strongroom.errors import NotFound
from strongroom.ids import new_id
from strongroom.users.models import User, UserStatus, UserType, users


class UserService:
    """Users, within the caller's transaction."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def create(self, connection: Connection, name: str, kind: UserType = UserType.USER) -> User:
        """Make a user."""
        now = self._clock.now()
        user = User(
            id=new_id(),
            type=kind.value,
            status=UserStatus.ACTIVE.value,
            name=name,
            created_at=now,
            updated_at=now,
            revision=now,
        )
        connection.execute(
            insert(users).values({column: getattr(user, column) for column in User.__slots__})
        )
        return user

    def get(self, connection: Connection, user_id: str) -> User:
        """Return a user.

        Raises:
            NotFound: there is none of that id.
        """
        found = self.find(connection, [user_id])
        if not found:
            raise NotFound
        return found[0]

    def find(self, connection: Connection, user_ids: Iterable[str]) -> Sequence[User]:
        """Return those of the users that exist, in no particular order."""
        rows = connection.execute(select(users).where(users.c.id.in_(set(user_ids))))
        return [User(*row) for row in rows]

    def summaries(self, connection: Connection, user_ids: Iterable[str]) -> list[dict[str, str]]:
        """Return what stands in ``included`` for users that records refer to."""
        return [
            {"id": user.id, "type": "user", "name": user.name}
            for user in self.find(connection, user_ids)
        ]
