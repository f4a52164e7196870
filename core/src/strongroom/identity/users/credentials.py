"""Finds users by their credentials, and checks passwords."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import (
    Connection,
    Select,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.exc import IntegrityError

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.installation import require_code
from strongroom.foundation.database.rows import Row
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import CredentialTaken, Unavailable, ValidationFailed
from strongroom.foundation.ids import new_id
from strongroom.identity.users import password_policy as policy
from strongroom.identity.users.models import (
    EMAIL,
    MOBILE,
    OWN_SCHEME,
    SINGLE_KINDS,
    USER,
    USERNAME,
    BoundCredential,
    User,
    credentials,
    passwords,
    second_factors,
    users,
)
from strongroom.identity.users.password_hashing import PasswordHasher, StoredPassword
from strongroom.identity.users.password_policy import MAX_LENGTH
from strongroom.identity.users.password_samples import STORED, PasswordSamples, stored_password
from strongroom.identity.users.service import LOGINS_LOCK, lock_logins
from strongroom.plugin_api.login import Credential

MAX_IDENTIFIER_LENGTH: Final = 254

_MOBILE_SHAPE = re.compile(r"[(+]{0,2}[0-9][0-9 ().\-]{3,40}")
_USERNAME = re.compile(r"[a-z][a-z0-9._-]{2,63}")


# Cached, because a login calls it twice: for the throttle and for the password.
@lru_cache(maxsize=256)
def identify(text: str, default_region: str) -> Credential | None:
    """Return the normalised credential in ``text``, or ``None`` if it is not one.

    Full-width characters, case, surrounding blanks and blanks in numbers do not matter.

    Args:
        text: as a user typed it.
        default_region: the ISO 3166 code of the region whose numbers need no country code.
    """
    # Truncated first, so that a very long text does not cost time; its real length is checked below.
    cleaned = unicodedata.normalize("NFKC", text[: 4 * MAX_IDENTIFIER_LENGTH]).strip()
    if not cleaned or len(text) > MAX_IDENTIFIER_LENGTH:
        return None
    if "@" in cleaned:
        return _email(cleaned)
    if _MOBILE_SHAPE.fullmatch(cleaned):
        return _mobile(cleaned, default_region)
    return _username(cleaned)


def _email(text: str) -> Credential | None:
    # Imported lazily, because logins by username do not need it.
    from email_validator import EmailNotValidError, validate_email

    try:
        address = validate_email(text.replace(" ", ""), check_deliverability=False)
    except EmailNotValidError:
        return None
    return Credential(EMAIL, address.normalized.casefold())


def _mobile(text: str, default_region: str) -> Credential | None:
    import phonenumbers

    try:
        # "00" is the usual international prefix where "+" is hard to type.
        number = phonenumbers.parse(re.sub(r"^00", "+", text), default_region)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_possible_number(number):
        return None
    return Credential(MOBILE, phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def _username(text: str) -> Credential | None:
    folded = text.casefold()
    return Credential(USERNAME, folded) if _USERNAME.fullmatch(folded) else None


MAX_NAME_LENGTH: Final = 1024

_NAMED: Final = (credentials.c.kind == bindparam("kind")) & (credentials.c.value == bindparam("value"))
_HOLDER: Final = select(credentials.c.user_id).where(_NAMED)
_HOLDER_OF: Final = Statement(_HOLDER)
_LOCKED_HOLDER: Final = Statement(_HOLDER.with_for_update())
_PAIRS: Final = tuple_(credentials.c.kind, credentials.c.value).in_(bindparam("pairs", expanding=True))
_SELECT_HOLDERS: Final = select(credentials.c.kind, credentials.c.value, credentials.c.user_id).where(
    _PAIRS
)
_HOLDERS: Final = Statement(_SELECT_HOLDERS)
# The lock order of lock_user(), so that two transactions cannot deadlock.
_LOCKED_HOLDERS: Final = Statement(_SELECT_HOLDERS.order_by(credentials.c.id).with_for_update())
_OF_USER: Final = credentials.c.user_id == bindparam("of_user")
_BIND: Final = Statement(insert(credentials))
_CREDENTIALS: Final = Statement(
    select(credentials).where(_OF_USER).order_by(credentials.c.id), BoundCredential
)
# Ordered, so that two transactions that lock the same rows cannot deadlock.
_LOCK_USER: Final = Statement(
    select(credentials.c.id).where(_OF_USER).order_by(credentials.c.id).with_for_update()
)
_RELEASE_ONE: Final = Statement(delete(credentials).where(_OF_USER, _NAMED))
_RELEASE: Final = Statement(delete(credentials).where(_OF_USER, credentials.c.kind == bindparam("kind")))
_RELEASE_ALL: Final = Statement(delete(credentials).where(_OF_USER))
_CONTACTS: Final = Statement(
    select(credentials.c.user_id, credentials.c.kind, credentials.c.value).where(
        credentials.c.user_id.in_(bindparam("user_ids", expanding=True)),
        credentials.c.kind.in_(SINGLE_KINDS),
    )
)
_PASSWORD_OF_USER: Final = passwords.c.user_id == bindparam("of_user")
_SET_PASSWORD: Final = Statement(
    for_each_dialect(
        passwords,
        lambda insert: insert.on_conflict_do_update(
            index_elements=[passwords.c.user_id],
            set_={name: insert.excluded[name] for name in ("hash", "scheme", "cost", "changed_at")},
        ),
    )
)
_IS_OLD: Final = _PASSWORD_OF_USER & (passwords.c.hash == bindparam("old_hash"))
_NEW_HASH: Final = (
    update(passwords).where(_IS_OLD).values(hash=bindparam("new_hash"), scheme=OWN_SCHEME, cost="")
)
_REPLACE_PASSWORD: Final = Statement(_NEW_HASH.values(changed_at=bindparam("now")))
_REHASH: Final = Statement(_NEW_HASH)
_REMOVE_PASSWORD: Final = Statement(delete(passwords).where(_PASSWORD_OF_USER))
_PASSWORD: Final = Statement(select(*STORED).where(_PASSWORD_OF_USER), stored_password)
_IMPORTED_SINCE: Final = "0029"
_CHANGED_AT: Final = Statement(
    select(passwords.c.changed_at).where(passwords.c.user_id == bindparam("user_id"))
)
_PASSWORD_OF: Final = Statement(
    select(passwords.c.user_id, *STORED)
    .join(credentials, credentials.c.user_id == passwords.c.user_id)
    .where(_NAMED)
)


# A login reads the user after the locks: a concurrent suspension, deletion or change of the password
# either waits for this login and revokes it, or has committed and is visible here.
_ACCOUNT: Final = (
    select(
        users,
        passwords.c.changed_at,
        exists().where(second_factors.c.user_id == users.c.id).label("has_second_factor"),
    )
    .outerjoin(passwords, passwords.c.user_id == users.c.id)
    .where(users.c.deleted_at.is_(None))
)


@dataclass(frozen=True, slots=True)
class Account:
    """A user who logs in.

    Args:
        user: the user, whose logins cannot be revoked together until the transaction ends.
        password_changed_at: milliseconds since the Unix epoch; ``None`` without a password.
        has_second_factor: whether one proof is not enough.
    """

    user: User
    password_changed_at: int | None
    has_second_factor: bool


def _account(row: Row) -> Account:
    user, (changed_at, has_second_factor) = USER.split(row)
    return Account(user, changed_at, bool(has_second_factor))


_ACCOUNT_OF: Final = Statement(_ACCOUNT.where(users.c.id == bindparam("user_id")), _account)
_ACCOUNT_NAMED: Final = Statement(_ACCOUNT.where(users.c.id == _HOLDER.scalar_subquery()), _account)
# A subquery, so that PostgreSQL locks the row of the credential before it takes the advisory lock: the
# order of transactions that change credentials and then revoke logins.
_LOCKED: Final = _HOLDER.with_for_update().subquery("locked")
_LOCK_HOLDER: Final = Statement(
    select(
        _LOCKED.c.user_id,
        func.pg_advisory_xact_lock_shared(LOGINS_LOCK, func.hashtext(_LOCKED.c.user_id)),
    )
)


BoundListener = Callable[[Connection, str, Credential], None]


class CredentialService:
    """Credentials and passwords of users.

    Args:
        default_region: the region whose mobile numbers need no country code.
    """

    def __init__(
        self, database: Database, clock: Clock, hasher: PasswordHasher, default_region: str
    ) -> None:
        self._database = database
        self._clock = clock
        self._hasher = hasher
        self._default_region = default_region
        self._bound: list[BoundListener] = []
        self._samples = PasswordSamples(clock)

    def on_bound(self, listener: BoundListener) -> None:
        """Call a listener in the transaction of each new credential, with its user."""
        self._bound.append(listener)

    def identify(self, text: str) -> Credential | None:
        """Return the normalised e-mail address, mobile number or username in ``text``, if any."""
        return identify(text, self._default_region)

    def canonical_name(self, text: str) -> str:
        """Return the canonical form of a credential; unrecognised text is normalised too."""
        credential = self.identify(text)
        if credential is not None:
            return f"{credential.kind}:{credential.value}"
        return unicodedata.normalize("NFKC", text[:MAX_NAME_LENGTH]).strip().casefold()

    def find_users(
        self, connection: Connection, identifiers: Sequence[Credential], *, for_update: bool = False
    ) -> dict[Credential, str]:
        """Return the ids of the users who hold any of the credentials, by credential.

        Args:
            for_update: whether to lock the rows that are found until the transaction ends.
        """
        if len(identifiers) == 1:
            named = {"kind": identifiers[0].kind, "value": identifiers[0].value}
            user_id = (_LOCKED_HOLDER if for_update else _HOLDER_OF).scalar(connection, named)
            return {identifiers[0]: user_id} if user_id else {}
        pairs = [(item.kind, item.value) for item in identifiers]
        rows = (_LOCKED_HOLDERS if for_update else _HOLDERS).all(connection, {"pairs": pairs})
        return {Credential(kind, value): user_id for kind, value, user_id in rows}

    def find_account(self, connection: Connection, user_id: str) -> Account | None:
        """Return a user, or ``None`` if deleted."""
        return _ACCOUNT_OF.first(connection, {"user_id": user_id})

    def lock_account(self, connection: Connection, user_id: str) -> Account | None:
        """Return a user that logs in, or ``None`` if deleted; block the revocation of all its logins."""
        lock_logins(connection, user_id, shared=True)
        return _ACCOUNT_OF.first(connection, {"user_id": user_id})

    def lock_holder(self, connection: Connection, credential: Credential) -> Account | None:
        """Do :meth:`lock_account` for the holder of a credential, and lock the credential, too.

        Returns ``None`` if there is none, or the credential is being bound to another user.
        """
        named = {"kind": credential.kind, "value": credential.value}
        # SQLite needs no locks, because it has one writer at a time.
        locks = connection.dialect.name == "postgresql"
        holder = _LOCK_HOLDER.first(connection, named) if locks else None
        account = _ACCOUNT_NAMED.first(connection, named)
        is_other = locks and account is not None and (holder is None or holder[0] != account.user.id)
        return None if is_other else account

    def of_user(self, connection: Connection, user_id: str) -> list[BoundCredential]:
        """Return the credentials of a user, oldest first."""
        return _CREDENTIALS.all(connection, {"of_user": user_id})

    def bind(self, connection: Connection, user_id: str, credential: Credential) -> None:
        """Bind a credential to a user.

        Raises:
            CredentialTaken: it is bound already, or the user may have only one of this kind.
        """
        row = {
            "id": new_id(),
            "user_id": user_id,
            "kind": credential.kind,
            "value": credential.value,
            "created_at": self._clock.now(),
        }
        try:
            # A savepoint: on PostgreSQL, a failed INSERT would otherwise abort the whole transaction.
            with connection.begin_nested():
                _BIND.execute(connection, row)
        except IntegrityError as error:
            raise CredentialTaken.of_field(credential.kind, "taken", CredentialTaken.message) from error
        for listener in self._bound:
            listener(connection, user_id, credential)

    def lock_user(self, connection: Connection, user_id: str) -> None:
        """Block other changes to this user's credentials until the transaction ends."""
        _LOCK_USER.all(connection, {"of_user": user_id})

    def release_one(self, connection: Connection, user_id: str, credential: Credential) -> None:
        """Delete one credential of a user."""
        named = {"kind": credential.kind, "value": credential.value}
        _RELEASE_ONE.execute(connection, {"of_user": user_id, **named})

    def release(self, connection: Connection, user_id: str, kind: str) -> None:
        """Delete a user's credentials of a kind."""
        _RELEASE.execute(connection, {"of_user": user_id, "kind": kind})

    def release_all(self, connection: Connection, user_id: str) -> None:
        """Delete all credentials of a user, and the password."""
        _RELEASE_ALL.execute(connection, {"of_user": user_id})
        _REMOVE_PASSWORD.execute(connection, {"of_user": user_id})

    def contacts_of(self, connection: Connection, user_ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return the e-mail address, mobile number and username of users, by user and kind."""
        contacts: dict[str, dict[str, str]] = {}
        for user_id, kind, value in _CONTACTS.all(connection, {"user_ids": user_ids}):
            contacts.setdefault(user_id, {})[kind] = value
        return contacts

    def holders_of(self, credential: Credential) -> Select[tuple[str]]:
        """Return the query for the id of the user who holds a credential."""
        return select(credentials.c.user_id).where(
            credentials.c.kind == credential.kind, credentials.c.value == credential.value
        )

    def holders_like(self, part: str) -> Select[tuple[str]]:
        """Return the query for the ids of users whose address, number or username contains ``part``."""
        return select(credentials.c.user_id).where(
            credentials.c.kind.in_(SINGLE_KINDS), credentials.c.value.icontains(part, autoescape=True)
        )

    def set_password(self, connection: Connection, user_id: str, password: StoredPassword) -> None:
        """Set the user's password to one of :meth:`hash_password` or :meth:`imported_password`."""
        if password.scheme != OWN_SCHEME:
            # Older code would take the hash for its own.
            require_code(connection, _IMPORTED_SINCE)
        row = {"user_id": user_id, **asdict(password), "changed_at": self._clock.now()}
        # Concurrent calls are serialised by the row lock; the last one wins.
        _SET_PASSWORD.execute(connection, row)

    def replace_password(
        self, connection: Connection, user_id: str, old_hash: str, new: StoredPassword
    ) -> bool:
        """Compare and set: replace the hash if it is still ``old_hash``; return whether it was."""
        change = {"of_user": user_id, "old_hash": old_hash, "new_hash": new.hash}
        return _REPLACE_PASSWORD.execute(connection, {**change, "now": self._clock.now()}) == 1

    def require_acceptable(self, password: str, field: str = "password") -> None:
        """Require that a new password meets the policy. Cheap: call it before using up codes.

        Raises:
            ValidationFailed: the password does not meet the policy.
        """
        if password_faults := policy.password_faults(password, field):
            raise ValidationFailed(details=password_faults)

    def imported_password(self, described: Mapping[str, Any]) -> StoredPassword:
        """Return the password of a user who comes from another system, for :meth:`set_password`.

        Call it outside of a transaction: a digest that is too fast is hashed again.

        Args:
            described: the JSON of the hash; its ``algorithm`` names a scheme.

        Raises:
            HashRejected: no scheme has this name, or the hash is malformed or too expensive.
            Unavailable: too many hashes are waiting.
        """
        return self._hasher.imported(described)

    def hash_password(self, password: str, field: str = "password") -> StoredPassword:
        """Return a new password, for :meth:`set_password`.

        Slow: call it outside of a transaction, after all cheap checks.

        Raises:
            ValidationFailed: the password does not meet the policy.
            Unavailable: too many hashes are waiting.
        """
        self.require_acceptable(password, field)
        return self._hasher.hash(password)

    def check_password(self, username: str, password: str) -> Credential | None:
        """Return the credential if the password is its user's, or ``None``.

        The time does not reveal whether the user exists.

        Raises:
            Unavailable: too many logins are waiting.
        """
        credential = self.identify(username)
        user_id, stored = self._password_of(credential) if credential else (None, None)
        # Verified even without a user, so that the time is the same.
        samples = self._samples.current
        if len(password) > MAX_LENGTH or not self._hasher.verify_login(password, stored, samples):
            return None
        if user_id and stored and self._hasher.is_outdated(stored):
            # A full hash queue must not fail the login; the next login tries again.
            with suppress(Unavailable):
                self._rehash(user_id, stored.hash, password)
        return credential

    def has_password(self, connection: Connection, user_id: str) -> bool:
        """Return whether a user has a password."""
        return _CHANGED_AT.scalar(connection, {"user_id": user_id}) is not None

    def hash_of(self, user_id: str, password: str) -> str | None:
        """Return the stored hash if the password is the user's, or ``None``.

        Raises:
            Unavailable: too many hashes are waiting.
        """
        with self._database.read() as connection:
            stored = _PASSWORD.first(connection, {"of_user": user_id})
        matches = len(password) <= MAX_LENGTH and self._hasher.verify(password, stored, login=False)
        return stored.hash if matches and stored else None

    def _password_of(self, credential: Credential) -> tuple[str | None, StoredPassword | None]:
        named = {"kind": credential.kind, "value": credential.value}
        with self._database.read() as connection:
            self._samples.refresh(connection)
            row = _PASSWORD_OF.first(connection, named)
        return (row[0], stored_password(row[1:])) if row else (None, None)

    def _rehash(self, user_id: str, old: str, password: str) -> None:
        new = self._hasher.hash(password)
        with self._database.write() as connection:
            # Only if unchanged: a password that was replaced in the meantime must stay replaced.
            _REHASH.execute(connection, {"of_user": user_id, "old_hash": old, "new_hash": new.hash})
