"""Links by which users set a password: invitations, and resets by an administrator."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.activity.notifications.service import MessageService
from strongroom.clock import DAY, Clock
from strongroom.extensions.user_management.administration import Administration, require_takeover
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import (
    Forbidden,
    NotImplementedHere,
    OwnAccount,
    ValidationFailed,
)
from strongroom.identity.accounts.key_rights import require_manageable
from strongroom.identity.users.account_links import AccountLink, AccountLinks, LinkKind
from strongroom.identity.users.contacts import Notices
from strongroom.identity.users.models import User, UserType
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.login import Credential

LIFETIMES: Final[Mapping[LinkKind, int]] = {LinkKind.INVITE: 7 * DAY, LinkKind.RESET: DAY}
"""Milliseconds for which links are valid."""

UrlOf = Callable[[str], str]
"""Returns the URL of the page that consumes a token."""


@dataclass(frozen=True, slots=True)
class IssuedLink:
    """A new link.

    Args:
        expires_at: milliseconds since the Unix epoch.
        url: the link; ``None`` if it was sent.
    """

    expires_at: int
    url: str | None = field(default=None, repr=False)


@dataclass(slots=True, eq=False, repr=False)
class PasswordLinks:
    """Issues links."""

    _database: Database
    _clock: Clock
    _users: UserService
    _links: AccountLinks
    _administration: Administration
    _messages: MessageService
    _notices: Notices
    _audit: AuditService

    def issue(
        self, identity: Identity, user_id: str, kind: LinkKind, url_of: UrlOf, origin: Origin
    ) -> IssuedLink:
        """Issue a link for the administrator to pass on. It voids the former ones of its kind.

        Raises:
            NotFound: there is no such user.
            StrongroomError: as :meth:`Administration.require` and :func:`require_takeover`.
        """
        self._administration.require(identity)
        with self._database.write() as connection:
            self._administration.confirm(connection, identity)
            require_takeover(identity, self._users.get(connection, user_id))
            token, link = self._add(connection, identity, user_id, kind, None, origin)
        return IssuedLink(link.expires_at, url_of(token))

    def send(
        self, identity: Identity, user_id: str, kind: LinkKind, url_of: UrlOf, origin: Origin
    ) -> IssuedLink:
        """Send a link to the user's e-mail address, or else to the mobile number.

        Raises:
            NotFound: there is no such user.
            OwnAccount: it is the caller's own account.
            Forbidden: it is a service account, or the caller's access key may not change this user.
            ValidationFailed: the user has no contact.
            NotImplementedHere: no sender can send the message.
            StrongroomError: as :meth:`Administration.require`.
        """
        self._administration.require(identity)
        with self._database.write() as connection:
            self._administration.confirm(connection, identity)
            user = self._users.get(connection, user_id)
            _require_other_person(identity, user)
            contacts = self._notices.contacts(connection, user_id)
            contact = self.choose_recipient(contacts, kind)
            token, link = self._add(connection, identity, user_id, kind, contact, origin)
        days = LIFETIMES[kind] // DAY
        parameters = {"link": url_of(token), "hours": str(24 * days), "days": str(days)}
        # Without the languages of the request, which are the administrator's.
        self._messages.send(contact, _template(kind), parameters, contacts.languages())
        return IssuedLink(link.expires_at)

    def choose_recipient(self, contacts: list[Credential], kind: LinkKind) -> Credential:
        """Return the contact that a link is sent to.

        Raises:
            ValidationFailed: there is no contact.
            NotImplementedHere: no sender can send the message.
        """
        if not contacts:
            message = "The user has no e-mail address and no mobile number."
            raise ValidationFailed.of_field("send", "no-contact", message)
        contact = min(contacts, key=lambda item: item.kind)
        if not self._messages.can_send(_template(kind), contact):
            raise NotImplementedHere("No message of this purpose can be sent to this recipient.")
        return contact

    def _add(
        self,
        connection: Connection,
        identity: Identity,
        user_id: str,
        kind: LinkKind,
        contact: Credential | None,
        origin: Origin,
    ) -> tuple[str, AccountLink]:
        (token, hashed), now = self._links.new_token(), self._clock.now()
        link = AccountLink(
            hashed,
            user_id,
            kind.value,
            contact.kind if contact else None,
            contact.value if contact else None,
            identity.user_id,
            now,
            now + LIFETIMES[kind],
        )
        self._links.replace(connection, link)
        self._record(connection, "password-link.issue", identity.user_id, link, origin)
        return token, link

    def _record(
        self, connection: Connection, action: str, actor_id: str, link: AccountLink, origin: Origin
    ) -> None:
        event = AuditEvent(
            action,
            actor_id=actor_id,
            target_type="user",
            target_id=link.user_id,
            origin=origin,
            details=link_details(link),
        )
        self._audit.record(connection, event)


def link_details(link: AccountLink) -> dict[str, str]:
    """Return the details of a link in audit records."""
    return {"kind": link.kind, "sent": str(link.contact is not None).lower()}


def _require_other_person(identity: Identity, user: User) -> None:
    require_manageable(identity, user)
    if user.id == identity.user_id:
        raise OwnAccount("Administrators change their own account as users do.")
    if user.type == UserType.SERVICE:
        raise Forbidden("A service account has no password.")


def _template(kind: LinkKind) -> str:
    return f"account-{kind.value}"
