"""The passwords of users: sets and checks them."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, select, update

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.installation import require_code
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import Unavailable, ValidationFailed
from strongroom.identity.users import password_policy as policy
from strongroom.identity.users.accounts import NAMED
from strongroom.identity.users.credential_changes import note_change
from strongroom.identity.users.identifiers import identify
from strongroom.identity.users.models import OWN_SCHEME, credentials, passwords
from strongroom.identity.users.password_hashing import PasswordHasher, StoredPassword
from strongroom.identity.users.password_policy import MAX_LENGTH
from strongroom.identity.users.password_samples import STORED, PasswordSamples, stored_password
from strongroom.plugin_api.deactivation import Deactivation, DeactivationCause
from strongroom.plugin_api.login import Credential

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


def remove_password(connection: Connection, user_id: str) -> None:
    """Delete the password of a user who is deleted."""
    _REMOVE_PASSWORD.execute(connection, {"of_user": user_id})


class UserPasswords:
    """Passwords of users.

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
        self._samples = PasswordSamples(clock)

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

    def change_due(self, connection: Connection, user_id: str, new: StoredPassword) -> bool:
        """Replace a password that its user must change; return whether there was one."""
        change = {"of_user": user_id, "new_hash": new.hash, "now": self._clock.now()}
        note_change(connection, user_id)
        return _CHANGE_DUE.execute(connection, change) == 1

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
        credential = identify(username, self._default_region)
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

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """End a password that the user must change, when the type of the user changes.

        An administrator or an access key has read it, and would log in with the rights of the new type.
        """
        if ended.cause is DeactivationCause.TYPE_CHANGE:
            _REMOVE_DUE_PASSWORD.execute(connection, {"of_user": ended.user_id})

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
