"""Creates users for administrators, without proofs of their contacts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from strongroom.extensions.user_management.administration import Administration
from strongroom.extensions.user_management.links import PasswordLinks, UrlOf
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import ValidationFailed
from strongroom.foundation.plugins.selection import CHANNELS
from strongroom.identity.accounts.registration import Prepared, RegistrationService, identified
from strongroom.identity.users.account_links import LinkKind
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.metadata import StoredMetadata, UserMetadata
from strongroom.identity.users.models import User, UserType
from strongroom.identity.users.password_hashing import StoredPassword
from strongroom.identity.users.passwords import UserPasswords
from strongroom.plugin_api.password_schemes import HashRejected


@dataclass(frozen=True, slots=True)
class ManagedUser:
    """The data of a user that an administrator creates.

    Args:
        names: what the user logs in by, as typed, by kind.
        verified: the kinds of the contacts that count as proven.
        password: the password; ``None`` without one.
        described_hash: the JSON of a hash of another system, instead of the password.
        change_required: whether the user must change the password before a login.
        invite: sends a link by which the user chooses a password; returns its URL.
        external_id: the id in another system.
    """

    name: str
    names: Mapping[str, str]
    verified: frozenset[str] = frozenset()
    password: str | None = field(default=None, repr=False)
    described_hash: Mapping[str, Any] | None = field(default=None, repr=False)
    change_required: bool = False
    invite: UrlOf | None = None
    external_id: str | None = None
    metadata: StoredMetadata = field(default_factory=StoredMetadata)


@dataclass(slots=True, eq=False, repr=False)
class UserCreation:
    """Creates users for administrators."""

    _database: Database
    _credentials: CredentialService
    _passwords: UserPasswords
    _registration: RegistrationService
    _metadata: UserMetadata
    _links: PasswordLinks
    _administration: Administration

    def create(self, identity: Identity, new: ManagedUser, origin: Origin) -> User:
        """Create a user.

        Raises:
            ValidationFailed: a name is malformed, the password is weak, or the hash is refused.
            CredentialTaken: another user has one of the names, or the external id.
            Unavailable: too many hashes are waiting.
            StrongroomError: as :meth:`Administration.require`.
        """
        self._administration.require(identity)
        prepared = self._prepared(new)
        with self._database.write() as connection:
            self._administration.confirm(connection, identity)
            user = self._registration.add(
                connection, prepared, origin, is_own=False, actor_id=identity.user_id
            )
            if new.metadata != StoredMetadata():
                self._metadata.set(connection, user.id, new.metadata)
        if new.invite is not None:
            self._links.send(identity, user.id, LinkKind.INVITE, new.invite, origin)
        return user

    def _prepared(self, new: ManagedUser) -> Prepared:
        names = identified(self._credentials, new.names)
        # Checked before the expensive hash; the unique constraint decides races.
        self._registration.require_free(names)
        if new.invite is not None:
            # Checked before there is a user.
            contacts = [item for item in names if item.kind in CHANNELS]
            self._links.choose_recipient(contacts, LinkKind.INVITE)
        return Prepared(
            new.name,
            UserType.USER,
            names,
            self._hash_password(new),
            unverified=frozenset(new.names) - new.verified,
            change_required=new.change_required,
            external_id=new.external_id,
        )

    def _hash_password(self, new: ManagedUser) -> StoredPassword | None:
        if new.password is not None:
            return self._passwords.hash_password(new.password)
        if new.described_hash is None:
            return None
        try:
            return self._passwords.imported_password(new.described_hash)
        except HashRejected as error:
            raise ValidationFailed.of_field("passwordHash", "invalid", str(error)) from error
