"""Reads and writes many users at once, for imports and exports."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import BindParameter, Connection, bindparam, func, insert, not_, select

from strongroom.clock import Clock
from strongroom.foundation.database.installation import require_code
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.ids import new_id
from strongroom.identity.users.credential_changes import note_change, note_exempt, noted_time
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.identifiers import identify
from strongroom.identity.users.metadata import StoredMetadata, UserMetadata
from strongroom.identity.users.models import (
    EMAIL,
    OWN_SCHEME,
    SINGLE_KINDS,
    USER,
    BoundCredential,
    User,
    UserStatus,
    UserType,
    credentials,
    passwords,
    user_metadata,
    users,
)
from strongroom.identity.users.password_hashing import StoredPassword
from strongroom.identity.users.password_samples import STORED
from strongroom.identity.users.passwords import IMPORTED_SINCE
from strongroom.identity.users.user_index import note_changed
from strongroom.plugin_api.login import Credential

_OF_USERS: Final[BindParameter[str]] = bindparam("user_ids", expanding=True)
_WITH_EXTERNAL_IDS: Final = Statement(
    select(users).where(users.c.external_id.in_(bindparam("external_ids", expanding=True))), USER
)
_OWN_PASSWORDS: Final = Statement(
    select(passwords.c.user_id).where(
        passwords.c.user_id.in_(_OF_USERS), passwords.c.scheme == OWN_SCHEME
    )
)
_ADD_USERS: Final = Statement(insert(users))
_ADD_CREDENTIALS: Final = Statement(insert(credentials))
_ADD_PASSWORDS: Final = Statement(insert(passwords))
_EXPORTED: Final = users.c.type == UserType.USER.value, users.c.deleted_at.is_(None)
_COUNT: Final = Statement(select(func.count()).select_from(users).where(*_EXPORTED))
_PAGE: Final = Statement(
    select(users)
    .where(*_EXPORTED, users.c.id > bindparam("after_id"))
    .order_by(users.c.id)
    .limit(bindparam("at_most")),
    USER,
)
_CREDENTIALS: Final = Statement(
    select(credentials)
    .where(credentials.c.user_id.in_(_OF_USERS))
    .order_by(credentials.c.created_at, credentials.c.id),
    BoundCredential,
)
# Temporary passwords stay here, because a line cannot state their end.
_PASSWORDS: Final = Statement(
    select(passwords.c.user_id, *STORED).where(
        passwords.c.user_id.in_(_OF_USERS),
        passwords.c.expires_at.is_(None),
        passwords.c.change_required.is_(False),
    )
)
_METADATA: Final = Statement(select(user_metadata).where(user_metadata.c.user_id.in_(_OF_USERS)))
_UNKNOWN_SCHEMES: Final = Statement(
    select(passwords.c.scheme, func.count())
    .where(
        # The condition of the partial index, which has the imported hashes only.
        passwords.c.scheme != OWN_SCHEME,
        passwords.c.scheme.not_in(bindparam("schemes", expanding=True)),
    )
    .group_by(passwords.c.scheme)
    .order_by(passwords.c.scheme)
)


def unknown_schemes(connection: Connection, schemes: Collection[str]) -> list[tuple[str, int]]:
    """Return the schemes of stored passwords that are not among ``schemes``, with their counts."""
    rows = _UNKNOWN_SCHEMES.all(connection, {"schemes": [OWN_SCHEME, *schemes]})
    return [(scheme, count) for scheme, count in rows]


def count_other_values(connection: Connection, kind: str, prefixes: Collection[str]) -> int:
    """Return the number of credentials of a kind whose values begin with none of the prefixes."""
    others = [not_(credentials.c.value.startswith(prefix, autoescape=True)) for prefix in prefixes]
    query = select(func.count()).where(credentials.c.kind == kind, *others)
    return connection.execute(query).scalar_one()


def find_unreachable(connection: Connection) -> list[str]:
    """Return the users whose e-mail address is not in its normal form, so that no login finds it.

    A migration has left it so, because another user has its normal form.
    """
    is_foreign = (credentials.c.kind == EMAIL) & credentials.c.value.regexp_match("[^ -~]")
    rows = connection.execute(select(credentials.c.user_id, credentials.c.value).where(is_foreign))
    return [user_id for user_id, value in rows if identify(value, "") != Credential(EMAIL, value)]


@dataclass(frozen=True, slots=True)
class NewCredential:
    """A credential to bind, and whether a proof has verified it."""

    credential: Credential
    is_verified: bool


@dataclass(frozen=True, slots=True)
class ForeignUser:
    """A user of another system. ``created_at`` is in milliseconds since the Unix epoch."""

    name: str
    credentials: Sequence[NewCredential]
    password: StoredPassword | None = None
    metadata: StoredMetadata | None = None
    external_id: str | None = None
    created_at: int | None = None
    is_suspended: bool = False


@dataclass(slots=True, eq=False, repr=False)
class BulkUsers:
    """Reads and writes many users by few statements, within the caller's transaction."""

    _clock: Clock
    _credentials: CredentialService
    _metadata: UserMetadata

    def with_external_ids(self, connection: Connection, ids: Sequence[str]) -> list[User]:
        """Return the users who have these ids of another system, including deleted ones."""
        return _WITH_EXTERNAL_IDS.all(connection, {"external_ids": ids}) if ids else []

    def with_own_passwords(self, connection: Connection, user_ids: Sequence[str]) -> set[str]:
        """Return the users who have a password of the server's own scheme."""
        return set(_OWN_PASSWORDS.scalars(connection, {"user_ids": user_ids}) if user_ids else ())

    def find_metadata(
        self, connection: Connection, user_ids: Sequence[str]
    ) -> dict[str, StoredMetadata]:
        """Return the metadata of those users who have some."""
        rows = _METADATA.all(connection, {"user_ids": user_ids}) if user_ids else []
        return {user_id: StoredMetadata(*values) for user_id, *values in rows}

    def count(self, connection: Connection) -> int:
        """Return the number of users that :meth:`page` returns on all pages."""
        total: int = _COUNT.scalar(connection)
        return total

    def page(self, connection: Connection, after_id: str, at_most: int) -> list[User]:
        """Return users who are neither deleted nor administrators nor services, by id.

        Args:
            after_id: the last id of the page before, or an empty text.
        """
        return _PAGE.all(connection, {"after_id": after_id, "at_most": at_most})

    def find_credentials(
        self, connection: Connection, user_ids: Sequence[str]
    ) -> dict[str, list[BoundCredential]]:
        """Return the credentials of each user who has some, oldest first."""
        bound: dict[str, list[BoundCredential]] = {}
        for item in _CREDENTIALS.all(connection, {"user_ids": user_ids}):
            bound.setdefault(item.user_id, []).append(item)
        return bound

    def find_passwords(
        self, connection: Connection, user_ids: Sequence[str]
    ) -> dict[str, StoredPassword]:
        """Return the password of each user who has one that is not temporary."""
        rows = _PASSWORDS.all(connection, {"user_ids": user_ids})
        return {user_id: StoredPassword(*stored) for user_id, *stored in rows}

    def add(self, connection: Connection, accounts: Sequence[ForeignUser]) -> list[str]:
        """Create users, and return their ids.

        Raises:
            IntegrityError: another user has one of their external ids or credentials.
        """
        made = [(self._user(account), account) for account in accounts]
        if not made:
            return []
        for user, _ in made:
            note_exempt(connection, user.id)
        _ADD_USERS.execute(connection, [USER.values(user) for user, _ in made])
        bound = [(user.id, item) for user, account in made for item in account.credentials]
        self.bind(connection, bound, are_origins=True)
        self._add_passwords(
            connection,
            [(user.id, account.password) for user, account in made if account.password is not None],
        )
        for user, account in made:
            note_changed(connection, user.id)
            if account.metadata is not None:
                self._metadata.set(connection, user.id, account.metadata)
        return [user.id for user, _ in made]

    def _user(self, account: ForeignUser) -> User:
        now = self._clock.now()
        status = UserStatus.SUSPENDED if account.is_suspended else UserStatus.ACTIVE
        return User(
            id=new_id(),
            type=UserType.USER.value,
            status=status.value,
            name=account.name,
            created_at=now if account.created_at is None else account.created_at,
            updated_at=now,
            revision=now,
            external_id=account.external_id,
        )

    def bind(
        self,
        connection: Connection,
        bound: Sequence[tuple[str, NewCredential]],
        *,
        are_origins: bool = False,
    ) -> None:
        """Bind credentials to users.

        Args:
            are_origins: whether the accounts come with accounts of platforms.

        Raises:
            IntegrityError: another user has one of them.
        """
        for user_id in dict.fromkeys(user_id for user_id, _ in bound):
            note_change(connection, user_id)
        now = self._clock.now()
        rows = [
            asdict(
                BoundCredential(
                    new_id(),
                    user_id,
                    item.credential.kind,
                    item.credential.value,
                    noted_time(connection, user_id, item.credential) or now,
                    item.is_verified,
                    are_origins and item.credential.kind not in SINGLE_KINDS,
                    item.credential.written,
                )
            )
            for user_id, item in bound
        ]
        if rows:
            _ADD_CREDENTIALS.execute(connection, rows)
        for user_id, item in bound:
            note_changed(connection, user_id)
            # An unverified contact must not accept the invitations of its true holder.
            if item.is_verified:
                self._credentials.report_bound(connection, user_id, item.credential)

    def _add_passwords(
        self, connection: Connection, stored: Iterable[tuple[str, StoredPassword]]
    ) -> None:
        now = self._clock.now()
        rows = [
            {
                "user_id": user_id,
                **asdict(password),
                "changed_at": now,
                "expires_at": None,
                "change_required": False,
            }
            for user_id, password in stored
        ]
        if any(row["scheme"] != OWN_SCHEME for row in rows):
            # Older code would take the hashes for its own.
            require_code(connection, IMPORTED_SINCE)
        if rows:
            _ADD_PASSWORDS.execute(connection, rows)
