"""The credentials and passwords of users: binds, finds and checks them."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import (
    Connection,
    and_,
    bindparam,
    delete,
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
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import CredentialTaken, Unavailable, ValidationFailed
from strongroom.foundation.ids import new_id
from strongroom.identity.users import password_policy as policy
from strongroom.identity.users.accounts import HOLDER, NAMED
from strongroom.identity.users.credential_changes import note_change, note_exempt, noted_time
from strongroom.identity.users.identifiers import identify
from strongroom.identity.users.models import (
    OWN_SCHEME,
    SINGLE_KINDS,
    BoundCredential,
    credentials,
    passwords,
    users,
)
from strongroom.identity.users.password_hashing import PasswordHasher, StoredPassword
from strongroom.identity.users.password_policy import MAX_LENGTH
from strongroom.identity.users.password_samples import STORED, PasswordSamples, stored_password
from strongroom.identity.users.user_index import note_changed
from strongroom.plugin_api.deactivation import Deactivation, DeactivationCause
from strongroom.plugin_api.login import Credential

MAX_NAME_LENGTH: Final = 1024

_HOLDER_OF: Final = Statement(HOLDER)
_WRITTEN: Final = (credentials.c.kind, credentials.c.value, credentials.c.written)
_SELECT_NAMED: Final = select(*_WRITTEN, credentials.c.user_id).where(NAMED)
_NAMED_HOLDER: Final = Statement(_SELECT_NAMED)
_VERIFIED_HOLDER: Final = Statement(HOLDER.where(credentials.c.is_verified))
_LOCKED_HOLDER: Final = Statement(_SELECT_NAMED.with_for_update())
_PAIRS: Final = tuple_(credentials.c.kind, credentials.c.value).in_(bindparam("pairs", expanding=True))
_SELECT_HOLDERS: Final = select(*_WRITTEN, credentials.c.user_id).where(_PAIRS)
_HOLDERS: Final = Statement(_SELECT_HOLDERS)
# The lock order of lock_user(), so that two transactions cannot deadlock.
_LOCKED_HOLDERS: Final = Statement(_SELECT_HOLDERS.order_by(credentials.c.id).with_for_update())
_OF_USER: Final = credentials.c.user_id == bindparam("of_user")
_BIND: Final = Statement(insert(credentials))
_VERIFY: Final = Statement(
    update(credentials).where(NAMED, credentials.c.is_verified.is_(False)).values(is_verified=True)
)
_CREDENTIALS: Final = Statement(
    select(credentials).where(_OF_USER).order_by(credentials.c.id), BoundCredential
)
# Ordered, so that two transactions that lock the same rows cannot deadlock.
_LOCK_USER: Final = Statement(
    select(credentials.c.id).where(_OF_USER).order_by(credentials.c.id).with_for_update()
)
_RELEASE_ONE: Final = Statement(delete(credentials).where(_OF_USER, NAMED))
_RELEASE: Final = Statement(delete(credentials).where(_OF_USER, credentials.c.kind == bindparam("kind")))
_RELEASE_ALL: Final = Statement(delete(credentials).where(_OF_USER))
_IS_SINGLE: Final = and_(credentials.c.user_id == users.c.id, credentials.c.kind.in_(SINGLE_KINDS))
_LOGIN_NAMES: Final = Statement(
    select(
        users.c.id,
        passwords.c.hash.is_not(None).label("has_password"),
        passwords.c.change_required,
        credentials.c.kind,
        func.coalesce(credentials.c.written, credentials.c.value),
        credentials.c.is_verified,
    )
    .select_from(users)
    .outerjoin(passwords, passwords.c.user_id == users.c.id)
    .outerjoin(credentials, _IS_SINGLE)
    .where(users.c.id.in_(bindparam("user_ids", expanding=True)))
)
_PASSWORD_OF_USER: Final = passwords.c.user_id == bindparam("of_user")
_PASSWORD_COLUMNS: Final = ("hash", "scheme", "cost", "changed_at", "expires_at", "change_required")
_SET_PASSWORD: Final = Statement(
    for_each_dialect(
        passwords,
        lambda insert: insert.on_conflict_do_update(
            index_elements=[passwords.c.user_id],
            set_={name: insert.excluded[name] for name in _PASSWORD_COLUMNS},
        ),
    )
)
_IS_OLD: Final = _PASSWORD_OF_USER & (passwords.c.hash == bindparam("old_hash"))
_OVERWRITE: Final = update(passwords).values(hash=bindparam("new_hash"), scheme=OWN_SCHEME, cost="")
_NEW_HASH: Final = _OVERWRITE.where(_IS_OLD)
_REPLACE_PASSWORD: Final = Statement(
    _NEW_HASH.values(changed_at=bindparam("now"), expires_at=None, change_required=False)
)
_REHASH: Final = Statement(_NEW_HASH)
_REMOVE_PASSWORD: Final = Statement(delete(passwords).where(_PASSWORD_OF_USER))
_REMOVE_DUE_PASSWORD: Final = Statement(
    delete(passwords).where(_PASSWORD_OF_USER, passwords.c.change_required)
)
_PASSWORD: Final = Statement(select(*STORED, passwords.c.expires_at).where(_PASSWORD_OF_USER))
_CHANGE_DUE: Final = Statement(
    _OVERWRITE.where(_PASSWORD_OF_USER, passwords.c.change_required).values(
        changed_at=bindparam("now"), expires_at=None, change_required=False
    )
)
IMPORTED_SINCE: Final = "0029"
_CHANGED_AT: Final = Statement(
    select(passwords.c.changed_at).where(passwords.c.user_id == bindparam("user_id"))
)
_PASSWORD_OF: Final = Statement(
    select(passwords.c.user_id, *STORED, passwords.c.expires_at)
    .join(credentials, credentials.c.user_id == passwords.c.user_id)
    .where(NAMED)
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
        """Call a listener in the transaction of each new verified credential, with its user."""
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
        """Return the ids of the holders of any of the credentials, by credential as its holder wrote it.

        Args:
            for_update: whether to lock the rows that are found until the transaction ends.
        """
        if len(identifiers) == 1:
            # The usual case: a statement of its own, which is faster.
            named = {"kind": identifiers[0].kind, "value": identifiers[0].value}
            rows = (_LOCKED_HOLDER if for_update else _NAMED_HOLDER).all(connection, named)
        else:
            pairs = [(item.kind, item.value) for item in identifiers]
            rows = (_LOCKED_HOLDERS if for_update else _HOLDERS).all(connection, {"pairs": pairs})
        return {Credential(*names): user_id for *names, user_id in rows}

    def find_verified(self, connection: Connection, credential: Credential) -> str | None:
        """Return the id of the user who holds a credential, unless it is not verified."""
        named = {"kind": credential.kind, "value": credential.value}
        user_id: str | None = _VERIFIED_HOLDER.scalar(connection, named)
        return user_id

    def of_user(self, connection: Connection, user_id: str) -> list[BoundCredential]:
        """Return the credentials of a user, oldest first."""
        return _CREDENTIALS.all(connection, {"of_user": user_id})

    def bind(
        self,
        connection: Connection,
        user_id: str,
        credential: Credential,
        *,
        is_verified: bool = True,
        is_origin: bool = False,
        bound_at: int | None = None,
    ) -> None:
        """Bind a credential to a user, whose proof has verified it unless ``is_verified`` is false.

        Args:
            is_origin: whether the account comes with it, from its platform.
            bound_at: milliseconds since the Unix epoch of its former binding; ``None``: it is new.

        Raises:
            CredentialTaken: it is bound already, or the user may have only one of this kind.
        """
        note_change(connection, user_id)
        row = {
            "id": new_id(),
            "user_id": user_id,
            "kind": credential.kind,
            "value": credential.value,
            "created_at": bound_at or noted_time(connection, user_id, credential) or self._clock.now(),
            "is_verified": is_verified,
            "is_origin": is_origin,
            "written": credential.written,
        }
        try:
            # A savepoint: on PostgreSQL, a failed INSERT would otherwise abort the whole transaction.
            with connection.begin_nested():
                _BIND.execute(connection, row)
        except IntegrityError as error:
            raise CredentialTaken.of_field(credential.kind, "taken", CredentialTaken.message) from error
        _note_changed(connection, user_id, credential.kind)
        if is_verified:
            self.report_bound(connection, user_id, credential)

    def report_bound(self, connection: Connection, user_id: str, credential: Credential) -> None:
        """Call the listeners of a new verified credential that :class:`BulkUsers` has bound."""
        for listener in self._bound:
            listener(connection, user_id, credential)

    def verify(self, connection: Connection, credential: Credential) -> None:
        """Record that the holder of a credential has proven it; nothing else changes."""
        named = {"kind": credential.kind, "value": credential.value}
        if _VERIFY.execute(connection, named) == 1:
            self.report_bound(connection, _HOLDER_OF.scalar(connection, named), credential)

    def lock_user(self, connection: Connection, user_id: str) -> None:
        """Block other changes to this user's credentials until the transaction ends."""
        _LOCK_USER.all(connection, {"of_user": user_id})

    def release_one(self, connection: Connection, user_id: str, credential: Credential) -> None:
        """Delete one credential of a user."""
        named = {"kind": credential.kind, "value": credential.value}
        note_change(connection, user_id)
        _RELEASE_ONE.execute(connection, {"of_user": user_id, **named})
        _note_changed(connection, user_id, credential.kind)

    def release(self, connection: Connection, user_id: str, kind: str) -> None:
        """Delete a user's credentials of a kind."""
        note_change(connection, user_id)
        _RELEASE.execute(connection, {"of_user": user_id, "kind": kind})
        _note_changed(connection, user_id, kind)

    def release_all(self, connection: Connection, user_id: str) -> None:
        """Delete all credentials of a user who is deleted, and the password."""
        note_exempt(connection, user_id)
        _RELEASE_ALL.execute(connection, {"of_user": user_id})
        _REMOVE_PASSWORD.execute(connection, {"of_user": user_id})
        note_changed(connection, user_id)

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """End a password that the user must change, when the type of the user changes.

        An administrator or an access key has read it, and would log in with the rights of the new type.
        """
        if ended.cause is DeactivationCause.TYPE_CHANGE:
            _REMOVE_DUE_PASSWORD.execute(connection, {"of_user": ended.user_id})

    def find_login_names(
        self, connection: Connection, user_ids: Sequence[str]
    ) -> dict[str, dict[str, Any]]:
        """Return what users log in by: per user, the e-mail address, mobile number and username by kind.

        ``email_verified`` and ``mobile_verified`` are false without a contact of this kind, too;
        ``has_password`` and ``password_change_required`` are about the password.
        """
        names: dict[str, dict[str, Any]] = {}
        for user_id, has_password, change_required, kind, value, is_verified in _LOGIN_NAMES.all(
            connection, {"user_ids": user_ids}
        ):
            password = {
                "has_password": bool(has_password),
                "password_change_required": bool(change_required),
            }
            own = names.setdefault(user_id, password)
            own |= {kind: value, f"{kind}_verified": bool(is_verified)} if kind else {}
        return names

    def set_password(
        self,
        connection: Connection,
        user_id: str,
        password: StoredPassword,
        *,
        expires_at: int | None = None,
        change_required: bool = False,
    ) -> None:
        """Set the user's password to one of :meth:`hash_password` or :meth:`imported_password`.

        Args:
            expires_at: the end of a temporary password, in milliseconds since the Unix epoch.
            change_required: whether the user must change it before a login.
        """
        if password.scheme != OWN_SCHEME:
            # Older code would take the hash for its own.
            require_code(connection, IMPORTED_SINCE)
        row = {
            "user_id": user_id,
            **asdict(password),
            "changed_at": self._clock.now(),
            "expires_at": expires_at,
            "change_required": change_required,
        }
        note_change(connection, user_id)
        # Concurrent calls are serialised by the row lock; the last one wins.
        _SET_PASSWORD.execute(connection, row)

    def replace_password(
        self, connection: Connection, user_id: str, old_hash: str, new: StoredPassword
    ) -> bool:
        """Compare and set: replace the hash if it is still ``old_hash``; return whether it was."""
        change = {"of_user": user_id, "old_hash": old_hash, "new_hash": new.hash}
        note_change(connection, user_id)
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
            KeyMismatch: it was exported from an installation with another secret key.
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
        user_id, stored, ends_at = self._find_password(credential) if credential else (None, None, None)
        # Verified even without a user, so that the time is the same.
        samples = self._samples.current
        if len(password) > MAX_LENGTH or not self._hasher.verify_login(password, stored, samples):
            return None
        # Last, so that an expired password takes the time of a wrong one.
        if self._has_ended(ends_at):
            return None
        if user_id and stored and self._hasher.is_outdated(stored):
            # A full hash queue must not fail the login; the next login tries again.
            with suppress(Unavailable):
                self._rehash(user_id, stored.hash, password)
        return credential

    def has_password(self, connection: Connection, user_id: str) -> bool:
        """Return whether a user has a password."""
        return _CHANGED_AT.scalar(connection, {"user_id": user_id}) is not None

    def get_hash(self, user_id: str, password: str) -> str | None:
        """Return the stored hash if the password is the user's, or ``None``.

        Raises:
            Unavailable: too many hashes are waiting.
        """
        with self._database.read() as connection:
            row = _PASSWORD.first(connection, {"of_user": user_id})
        stored, ends_at = (stored_password(row[:-1]), row[-1]) if row else (None, None)
        matches = len(password) <= MAX_LENGTH and self._hasher.verify(password, stored, login=False)
        return stored.hash if matches and stored and not self._has_ended(ends_at) else None

    def change_due(self, connection: Connection, user_id: str, new: StoredPassword) -> bool:
        """Replace a password that its user must change; return whether there was one."""
        change = {"of_user": user_id, "new_hash": new.hash, "now": self._clock.now()}
        note_change(connection, user_id)
        return _CHANGE_DUE.execute(connection, change) == 1

    def _has_ended(self, ends_at: int | None) -> bool:
        return ends_at is not None and ends_at <= self._clock.now()

    def _find_password(
        self, credential: Credential
    ) -> tuple[str | None, StoredPassword | None, int | None]:
        named = {"kind": credential.kind, "value": credential.value}
        with self._database.read() as connection:
            self._samples.refresh(connection)
            row = _PASSWORD_OF.first(connection, named)
        return (row[0], stored_password(row[1:-1]), row[-1]) if row else (None, None, None)

    def _rehash(self, user_id: str, old: str, password: str) -> None:
        new = self._hasher.hash(password)
        with self._database.write() as connection:
            # Only if unchanged: a password that was replaced in the meantime must stay replaced.
            _REHASH.execute(connection, {"of_user": user_id, "old_hash": old, "new_hash": new.hash})


def _note_changed(connection: Connection, user_id: str, kind: str) -> None:
    if kind in SINGLE_KINDS:
        note_changed(connection, user_id)
