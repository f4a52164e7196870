"""The messages of invitations: who can get them, and what they contain."""

import re
from dataclasses import dataclass
from typing import Final

from strongroom.activity.notifications.service import MessageService
from strongroom.clock import DAY, Clock
from strongroom.extensions.invitations.acceptance import TEMPLATE
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import EMAIL
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.times import UTC_ZONE, find_zone, named_moment

_WITH_LINK: Final = f"{TEMPLATE}-link"
"""The occasion of an e-mail whose link leads to a page for the answer."""

_SHOWN_NAME: Final = 64


@dataclass(slots=True, eq=False, repr=False)
class InvitationLinks:
    """The URLs of links.

    Args:
        page: the URL of the page that answers invitations, to which the secret is appended; ``None``:
            there is none.
    """

    _page: str | None

    def url(self, secret: str) -> str | None:
        """Return the URL of the link of an invitation; ``None`` without a page."""
        return None if self._page is None else f"{self._page}{secret}"


@dataclass(slots=True, eq=False, repr=False)
class InvitationMessages:
    """Sends invitations.

    Args:
        clock: the time that e-mails name.
        lifetime: milliseconds for which an invitation can be accepted.
    """

    _database: Database
    _credentials: CredentialService
    _users: UserService
    _messages: MessageService
    _clock: Clock
    _lifetime: int

    def require_reachable(self, recipient: Credential) -> None:
        """Require that messages are sent to a contact.

        Raises:
            ValidationFailed: it is a number to which the server sends no SMS.
        """
        self._messages.require_reachable(recipient, recipient.kind)

    def can_send(self, recipient: Credential) -> bool:
        """Return whether any sender can send an invitation to a recipient."""
        return self._messages.can_send(TEMPLATE, recipient)

    def send(
        self,
        recipient: Credential,
        tenant_name: str,
        secret: str,
        inviter_id: str,
        origin: Origin,
        links: InvitationLinks,
    ) -> None:
        """Send an invitation. An e-mail has a link if there is a page for it."""
        with self._database.read() as connection:
            (inviter,) = self._users.find(connection, [inviter_id])
            holders = self._credentials.find_users(connection, [recipient])
            chosen = self._users.get_locales(connection, holders.values())
            zones = [self._users.get_zone(connection, holder) for holder in holders.values()]
        parameters = {
            "tenant": shown(tenant_name),
            "inviter": shown(inviter.name),
            "time": named_moment(self._clock.now(), find_zone(next(iter(zones), None)) or UTC_ZONE),
            "days": str(self._lifetime // DAY),
            "code": secret,
        }
        # Gateways for SMS have approved texts, which have no links.
        url = links.url(secret) if recipient.kind == EMAIL else None
        occasion = TEMPLATE
        if url is not None and self._messages.can_send(_WITH_LINK, recipient):
            occasion, parameters = _WITH_LINK, {**parameters, "link": url}
        # To the address as its holder wrote it, which differs if the inviter wrote it otherwise.
        holder = next(iter(holders), recipient)
        self._messages.send(holder, occasion, parameters, (*chosen, *origin.languages))


def shown(name: str) -> str:
    """Return a name as strangers see it: short, on one line, and without a link."""
    text = re.sub(r"[\s:/\\@]+", " ", name).strip()
    # Mail programs make links of names with a dot inside, such as "example.com".
    return re.sub(r"\.(?=\S)", ". ", text)[:_SHOWN_NAME]
