"""Checks the rights and the limits of an invitation, and sends its message."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import Role
from strongroom.extensions.invitations.listing import SentInvitation
from strongroom.extensions.invitations.messages import InvitationLinks, InvitationMessages
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import NotImplementedHere
from strongroom.foundation.limits.service import Allowance, RateLimits
from strongroom.identity.accounts.reauthentication import Reauthentication
from strongroom.plugin_api.login import Credential


@dataclass(frozen=True, slots=True)
class InvitationPolicy:
    """The limits of invitations.

    Args:
        lifetime: milliseconds for which an invitation can be accepted.
        max_open: maximum number of open invitations of a tenant.
        adds_known: whether users who hold the contact already become members at once.
        per_recipient: rates of messages to one recipient.
        per_user: rates of messages that one user causes.
    """

    lifetime: int
    max_open: int
    adds_known: bool
    per_recipient: Sequence[Any]
    per_user: Sequence[Any]


@dataclass(slots=True, eq=False, repr=False)
class InvitationSending:
    """Sends the messages of invitations within their limits."""

    _database: Database
    _memberships: Memberships
    _messages: InvitationMessages
    _rates: RateLimits
    _reauthentication: Reauthentication
    _policy: InvitationPolicy

    def check_rights(
        self, identity: Identity, tenant_id: str, recipient: Credential, role: Role
    ) -> None:
        """Check the caller's role and proof, and that the message can be sent."""
        with self._database.read() as connection:
            self._memberships.require_admin(connection, tenant_id, identity)
        if role.is_privileged:
            # As a change of a role, whose effect it has.
            self._reauthentication.require_factor(identity)
        self._messages.require_reachable(recipient)
        if not self._messages.can_send(recipient):
            raise NotImplementedHere("No invitation can be sent to this recipient.")
        subject = f"{recipient.kind}:{recipient.value}"
        # Spent even if the invitation is refused afterwards, so that refusals cost the sender as much.
        self._rates.spend(
            Allowance("invitation-recipient", subject, self._policy.per_recipient),
            Allowance("invitation-user", identity.user_id, self._policy.per_user),
        )

    def send(
        self, sent: SentInvitation, identity: Identity, origin: Origin, links: InvitationLinks
    ) -> None:
        """Send an invitation that was committed; ``links`` are the URLs of links in e-mails."""
        recipient = sent.invitation.contact
        secret = sent.secret or ""
        self._messages.send(recipient, sent.tenant_name, secret, identity.user_id, origin, links)
