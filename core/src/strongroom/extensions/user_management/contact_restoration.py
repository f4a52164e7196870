"""Users take back a former contact by the link that was sent to it."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.extensions.user_management.passwords import PasswordReplacement
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import ContactLinkInvalid, CredentialTaken
from strongroom.identity.accounts.deactivation import Deactivations
from strongroom.identity.users import deletion_times
from strongroom.identity.users.contact_links import ContactLink, ContactLinks, trusted_before
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.enrolled_factors import EnrolledFactors
from strongroom.identity.users.models import USERNAME
from strongroom.identity.users.password_hashing import StoredPassword
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.contacts import masked
from strongroom.plugin_api.deactivation import DeactivationCause

_CAUSE: Final = {"cause": "contact-link"}


@dataclass(frozen=True, slots=True)
class RestorableContact:
    """What a link does, with masked contacts.

    Args:
        current: the contact that replaced the former one; ``None``: it was removed.
        expires_at: milliseconds since the Unix epoch.
    """

    kind: str
    former: str
    current: str | None
    expires_at: int


@dataclass(slots=True, eq=False, repr=False)
class ContactRestoration:
    """Consumes the links that are sent to former contacts.

    The account is as protected afterwards as before the change: what was added since then ends, such as
    other contacts, logins of platforms and second factors. Older second factors stay. A deletion of the
    account that was scheduled is cancelled.
    """

    _database: Database
    _users: UserService
    _credentials: CredentialService
    _factors: EnrolledFactors
    _links: ContactLinks
    _replacement: PasswordReplacement
    _deactivations: Deactivations
    _changes: CredentialChanges
    _audit: AuditService

    def preview(self, token: str) -> RestorableContact:
        """Return what a link does. It stays valid.

        Raises:
            ContactLinkInvalid: the link is unknown, used or expired.
            CredentialTaken: the former contact belongs to another user.
        """
        link = self._usable_link(token)
        current = None if link.current is None else masked(link.current)
        return RestorableContact(link.kind, masked(link.former), current, link.expires_at)

    def consume(self, token: str, password: str, origin: Origin) -> None:
        """Bind the former contact, set a password, and end all that another person could have added.

        The token proves the contact. The link stays valid if the password is refused.

        Raises:
            ValidationFailed: the password does not meet the policy.
            ContactLinkInvalid: the link is unknown, used or expired.
            CredentialTaken: the former contact belongs to another user.
            UserSuspended: the user is suspended.
            Unavailable: too many hashes are waiting.
        """
        self._replacement.require_acceptable(password)
        # Hashed only for valid links, because the hash is expensive.
        link = self._usable_link(token)
        stored = self._replacement.hash(password)
        with self._database.write() as connection:
            self._restore(connection, link, stored, origin)
        self._replacement.forgive(link.user_id)

    def _usable_link(self, token: str) -> ContactLink:
        with self._database.read() as connection:
            link = self._links.find(connection, token)
            if link is None:
                raise ContactLinkInvalid
            holders = self._credentials.find_users(connection, [link.contact])
        if set(holders.values()) - {link.user_id}:
            raise CredentialTaken.of_field(link.kind, "taken", CredentialTaken.message)
        return link

    def _restore(
        self, connection: Connection, link: ContactLink, stored: StoredPassword, origin: Origin
    ) -> None:
        user_id = link.user_id
        # The order of locks of other changes of credentials.
        self._credentials.lock_user(connection, user_id)
        if not self._links.consume(connection, link):
            raise ContactLinkInvalid
        self._users.get(connection, user_id).require_active()
        self._release_added(connection, link)
        self._credentials.release(connection, user_id, link.kind)
        # It is as old as before, so that another link of the same change keeps it.
        self._credentials.bind(connection, user_id, link.contact, bound_at=link.bound_at)
        self._remove_added_factors(connection, link)
        self._replacement.replace(connection, user_id, stored)
        self._deactivations.deactivate(connection, user_id, DeactivationCause.RECOVERY)
        is_cancelled = deletion_times.clear_time(connection, user_id)
        by = ChangedBy(user_id, origin, details=_CAUSE, restores=True)
        self._changes.settle(connection, by)
        if is_cancelled:
            self._audit.record(connection, _cancellation(user_id, origin))

    def _release_added(self, connection: Connection, link: ContactLink) -> None:
        """Release contacts and logins of platforms that were added since the change, or shortly before.

        Another person may have added the first of them before the change.
        """
        user = self._users.get(connection, link.user_id)
        since = min(link.changed_at, trusted_before(user.created_at, link.created_at))
        for item in self._credentials.of_user(connection, link.user_id):
            # A username opens nothing without the password, which is a new one.
            if item.created_at >= since and item.kind != USERNAME:
                self._credentials.release_one(connection, link.user_id, item.credential)

    def _remove_added_factors(self, connection: Connection, link: ContactLink) -> None:
        """Remove second factors that were added since the change, and backups that then stand alone."""
        rows = self._factors.of_user(connection, link.user_id)
        older = [row for row in rows if row.created_at < link.changed_at]
        kept = older if any(not row.is_backup for row in older) else []
        for row in rows:
            if row not in kept:
                self._factors.remove(connection, link.user_id, row.id)


def _cancellation(user_id: str, origin: Origin) -> AuditEvent:
    return AuditEvent(
        "user.cancel-deletion",
        actor_id=user_id,
        target_type="user",
        target_id=user_id,
        origin=origin,
        details=_CAUSE,
    )
