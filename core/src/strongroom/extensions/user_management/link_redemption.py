"""Redeems links that set a password."""

from dataclasses import dataclass

from strongroom.extensions.user_management.links import link_details
from strongroom.extensions.user_management.passwords import PasswordReplacement
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import AccountLinkInvalid
from strongroom.identity.users.account_links import AccountLinks
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges, Effect
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.password_hashing import StoredPassword
from strongroom.identity.users.service import UserService


@dataclass(slots=True, eq=False, repr=False)
class LinkRedemption:
    """Redeems links that set a password."""

    _database: Database
    _users: UserService
    _credentials: CredentialService
    _links: AccountLinks
    _replacement: PasswordReplacement
    _changes: CredentialChanges

    def consume(self, token: str, password: str, origin: Origin) -> None:
        """Set the password of a link's user. All other logins and links of the user end.

        The contact that it was sent to counts as proven.

        Raises:
            ValidationFailed: the password does not meet the policy.
            AccountLinkInvalid: the link is unknown, used or expired.
            Unavailable: too many hashes are waiting.
        """
        self._replacement.require_acceptable(password)
        with self._database.read() as connection:
            if self._links.find(connection, token) is None:
                raise AccountLinkInvalid
        # Hashed only for valid links, because the hash is expensive.
        stored = self._replacement.hash(password)
        user_id = self._set(token, stored, origin)
        self._replacement.forgive(user_id)

    def _set(self, token: str, stored: StoredPassword, origin: Origin) -> str:
        with self._database.write() as connection:
            link = self._links.find(connection, token)
            if link is None:
                raise AccountLinkInvalid
            # The order of locks of other changes of credentials.
            self._credentials.lock_user(connection, link.user_id)
            if not self._links.consume(connection, link):
                raise AccountLinkInvalid
            self._users.get(connection, link.user_id)
            self._replacement.replace(connection, link.user_id, stored)
            if link.contact is not None:
                self._credentials.verify(connection, link.contact)
            actions = {Effect.PASSWORD: "password-link.redeem"}
            by = ChangedBy(link.user_id, origin, actions, link_details(link))
            self._changes.settle(connection, by)
        return link.user_id
