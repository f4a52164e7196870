"""Brings all that one act has proven to one user: finds, joins, or makes the user."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeVar

from sqlalchemy import Connection

from strongroom.credentials.models import EMAIL, MOBILE
from strongroom.credentials.service import CredentialService
from strongroom.errors import CredentialConflict, CredentialTaken, InvalidCredentials, Unavailable
from strongroom.plugin_api.login import Credential, VerifiedCredential
from strongroom.users.registration import require_open
from strongroom.users.service import UserService

ResultT = TypeVar("ResultT")

CONTACTS: Final = (EMAIL, MOBILE)

MAX_NAME: Final = 255

_ATTEMPTS: Final = 5


@dataclass(frozen=True, slots=True)
class Linked:
    """The user that something proven leads to.

    Args:
        user_id: the user.
        added_credentials: what a user who was there before has been given by it.
        by_contact: whether an address or number alone has told who the user is.
    """

    user_id: str
    added_credentials: Sequence[Credential] = ()
    by_contact: bool = False


class IdentityResolver:
    """Leads from what was proven to its user, within the caller's writing transaction.

    What another transaction binds at the same moment is noticed by the unique constraint on
    credentials; then everything is looked at anew.
    """

    def __init__(self, users: UserService, credentials: CredentialService, mode: str) -> None:
        """``mode`` is who may register, as in ``[users] registration``."""
        self._users = users
        self._credentials = credentials
        self._mode = mode

    def user_of(self, connection: Connection, verified: VerifiedCredential) -> Linked:
        """Return the user who holds any of what was proven, and give the user the rest of it.

        Raises:
            InvalidCredentials: nobody does, and nobody is registered by this.
            RegistrationClosed: likewise, because users cannot register themselves here.
            InvitationRequired: likewise, but for users who are invited.
            CredentialConflict: two users do.
        """
        return _until_settled(lambda: self._user_of(connection, verified))

    def bind(
        self,
        connection: Connection,
        user_id: str,
        verified: VerifiedCredential,
        replaced: Callable[[Sequence[Credential]], Iterable[Credential]],
    ) -> None:
        """Give a user what was proven.

        Args:
            connection: the transaction.
            user_id: the user.
            verified: what was proven.
            replaced: told what the user then holds, returns which of it gives way.

        Raises:
            CredentialTaken: another user holds any of it.
        """

        def bind() -> None:
            holders = self._credentials.find_users(connection, _names(verified))
            if set(holders.values()) - {user_id}:
                raise CredentialTaken
            self._add(connection, user_id, [name for name in _names(verified) if name not in holders])

        self._credentials.lock_user(connection, user_id)
        _until_settled(bind)
        held = [
            Credential(row.kind, row.value) for row in self._credentials.of_user(connection, user_id)
        ]
        for credential in set(replaced(held)) - set(_names(verified)):
            self._credentials.release_one(connection, user_id, credential)

    def _user_of(self, connection: Connection, verified: VerifiedCredential) -> Linked:
        holders = self._credentials.find_users(connection, _names(verified), hold=True)
        user_ids = set(holders.values())
        if len(user_ids) > 1:
            raise CredentialConflict
        missing = [name for name in _names(verified) if name not in holders]
        if user_ids:
            user_id = user_ids.pop()
            given = self._add(connection, user_id, missing)
            return Linked(user_id, given, all(name.kind in CONTACTS for name in holders))
        if not verified.may_register:
            raise InvalidCredentials
        require_open(self._mode)
        with connection.begin_nested():
            user_id = self._users.create(connection, _user_name(verified)).id
            self._give(connection, user_id, missing)
        return Linked(user_id)

    def _add(
        self, connection: Connection, user_id: str, names: Sequence[Credential]
    ) -> list[Credential]:
        if not names:
            return []
        held = {item.kind for item in self._credentials.of_user(connection, user_id)}
        # Beside another address or number, one more is bound by a code that is sent there.
        wanted = [name for name in names if name.kind not in CONTACTS or held.isdisjoint(CONTACTS)]
        with connection.begin_nested():
            self._give(connection, user_id, wanted)
        return wanted

    def _give(self, connection: Connection, user_id: str, names: Iterable[Credential]) -> None:
        try:
            for name in names:
                self._credentials.bind(connection, user_id, name)
        except CredentialTaken as error:
            raise _Raced from error


class _Raced(Exception):
    """Somebody has bound a moment ago what nobody held when it was looked up."""


def _names(verified: VerifiedCredential) -> list[Credential]:
    # Always in one order, so that no two transactions can wait for each other.
    every = {verified.credential, *verified.also}
    return sorted(every, key=lambda name: (name.kind, name.value))


def _user_name(verified: VerifiedCredential) -> str:
    return (verified.display_name or "").replace("\0", "")[:MAX_NAME]


def _until_settled(act: Callable[[], ResultT]) -> ResultT:
    for _ in range(_ATTEMPTS):
        with suppress(_Raced):
            return act()
    raise Unavailable(retry_after=1)
