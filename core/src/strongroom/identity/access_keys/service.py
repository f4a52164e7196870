"""Creates, lists, rotates and revokes access keys, and warns of their end."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import DAY, Clock
from strongroom.foundation.caller import SERVER_SCOPES, Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging
from strongroom.foundation.errors import Forbidden, NotFound, TooManyKeys, ValidationFailed
from strongroom.foundation.scopes import (
    DIRECTORY_SCOPES,
    FILE_SCOPES,
    TENANT_SCOPES,
    max_permission,
)
from strongroom.identity.access_keys.models import AccessKey
from strongroom.identity.access_keys.secrets import KeyText, new_id, new_key, parse_key
from strongroom.identity.access_keys.store import AccessKeyStore
from strongroom.identity.accounts.reauthentication import FRESH_LOGIN, Proof, Reauthentication
from strongroom.identity.service_accounts.store import ServerAccountStore
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.users.contacts import Notices
from strongroom.identity.users.models import User, UserType
from strongroom.identity.users.service import UserService
from strongroom.identity.verification.codes import Purpose
from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.times import named_moment

WARNING: Final = 7 * DAY
"""Milliseconds before the end of a key at which its user is warned."""

_EXPIRES: Final = "access-key-expires"
_BATCH: Final = 200

TargetCheck = Callable[[Connection, str, str, str | None], None]
"""Checks that a user is a member of a tenant, and may read a folder in it, if there is one."""


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """A requested access key.

    ``expires_at`` is in milliseconds since the Unix epoch; ``None`` is the configured default.
    """

    name: str
    scopes: frozenset[Scope]
    tenant_id: str | None = None
    folder_id: str | None = None
    expires_at: int | None = None
    addresses: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class KeyLifetimes:
    """The configured lifetimes of keys in milliseconds, and how many a user may have."""

    default: int
    maximum: int
    max_per_user: int


@dataclass(frozen=True, slots=True)
class NewKey:
    """An access key with its text, which is returned only once."""

    key: AccessKey
    text: str


class AccessKeyService:
    """Access keys of users and of service accounts."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        keys: AccessKeyStore,
        users: UserService,
        reauthentication: Reauthentication,
        notices: Notices,
        audit: AuditService,
        server_accounts: ServerAccountStore,
        authorizations: AuthorizationService,
        lifetimes: KeyLifetimes,
    ) -> None:
        self._database = database
        self._clock = clock
        self._keys = keys
        self._users = users
        self._reauthentication = reauthentication
        self._notices = notices
        self._audit = audit
        self._server_accounts = server_accounts
        self._authorizations = authorizations
        self._lifetimes = lifetimes
        self._checks: list[TargetCheck] = []

    def check_targets(self, check: TargetCheck) -> None:
        """Register the check of a key's tenant and folder, which users and their keys do not know."""
        self._checks.append(check)

    def create(
        self,
        identity: Identity,
        user_id: str,
        requested: KeyRequest,
        proof: Proof,
        origin: Origin,
    ) -> NewKey:
        """Create a key of the caller, or, as an administrator, of a service account of the server.

        Raises:
            Forbidden: the user is neither.
            CodeInvalid, WrongPassword, FreshProofRequired: the caller has not proved who it is.
            ValidationFailed: the scopes, the target, the end or the addresses are not valid.
            TooManyKeys: the user has as many keys as allowed.
        """
        self._require_owner(identity, user_id)
        self.require_proof(identity, proof)
        return self.create_for(user_id, requested, identity.user_id, origin, identity)

    def create_for(
        self,
        user_id: str,
        requested: KeyRequest,
        actor_id: str | None,
        origin: Origin,
        identity: Identity | None = None,
    ) -> NewKey:
        """Create a key of any user, for callers who have checked that the actor may.

        Args:
            identity: the caller, whose login must not end meanwhile; ``None``: the command line.

        Raises:
            NotFound: there is no such user.
            TokenInvalid: the login of the caller has ended.
            ValidationFailed: the scopes, the target, the end or the addresses are not valid.
            TooManyKeys: the user has as many keys as allowed.
        """
        now, text = self._clock.now(), new_key(new_id())
        # Checked before the transaction: neither needs the database.
        ends_at = self._end(requested.expires_at, now)
        _require_matching(requested)
        with self._database.write() as connection:
            if identity is not None:
                # What ends the logins of the caller deletes keys afterwards.
                self._authorizations.lock_live(connection, identity)
            self.require_limits(connection, self._users.get(connection, user_id), requested)
            if self._keys.count(connection, user_id) >= self._lifetimes.max_per_user:
                raise TooManyKeys
            key = _key(text, user_id, requested, actor_id or user_id, now, ends_at)
            self._keys.add(connection, key)
            self._record(connection, "access-key.create", key, actor_id, origin)
        return NewKey(key, text.text)

    def require_limits(self, connection: Connection, user: User, requested: KeyRequest) -> None:
        """Require scopes and a target that a key, or a client's grant, of a user can have.

        Raises:
            ValidationFailed: the scopes or the target are not valid.
        """
        _require_matching(requested)
        self._require_scopes(connection, user, requested)
        self._require_target(connection, user.id, requested)

    def page(self, identity: Identity, user_id: str, paging: Paging) -> Page[AccessKey]:
        """Return a page of a user's keys, newest first.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
        """
        identity.require_self_or_admin(user_id)
        return self.get_page(user_id, paging)

    def get_page(self, user_id: str, paging: Paging) -> Page[AccessKey]:
        """Return a page of the keys of any user, for callers who have checked that the actor may."""
        with self._database.read() as connection:
            self._users.get(connection, user_id)
            return self._keys.page(connection, user_id, paging)

    def get(self, identity: Identity, user_id: str, key_id: str) -> AccessKey:
        """Return a key of a user.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: the user has no such key.
        """
        identity.require_self_or_admin(user_id)
        with self._database.read() as connection:
            return self._find(connection, user_id, key_id)

    def rename(
        self, identity: Identity, user_id: str, key_id: str, name: str, origin: Origin
    ) -> AccessKey:
        """Change the name of a key; raises as :meth:`revoke`, and for the users of :meth:`create`."""
        self._require_owner(identity, user_id)
        with self._database.write() as connection:
            key = self._find(connection, user_id, key_id)
            self._keys.rename(connection, key_id, name)
            self._record(connection, "access-key.rename", key, identity.user_id, origin)
        return replace(key, name=name)

    def rotate(
        self,
        identity: Identity,
        user_id: str,
        key_id: str,
        overlap: int,
        proof: Proof,
        origin: Origin,
    ) -> NewKey:
        """Give a key a new secret, and as much time as it had from the beginning.

        Args:
            overlap: milliseconds for which the previous secret remains valid.
            proof: the caller's proof.

        Raises:
            Forbidden: the caller may not create keys of the user.
            CodeInvalid, WrongPassword, FreshProofRequired: the caller has not proved who it is.
            NotFound: the user has no such key.
        """
        self._require_owner(identity, user_id)
        self.require_proof(identity, proof)
        return self.rotate_for(user_id, key_id, overlap, identity.user_id, origin)

    def rotate_for(
        self, user_id: str, key_id: str, overlap: int, actor_id: str, origin: Origin
    ) -> NewKey:
        """Do as :meth:`rotate`, for callers who have checked that the actor may."""
        now, text = self._clock.now(), new_key(key_id)
        with self._database.write() as connection:
            key = self._find(connection, user_id, key_id)
            ends_at = now + min(key.expires_at - key.created_at, self._lifetimes.maximum)
            # The previous secret never lasts longer than the key would have without the rotation.
            overlap_until = min(now + overlap, key.expires_at)
            self._keys.rotate(
                connection, key_id, text.hash, overlap_until=overlap_until, ends_at=ends_at
            )
            self._record(connection, "access-key.rotate", key, actor_id, origin)
        return NewKey(replace(key, expires_at=ends_at, warned_at=None), text.text)

    def revoke(self, identity: Identity, user_id: str, key_id: str, origin: Origin) -> None:
        """Delete a key, which is refused from the next request on.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: the user has no such key.
        """
        identity.require_self_or_admin(user_id)
        self.revoke_for(user_id, key_id, identity.user_id, origin)

    def revoke_for(self, user_id: str, key_id: str, actor_id: str | None, origin: Origin) -> None:
        """Do as :meth:`revoke`, for callers who have checked that the actor may."""
        with self._database.write() as connection:
            key = self._find(connection, user_id, key_id)
            if not self._remove(connection, key):
                # A concurrent request has just deleted it.
                raise NotFound
            self._record(connection, "access-key.revoke", key, actor_id, origin)

    def get_owner(self, key_id: str) -> str:
        """Return the id of a key's user.

        Raises:
            NotFound: there is no such key.
        """
        with self._database.read() as connection:
            user_id = self._keys.owner(connection, key_id)
        if user_id is None:
            raise NotFound
        return user_id

    def revoke_leaked(self, texts: Iterable[str], origin: Origin) -> int:
        """Revoke leaked keys, and notify their users; return the number of keys."""
        presented = {key.id: key for key in map(parse_key, texts) if key is not None}
        with self._database.write() as connection:
            keys = [key for text in presented.values() if (key := self._leaked(connection, text))]
            # Not those that a concurrent request has just deleted.
            leaked = [key for key in keys if self._remove(connection, key)]
            for key in leaked:
                self._record(connection, "access-key.leaked", key, None, origin)
        # After the commit: the key is refused before anyone reads the message.
        self._notify(leaked, "access-key-leaked")
        return len(leaked)

    def warn(self) -> int:
        """Notify the users whose keys end within a week, once per key; return the number of keys."""
        count = 0
        while ending := self._take_ending():
            self._notify(ending, _EXPIRES)
            count += len(ending)
        return count

    def _take_ending(self) -> Sequence[AccessKey]:
        with self._database.write() as connection:
            # Marked before the messages are sent: a warning may be lost in a crash, but is never
            # repeated.
            return self._keys.take_ending(connection, self._clock.now() + WARNING, _BATCH)

    def prune(self) -> int:
        """Delete keys that expired a month ago, and return their number."""
        return self._keys.prune(self._database)

    def require_proof(self, identity: Identity, proof: Proof) -> None:
        """Require a fresh proof from the caller: a code, the current password, or a recent login.

        Raises:
            CodeInvalid: the code is wrong.
            WrongPassword: the password is wrong.
            FreshProofRequired: there is no proof, and the login is too old.
            TooManyRequests: too many wrong passwords.
        """
        self._reauthentication.require_any(identity, proof, Purpose.BIND, login_age=FRESH_LOGIN)

    def _require_owner(self, identity: Identity, user_id: str) -> None:
        """Require that the caller may create keys of a user.

        Administrators, too, create keys only for themselves and for service accounts of the server: a
        key acts as its user.
        """
        if user_id == identity.user_id:
            return
        if not identity.is_admin:
            raise Forbidden
        with self._database.read() as connection:
            if self._server_accounts.find(connection, user_id) is None:
                raise Forbidden

    def _require_scopes(self, connection: Connection, user: User, requested: KeyRequest) -> None:
        """Require the scopes of the server for its service accounts, and a tenant for all others.

        A key of a service account that is not limited to a tenant administers the server.
        """
        if user.type != UserType.SERVICE:
            if requested.tenant_id is not None:
                _require_allowed(requested.scopes, TENANT_SCOPES)
            return
        if self._server_accounts.find(connection, user.id) is None:
            if requested.tenant_id is None:
                raise ValidationFailed.of_field("tenantId", "required", "Required for this account.")
        elif requested.tenant_id is not None:
            message = "Must be absent for a service account of the server."
            raise ValidationFailed.of_field("tenantId", "not-allowed", message)
        else:
            _require_allowed(requested.scopes, SERVER_SCOPES)

    def _remove(self, connection: Connection, key: AccessKey) -> bool:
        """Delete a key with the impersonations that it may have begun; return whether it existed."""
        if Scope.USERS_IMPERSONATE in key.scopes.split():
            self._authorizations.end_impersonations(connection, key.user_id)
        return self._keys.remove(connection, key.id)

    def _find(self, connection: Connection, user_id: str, key_id: str) -> AccessKey:
        key = self._keys.find(connection, key_id)
        if key is None or key.user_id != user_id:
            raise NotFound
        return key

    def _leaked(self, connection: Connection, text: KeyText) -> AccessKey | None:
        key = self._keys.find(connection, text.id)
        # Only the holder of the whole key may revoke it: its id is no secret.
        if key is None or text.hash not in (key.secret_hash, key.previous_hash):
            return None
        return key

    def _end(self, requested: int | None, now: int) -> int:
        ends_at = now + self._lifetimes.default if requested is None else requested
        if ends_at <= now:
            raise ValidationFailed.of_field("expiresAt", "not-in-the-future", "Must be in the future.")
        if ends_at > now + self._lifetimes.maximum:
            days = self._lifetimes.maximum // DAY
            message = f"Must be within {days} days; see access_keys.max_lifetime_days."
            raise ValidationFailed.of_field("expiresAt", "too-late", message)
        return ends_at

    def _require_target(self, connection: Connection, user_id: str, requested: KeyRequest) -> None:
        if requested.tenant_id is not None:
            for check in self._checks:
                check(connection, user_id, requested.tenant_id, requested.folder_id)

    def _notify(self, keys: Sequence[AccessKey], occasion: str) -> None:
        for user_id in dict.fromkeys(map(_responsible, keys)):
            with self._database.read() as connection:
                contacts = self._notices.contacts(connection, user_id)
            group = [key for key in keys if _responsible(key) == user_id]
            parameters = {"name": ", ".join(key.name for key in group)}
            if occasion == _EXPIRES:
                first = min(key.expires_at for key in group)
                parameters["time"] = named_moment(first, contacts.zone)
            self._notices.notify(contacts, occasion, parameters=parameters)

    def _record(
        self,
        connection: Connection,
        action: str,
        key: AccessKey,
        actor_id: str | None,
        origin: Origin,
    ) -> None:
        details = {"user": key.user_id, "scopes": key.scopes}
        details |= {"tenant": key.tenant_id} if key.tenant_id else {}
        details |= {"folder": key.folder_id} if key.folder_id else {}
        event = AuditEvent(
            action,
            actor_id=actor_id,
            target_type="access-key",
            target_id=key.id,
            origin=origin,
            details=details,
        )
        self._audit.record(connection, event)


def _responsible(key: AccessKey) -> str:
    # A service account has no contacts; the creator of its key is notified instead.
    return key.created_by


def _require_matching(requested: KeyRequest) -> None:
    """Require scopes that the target of a key can have."""
    if requested.folder_id is not None and requested.tenant_id is None:
        raise ValidationFailed.of_field("tenantId", "required", "Required with fileId.")
    # Only a service account can have the scopes of a directory.
    allowed = frozenset(Scope) if requested.tenant_id is None else TENANT_SCOPES | DIRECTORY_SCOPES
    _require_allowed(requested.scopes, allowed if requested.folder_id is None else FILE_SCOPES)


def _require_allowed(scopes: frozenset[Scope], allowed: frozenset[Scope]) -> None:
    if beyond := sorted(scopes - allowed):
        raise ValidationFailed.of_field("scopes", "beyond-limit", _beyond(allowed, beyond[0]))


def _beyond(allowed: frozenset[Scope], scope: Scope) -> str:
    return f"A key with this limit can only have: {', '.join(sorted(allowed))}. Not {scope}."


def _key(
    text: KeyText, user_id: str, requested: KeyRequest, actor_id: str, now: int, ends_at: int
) -> AccessKey:
    values: dict[str, Any] = dict.fromkeys(AccessKey.__slots__)
    return AccessKey(
        **{
            **values,
            "id": text.id,
            "user_id": user_id,
            "name": requested.name,
            "secret_hash": text.hash,
            "scopes": " ".join(sorted(requested.scopes)),
            "max_permission": max_permission(requested.scopes),
            "tenant_id": requested.tenant_id,
            "folder_id": requested.folder_id,
            "addresses": list(requested.addresses),
            "created_by": actor_id,
            "created_at": now,
            "expires_at": ends_at,
        }
    )
