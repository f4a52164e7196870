"""Invitations as their recipients see them."""

from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditService
from strongroom.content.tenants.models import Invitation, Role
from strongroom.extensions.invitations.acceptance import InvitationAcceptance, record
from strongroom.extensions.invitations.listing import SentInvitation, audit_details, complete
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, make_page
from strongroom.foundation.errors import NotFound
from strongroom.foundation.plugins.selection import CHANNELS
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.login import Credential


@dataclass(slots=True, eq=False, repr=False)
class ReceivedInvitations:
    """Invitations to the contacts of users, who accept or decline them."""

    _database: Database
    _credentials: CredentialService
    _users: UserService
    _acceptance: InvitationAcceptance
    _audit: AuditService

    def received(
        self, identity: Identity, user_id: str, paging: Paging
    ) -> tuple[Page[SentInvitation], list[dict[str, str]]]:
        """Return a page of the open invitations to the caller's contacts, oldest first; and senders.

        Raises:
            Forbidden: the caller is another user.
        """
        identity.require_self(user_id)
        with self._database.read() as connection:
            received = self._received(connection, user_id)
            page = make_page(received, paging, lambda item: (item.created_at, item.id))
            senders = self._users.summaries(connection, {item.invited_by for item in page.items})
            return page.with_items(complete(connection, page.items)), senders

    def accept(
        self, identity: Identity, user_id: str, invitation_id: str, origin: Origin
    ) -> tuple[str, Role]:
        """Accept an invitation to a contact of the caller; return the tenant and the caller's role.

        Raises:
            Forbidden: the caller is another user.
            NotFound: there is no such open invitation to a contact of the caller.
        """
        identity.require_self(user_id)
        with self._database.write() as connection:
            invitation = self._one_received(connection, user_id, invitation_id)
            return invitation.tenant_id, self._acceptance.accept(connection, invitation, user_id, origin)

    def decline(self, identity: Identity, user_id: str, invitation_id: str, origin: Origin) -> None:
        """Decline an invitation to a contact of the caller; raises as :meth:`accept`."""
        identity.require_self(user_id)
        with self._database.write() as connection:
            invitation = self._one_received(connection, user_id, invitation_id)
            if not self._acceptance.remove(connection, invitation):
                raise NotFound
            actor_id, details = identity.user_id, audit_details(invitation)
            record(self._audit, connection, "invitation.decline", actor_id, invitation, origin, details)

    def accept_secret(self, identity: Identity, secret: str, origin: Origin) -> tuple[str, Role]:
        """Accept the invitation of a secret, whatever contacts the caller holds.

        Raises:
            NotFound: the secret is wrong, used, replaced or expired.
        """
        with self._database.write() as connection:
            invitation = self._acceptance.of_secret(connection, secret)
            if invitation is None:
                raise NotFound
            role = self._acceptance.accept(connection, invitation, identity.user_id, origin)
            return invitation.tenant_id, role

    def is_invited(self, secret: str, credential: Credential) -> bool:
        """Return whether a secret belongs to an open invitation of a contact."""
        with self._database.read() as connection:
            invitation = self._acceptance.of_secret(connection, secret)
        return invitation is not None and invitation.contact == credential

    def _received(self, connection: Connection, user_id: str) -> list[Invitation]:
        held = self._credentials.of_user(connection, user_id)
        return [
            invitation
            for item in held
            if item.kind in CHANNELS and item.is_verified
            for invitation in self._acceptance.open_to(connection, item.credential)
        ]

    def _one_received(self, connection: Connection, user_id: str, invitation_id: str) -> Invitation:
        for invitation in self._received(connection, user_id):
            if invitation.id == invitation_id:
                return invitation
        raise NotFound
