"""Resolves verified credentials to one user: finds the user, adds credentials, or registers."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeVar

from sqlalchemy import Connection

from strongroom.foundation.errors import (
    CredentialConflict,
    CredentialTaken,
    InvalidCredentials,
    Unavailable,
)
from strongroom.identity.users.accounts import Account, lock_account, lock_holder
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import EMAIL, MOBILE, User, UserType
from strongroom.identity.users.service import UserService, require_open
from strongroom.plugin_api.login import Credential, VerifiedCredential
from strongroom.plugin_api.names import readable_name

ResultT = TypeVar("ResultT")

CONTACTS: Final = (EMAIL, MOBILE)

MAX_NAME: Final = 255

_ATTEMPTS: Final = 5


@dataclass(frozen=True, slots=True)
class ResolvedUser:
    """The user that verified credentials belong to.

    Args:
        added_credentials: credentials added to an existing user.
        by_contact: whether the user was identified only by an e-mail address or mobile number.
        is_new: whether this transaction creates the user.
    """

    account: Account
    added_credentials: Sequence[Credential] = ()
    by_contact: bool = False
    is_new: bool = False

    @property
    def user(self) -> User:
        """The user."""
        return self.account.user


_Link = tuple[str, Sequence[Credential], bool, bool]
"""The id of a user, and the last three fields of :class:`ResolvedUser`."""


@dataclass(slots=True, eq=False, repr=False)
class IdentityResolver:
    """Resolves verified credentials to a user, within the caller's write transaction.

    The unique constraint on credentials detects a concurrent transaction that binds one of them. The
    whole resolution is then repeated.

    Args:
        mode: the value of ``[users] registration``.
    """

    _users: UserService
    _credentials: CredentialService
    _mode: str

    def resolve(self, connection: Connection, verified: VerifiedCredential) -> ResolvedUser:
        """Return the user who holds one of the credentials, and bind the others to that user.

        Raises:
            InvalidCredentials: no user holds one, and the login method does not register users; or the
                user was deleted since the proof was checked.
            RegistrationClosed: no user holds one, and users cannot register themselves.
            InvitationRequired: no user holds one, and only invited users can register.
            CredentialConflict: they belong to different users, to a user who only holds a contact that
                is not verified, or to an administrator by a contact that only a platform states.
            Unavailable: concurrent transactions kept changing the same credentials.
        """
        # Most logins prove one credential, which is bound: one query.
        usual = None if verified.further else lock_holder(connection, verified.credential)
        if usual:
            return ResolvedUser(usual)
        user_id, added, by_contact, is_new = _until_settled(lambda: self._link(connection, verified))
        account = lock_account(connection, user_id)
        if account is None:
            raise InvalidCredentials
        return ResolvedUser(account, added, by_contact, is_new)

    def bind(
        self,
        connection: Connection,
        user_id: str,
        verified: VerifiedCredential,
        replaced: Callable[[Sequence[Credential]], Iterable[Credential]],
    ) -> None:
        """Bind verified credentials to a user.

        Args:
            replaced: called with all credentials of the user; returns those to release.

        Raises:
            CredentialTaken: another user holds one of them.
            NotFound: the user was deleted.
            Unavailable: concurrent transactions kept changing the same credentials.
        """

        def bind() -> None:
            holders = self._credentials.find_users(connection, _names(verified))
            if set(holders.values()) - {user_id}:
                raise CredentialTaken
            self._add(connection, user_id, [name for name in _names(verified) if name not in holders])

        self._credentials.lock_user(connection, user_id)
        # A user who was deleted concurrently gets no credential, which would remain taken.
        self._users.get(connection, user_id)
        _until_settled(bind)
        held = [row.credential for row in self._credentials.of_user(connection, user_id)]
        for credential in set(replaced(held)) - set(_names(verified)):
            self._credentials.release_one(connection, user_id, credential)

    def _link(self, connection: Connection, verified: VerifiedCredential) -> _Link:
        # Locked, so that no concurrent transaction unbinds a credential while others are added.
        holders = self._credentials.find_users(connection, _names(verified), for_update=True)
        user_ids = set(holders.values())
        if len(user_ids) > 1:
            raise CredentialConflict
        missing = [name for name in _names(verified) if name not in holders]
        if user_ids:
            self._require_verified(connection, verified, holders)
            user_id = user_ids.pop()
            self._require_own_proof(connection, verified, holders, user_id)
            added = self._add(connection, user_id, missing)
            return user_id, added, all(name.kind in CONTACTS for name in holders), False
        if not verified.may_register:
            raise InvalidCredentials
        require_open(self._mode, is_invited=verified.is_invited)
        # A savepoint: if a credential is bound concurrently, the new user is rolled back too.
        with connection.begin_nested():
            user_id = self._users.create(connection, _user_name(verified)).id
            self._give(connection, user_id, missing, are_new=True)
        return user_id, (), False, True

    def _require_verified(
        self, connection: Connection, verified: VerifiedCredential, holders: Iterable[Credential]
    ) -> None:
        """Require that a contact by which a login joins a user is verified here, too.

        An attacker could create a user with the contact of another person, who would then share it.
        """
        for holder in holders:
            is_proven = holder.kind not in CONTACTS or holder == verified.credential
            if is_proven or self._credentials.find_verified(connection, holder) is not None:
                return
        raise CredentialConflict

    def _require_own_proof(
        self,
        connection: Connection,
        verified: VerifiedCredential,
        holders: Iterable[Credential],
        user_id: str,
    ) -> None:
        """Require that no platform's statement about a contact leads to an administrator.

        The administrator connects the platform in the own account instead.
        """
        is_stated = all(held.kind in CONTACTS and held != verified.credential for held in holders)
        if is_stated and self._users.get(connection, user_id).type == UserType.ADMIN:
            raise CredentialConflict

    def _add(
        self, connection: Connection, user_id: str, names: Sequence[Credential]
    ) -> list[Credential]:
        if not names:
            return []
        held = {item.kind for item in self._credentials.of_user(connection, user_id)}
        # A user with a contact binds further contacts only with a code sent to the current one.
        credentials = [name for name in names if name.kind not in CONTACTS or held.isdisjoint(CONTACTS)]
        with connection.begin_nested():
            self._give(connection, user_id, credentials)
        return credentials

    def _give(
        self,
        connection: Connection,
        user_id: str,
        names: Iterable[Credential],
        *,
        are_new: bool = False,
    ) -> None:
        try:
            for name in names:
                is_origin = are_new and name.kind not in CONTACTS
                self._credentials.bind(connection, user_id, name, is_origin=is_origin)
        except CredentialTaken as error:
            raise _Raced from error


class _Raced(Exception):
    """A concurrent transaction has bound a credential since it was looked up."""


def _names(verified: VerifiedCredential) -> list[Credential]:
    # A fixed order, so that two transactions cannot deadlock.
    every = {verified.credential, *verified.further}
    return sorted(every, key=lambda name: (name.kind, name.value))


def _user_name(verified: VerifiedCredential) -> str:
    # No database stores half of a surrogate pair.
    name = (verified.display_name or "").encode(errors="ignore").decode()
    return readable_name(name[:MAX_NAME])


def _until_settled(act: Callable[[], ResultT]) -> ResultT:
    # Bounded, so that repeated conflicts cannot block the request.
    for _ in range(_ATTEMPTS):
        with suppress(_Raced):
            return act()
    raise Unavailable(retry_after=1)
