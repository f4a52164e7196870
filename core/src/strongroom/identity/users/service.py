"""Stores users, and decides who may register."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    and_,
    bindparam,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from strongroom.clock import Clock, next_revision
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import AdvisoryLock, Change
from strongroom.foundation.database.named_rows import with_sort_key
from strongroom.foundation.database.statements import Statement, dynamic
from strongroom.foundation.errors import (
    CredentialTaken,
    InvitationRequired,
    LastAdministrator,
    NotFound,
    RegistrationClosed,
    RevisionConflict,
    ValidationFailed,
)
from strongroom.foundation.ids import new_id
from strongroom.identity.users import user_index
from strongroom.identity.users.credential_changes import note_exempt
from strongroom.identity.users.models import (
    SINGLE_KINDS,
    USER,
    User,
    UserStatus,
    UserType,
    credentials,
    users,
)
from strongroom.plugin_api.names import name_fault

# The namespace of the advisory locks on PostgreSQL: "AUTH" in ASCII.
LOGINS_LOCK: Final = 0x41555448
_USER_HASH: Final = func.hashtext(bindparam("user_id"))
_LOGINS_LOCK: Final = AdvisoryLock(LOGINS_LOCK, _USER_HASH)
_SHARED_LOGINS_LOCK: Final = AdvisoryLock(LOGINS_LOCK, _USER_HASH, shared=True)
_LIVE: Final = users.c.deleted_at.is_(None)
_IS_ADMIN: Final = users.c.type == UserType.ADMIN.value
_ADD: Final = Statement(insert(users))
_BY_ID: Final = Statement(select(users).where(users.c.id == bindparam("user_id"), _LIVE), USER)
# FOR NO KEY UPDATE: other transactions can still insert rows with a foreign key to the user.
_LOCKED: Final = Statement(
    select(users).where(users.c.id == bindparam("user_id"), _LIVE).with_for_update(key_share=True), USER
)
_FIND: Final = Statement(
    select(users).where(users.c.id.in_(bindparam("user_ids", expanding=True))), USER
)
_ZONE: Final = Statement(select(users.c.timezone).where(users.c.id == bindparam("user_id")))
_NOTE_ZONE: Final = Statement(
    update(users)
    .where(users.c.id == bindparam("of_user"), users.c.timezone.is_(None))
    .values(timezone=bindparam("zone"))
)
_LOCALE: Final = Statement(select(users.c.locale).where(users.c.id == bindparam("user_id")))
_ANY_ADMINISTRATOR: Final = Statement(select(users.c.id).where(_IS_ADMIN, _LIVE).limit(1))
# In the order of ids, so that two transactions cannot deadlock. FOR NO KEY UPDATE, as above.
_LOCK_ADMINISTRATORS: Final = Statement(
    select(users.c.id).where(_IS_ADMIN, _LIVE).order_by(users.c.id).with_for_update(key_share=True)
)

_OTHER_ADMINISTRATOR: Final = Statement(
    select(users.c.id)
    .where(
        _IS_ADMIN,
        # The index of the type has live users only.
        _LIVE,
        users.c.status == UserStatus.ACTIVE.value,
        users.c.id != bindparam("user_id"),
    )
    .limit(1)
)
# Nodes that erase concurrently take different users.
_ERASABLE: Final = Statement(
    select(users.c.id)
    .where(users.c.deleted_at <= bindparam("before"), users.c.erased_at.is_(None))
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_ERASE: Final = Statement(
    update(users)
    .where(users.c.id.in_(bindparam("user_ids", expanding=True)))
    .values(
        **with_sort_key({"name": ""}),
        locale=None,
        timezone=None,
        suspension_reason=None,
        last_login_at=None,
        erased_at=bindparam("now"),
    )
)
_SUMMARIES: Final = Statement(
    select(users.c.id, users.c.name)
    .where(users.c.id.in_(bindparam("user_ids", expanding=True)))
    .order_by(users.c.id),
    lambda row: summary(*row),
)


_RECORD_LOGIN: Final = Statement(
    update(users).where(users.c.id == bindparam("of_user")).values(last_login_at=bindparam("now"))
)
_COUNT: Final = Statement(select(func.count()).select_from(users).where(_LIVE))


_RELEASED: Final = {
    "external_id": None,
    "suspended_until": None,
    "suspension_reason": None,
    "deletion_due_at": None,
}


def count_users(connection: Connection) -> int:
    """Return the number of users that are not deleted. It reads an index completely."""
    count: int = _COUNT.scalar(connection)
    return count


@dataclass(slots=True, eq=False, repr=False)
class UserService:
    """Reads and writes users within the caller's transaction."""

    _clock: Clock

    def create(
        self,
        connection: Connection,
        name: str,
        kind: UserType = UserType.USER,
        *,
        external_id: str | None = None,
    ) -> User:
        """Create an active user.

        Raises:
            CredentialTaken: another user has the external id.
            ValidationFailed: others could not see the name.
        """
        _require_name(name)
        now = self._clock.now()
        user = User(
            id=new_id(),
            type=kind.value,
            status=UserStatus.ACTIVE.value,
            name=name,
            created_at=now,
            updated_at=now,
            revision=now,
            external_id=external_id,
        )
        with _unique_external_id(connection, external_id):
            _ADD.execute(connection, USER.values(user))
        note_exempt(connection, user.id)
        user_index.note_changed(connection, user.id)
        return user

    def get(self, connection: Connection, user_id: str) -> User:
        """Return a user.

        Raises:
            NotFound: there is no such user, or the user was deleted.
        """
        user = _BY_ID.first(connection, {"user_id": user_id})
        if user is None:
            raise NotFound
        return user

    def find(self, connection: Connection, user_ids: Iterable[str]) -> Sequence[User]:
        """Return the users that exist, including deleted ones, in no particular order."""
        # Deleted users are included, because records still refer to them.
        return _FIND.all(connection, {"user_ids": set(user_ids)})

    def get_locale(self, connection: Connection, user_id: str) -> str | None:
        """Return the locale that a user has chosen, as a BCP 47 tag."""
        locale: str | None = _LOCALE.scalar(connection, {"user_id": user_id})
        return locale

    def get_zone(self, connection: Connection, user_id: str) -> str | None:
        """Return the name of the time zone that a user has chosen."""
        zone: str | None = _ZONE.scalar(connection, {"user_id": user_id})
        return zone

    def get_locales(self, connection: Connection, user_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the locales that users have chosen. The statements are the same for no users."""
        # No user has the id "".
        ids = tuple(user_ids) or ("",)
        return tuple(user.locale for user in self.find(connection, ids) if user.locale)

    def has_administrator(self, connection: Connection) -> bool:
        """Return whether the server has an administrator, suspended or not."""
        return _ANY_ADMINISTRATOR.scalar(connection) is not None

    def lock_administrators(self, connection: Connection) -> None:
        """Block other changes that leave one administrator less until the transaction ends."""
        _LOCK_ADMINISTRATORS.all(connection)

    def has_other_administrator(self, connection: Connection, user_id: str) -> bool:
        """Return whether a user other than this one is an active administrator."""
        return _OTHER_ADMINISTRATOR.scalar(connection, {"user_id": user_id}) is not None

    def require_other_administrator(self, connection: Connection, user: User) -> None:
        """Require that the server has an active administrator other than the user.

        Raises:
            LastAdministrator: the user is the last one.
        """
        if user.type == UserType.ADMIN and not self.has_other_administrator(connection, user.id):
            raise LastAdministrator("At least one administrator of the server must remain.")

    def erase(self, connection: Connection, deleted_before: int, limit: int) -> list[str]:
        """Erase the personal data of up to ``limit`` deleted users; return their ids.

        ``deleted_before`` is in milliseconds since the Unix epoch.
        """
        user_ids = _ERASABLE.scalars(connection, {"before": deleted_before, "limit": limit})
        _ERASE.execute(connection, {"user_ids": user_ids, "now": self._clock.now()})
        return user_ids

    def change(
        self, connection: Connection, user_id: str, revision: int | None = None, **values: Any
    ) -> User:
        """Update columns of a user, and return the changed user.

        Args:
            revision: the revision that the user must have; ``None`` accepts any.

        Raises:
            NotFound: there is no such user, or the user was deleted.
            RevisionConflict: the user has another revision.
            CredentialTaken: another user has the external id.
            ValidationFailed: others could not see the name.
        """
        # Locked: without a revision, a concurrent change of the same user must not refuse this one.
        user = _LOCKED.first(connection, {"user_id": user_id})
        if user is None:
            raise NotFound
        if revision not in (None, user.revision):
            raise RevisionConflict
        _require_name(values.get("name", ""))
        now = self._clock.now()
        changed = replace(user, **values, updated_at=now, revision=next_revision(user.revision, now))
        statement = update(users).where(users.c.id == user_id).values(USER.values(changed))
        with _unique_external_id(connection, values.get("external_id")):
            dynamic(statement).execute(connection)
        if user_index.indexed_values(changed) != user_index.indexed_values(user):
            user_index.note_changed(connection, user_id)
        return changed

    def delete(self, connection: Connection, user_id: str, revision: int | None = None) -> None:
        """Mark a user as deleted; the row stays, because files refer to their owner.

        The id in another system is released, so that another user can have it.

        Raises:
            NotFound: there is no such user.
            RevisionConflict: the user has another revision.
        """
        status, now = UserStatus.DELETED.value, self._clock.now()
        self.change(connection, user_id, revision, status=status, deleted_at=now, **_RELEASED)

    def summaries(self, connection: Connection, user_ids: Iterable[str]) -> list[dict[str, str]]:
        """Return the ``included`` entries of users, including deleted ones, sorted by id."""
        unique_ids = sorted(set(user_ids))
        return _SUMMARIES.all(connection, {"user_ids": unique_ids}) if unique_ids else []


@contextmanager
def _unique_external_id(connection: Connection, external_id: str | None) -> Iterator[None]:
    """Convert the error of a statement that sets an external id that another user has."""
    try:
        # A savepoint: on PostgreSQL, a failed statement would otherwise abort the whole transaction.
        with connection.begin_nested() if external_id else nullcontext():
            yield
    except IntegrityError as error:
        raise CredentialTaken.of_field("externalId", "taken", CredentialTaken.message) from error


def type_of_active(user_id: ColumnElement[str]) -> ColumnElement[str | None]:
    """Return the SQL expression for the type of an active user, NULL for any other user."""
    active = users.c.status == UserStatus.ACTIVE.value
    return select(users.c.type).where(users.c.id == user_id, active).scalar_subquery()


def user_profile() -> FromClause:
    """Return a subquery with the ``name``, ``timezone`` and ``contact`` of the user ``user_id``."""
    value = func.coalesce(credentials.c.written, credentials.c.value)
    of_user = and_(credentials.c.user_id == users.c.id, credentials.c.kind.in_(SINGLE_KINDS))
    # In the order of the kinds: the address, the number, the username.
    contact = select(value).where(of_user).order_by(credentials.c.kind).limit(1).scalar_subquery()
    columns = (users.c.name, users.c.timezone, contact.label("contact"))
    return select(*columns).where(users.c.id == bindparam("user_id")).subquery("profile")


def record_login(user_id: str, now: int) -> Change:
    """Return the change that stores the time of a login.

    It waits for other changes of the user, so it comes after the lock of the logins, and before the lock
    of the audit chain.
    """
    return Change(_RECORD_LOGIN, {"of_user": user_id, "now": now})


def lock_logins(connection: Connection, user_id: str, *, shared: bool = False) -> None:
    """Lock the logins of a user until the transaction ends: shared to log in, exclusive to end them all.

    Without the lock, a revocation could miss the authorization of a login in progress, because on
    PostgreSQL an UPDATE does not see uncommitted rows.
    """
    (_SHARED_LOGINS_LOCK if shared else _LOGINS_LOCK).acquire(connection, user_id=user_id)


def summary(user_id: str, name: str) -> dict[str, str]:
    """Return the ``included`` entry of a user."""
    return {"id": user_id, "type": "user", "name": name}


OPEN: Final = "open"
INVITED: Final = "invited"
CLOSED: Final = "closed"


def require_open(mode: str, *, is_invited: bool = False) -> None:
    """Require that users may register themselves.

    Args:
        mode: the mode of ``[users] registration``.
        is_invited: whether the user was invited.

    Raises:
        InvitationRequired: only invited users may register.
        RegistrationClosed: only administrators create users.
    """
    if mode == INVITED and not is_invited:
        raise InvitationRequired
    if mode == CLOSED:
        raise RegistrationClosed


@dataclass(slots=True, eq=False, repr=False)
class UserLocales:
    """Finds the languages and time zones that users have chosen, in transactions of its own."""

    _database: Database
    _users: UserService

    def get_locale(self, user_id: str) -> str | None:
        """Return the user's locale as a BCP 47 tag, or ``None`` if the user has chosen none."""
        with self._database.read() as connection:
            return self._users.get_locale(connection, user_id)

    def note_zone(self, user_id: str, zone: str) -> None:
        """Store the time zone of a user who has chosen none."""
        with self._database.read() as connection:
            is_known = self._users.get_zone(connection, user_id) is not None
        if not is_known:
            with self._database.write() as connection:
                _NOTE_ZONE.execute(connection, {"of_user": user_id, "zone": zone})


def _require_name(name: str) -> None:
    if name and (fault := name_fault(name)):
        raise ValidationFailed.of_field("name", "invalid", fault)
