"""Invitations to a tenant by e-mail or mobile, which become memberships.

An invitation becomes a membership when its address or number is bound to a user, as by a registration.
A user who holds it already accepts the invitation, as does any user who presents its secret, which only
the message contains. Administrators learn of a user by the membership alone: creating, reading and
resending an invitation never reveals whether the recipient is registered.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from strongroom.activity.audit.service import AuditService
from strongroom.clock import Clock
from strongroom.content.tenants.groups.service import GroupMemberships
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import (
    INVITATION,
    Invitation,
    Role,
    invitation_groups,
    invitations,
)
from strongroom.extensions.invitations.acceptance import (
    IS_ONE,
    IS_OPEN,
    SENT_TO,
    InvitationAcceptance,
    record,
)
from strongroom.extensions.invitations.listing import (
    InvitationListing,
    SentInvitation,
    audit_details,
    complete,
)
from strongroom.extensions.invitations.messages import InvitationLinks
from strongroom.extensions.invitations.sending import InvitationPolicy, InvitationSending
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import (
    NotFound,
    TooManyInvitations,
    ValidationFailed,
)
from strongroom.foundation.ids import new_id
from strongroom.identity.users.credentials import CredentialService
from strongroom.plugin_api.login import Credential

_ADD: Final = Statement(insert(invitations))
_ADD_GROUPS: Final = Statement(insert(invitation_groups))
# A contact has one invitation to a tenant: a second one replaces the first, whose secret is void then.
_REMOVE_SENT: Final = Statement(
    delete(invitations).where(SENT_TO, invitations.c.tenant_id == bindparam("tenant_id"))
)
_RENEW: Final = Statement(
    update(invitations)
    .where(IS_ONE)
    .values(
        secret_hash=bindparam("new_hash"),
        invited_by=bindparam("new_inviter"),
        expires_at=bindparam("new_end"),
    )
)
_COUNT: Final = Statement(
    select(func.count())
    .select_from(invitations)
    .where(invitations.c.tenant_id == bindparam("tenant_id"), IS_OPEN)
)


@dataclass(frozen=True, slots=True)
class InvitationRequest:
    """A requested invitation. It has exactly one of ``email`` and ``mobile``."""

    email: str | None
    mobile: str | None
    role: Role
    group_ids: Sequence[str]


@dataclass(slots=True, eq=False, repr=False)
class InvitationService:
    """Creates, renews and withdraws invitations for administrators of a tenant."""

    _database: Database
    _clock: Clock
    _memberships: Memberships
    _groups: GroupMemberships
    _acceptance: InvitationAcceptance
    _credentials: CredentialService
    _listing: InvitationListing
    _sending: InvitationSending
    _audit: AuditService
    _policy: InvitationPolicy

    def create(
        self,
        identity: Identity,
        tenant_id: str,
        requested: InvitationRequest,
        origin: Origin,
        links: InvitationLinks,
    ) -> SentInvitation:
        """Invite a contact; this replaces an open invitation of the same contact to the tenant.

        Args:
            links: the URLs of links in e-mails.

        Raises:
            ValidationFailed: the contact is malformed, or the tenant has no such group.
            Forbidden: the caller does not administer the tenant.
            NotImplementedHere: no sender can send invitations to this contact.
            TooManyRequests: too many invitations were sent.
            StepUpRequired: the role is privileged, and the caller's second factor is not proven lately.
            TooManyInvitations: the tenant has as many open invitations as allowed.
        """
        recipient = self._recipient(requested)
        self._sending.check_rights(identity, tenant_id, recipient, requested.role)
        with self._database.write() as connection:
            self._memberships.lock_as_admin(connection, tenant_id, identity)
            self._require_groups(connection, tenant_id, requested.group_ids)
            sent_to = {"kind": recipient.kind, "recipient": recipient.value, "tenant_id": tenant_id}
            # Before the count, so that an invitation can be repeated at the limit.
            _REMOVE_SENT.execute(connection, sent_to)
            now = self._clock.now()
            if _COUNT.scalar(connection, {"tenant_id": tenant_id, "now": now}) >= self._policy.max_open:
                raise TooManyInvitations
            sent = self._add(connection, identity, tenant_id, recipient, requested)
            self._record(connection, "invitation.create", identity, sent.invitation, origin)
            self._add_known(connection, sent.invitation, recipient, origin)
        # After the commit, because a message cannot be taken back.
        self._sending.send(sent, identity, origin, links)
        return sent

    def resend(
        self,
        identity: Identity,
        tenant_id: str,
        invitation_id: str,
        origin: Origin,
        links: InvitationLinks,
    ) -> SentInvitation:
        """Send an invitation again with a new secret and a new end; the former secret is void.

        Raises:
            Forbidden: the caller does not administer the tenant.
            NotFound: the tenant has no such open invitation.
            TooManyRequests: too many invitations were sent.
        """
        former = self._listing.get(identity, tenant_id, invitation_id)
        recipient = former.invitation.contact
        self._sending.check_rights(identity, tenant_id, recipient, Role(former.invitation.role))
        secret = secrets.token_urlsafe(24)
        with self._database.write() as connection:
            self._memberships.lock_as_admin(connection, tenant_id, identity)
            one = {"tenant_id": tenant_id, "invitation_id": invitation_id}
            values = {
                "new_hash": self._acceptance.hash(secret),
                "new_inviter": identity.user_id,
                "new_end": self._clock.now() + self._policy.lifetime,
            }
            if _RENEW.execute(connection, {**one, **values}) != 1:
                raise NotFound
            renewed = self._listing.find(connection, tenant_id, invitation_id)
            self._record(connection, "invitation.resend", identity, renewed.invitation, origin)
        sent = replace(renewed, secret=secret)
        self._sending.send(sent, identity, origin, links)
        return sent

    def delete(self, identity: Identity, tenant_id: str, invitation_id: str, origin: Origin) -> None:
        """Withdraw an invitation.

        Raises:
            Forbidden: the caller does not administer the tenant.
            NotFound: the tenant has no such open invitation.
        """
        with self._database.write() as connection:
            self._memberships.lock_as_admin(connection, tenant_id, identity)
            sent = self._listing.find(connection, tenant_id, invitation_id)
            self._acceptance.remove(connection, sent.invitation)
            self._record(connection, "invitation.delete", identity, sent.invitation, origin)

    def prune(self) -> int:
        """Delete expired invitations; return the count."""
        old = invitations.c.expires_at <= self._clock.now()
        return prune(self._database, invitations.c.id, old)

    def _recipient(self, requested: InvitationRequest) -> Credential:
        given = {"email": requested.email, "mobile": requested.mobile}
        (kind, text), *others = [(kind, text) for kind, text in given.items() if text is not None] or [
            ("email", "")
        ]
        recipient = self._credentials.identify(text)
        if others or recipient is None or recipient.kind != kind:
            message = "Must be one e-mail address, or one mobile number."
            raise ValidationFailed.of_field(kind, "invalid", message)
        return recipient

    def _require_groups(self, connection: Connection, tenant_id: str, group_ids: Sequence[str]) -> None:
        if any(self._groups.find(connection, tenant_id, group_id) is None for group_id in group_ids):
            raise ValidationFailed.of_field("groups", "no-such-group", "Must be groups of the tenant.")

    def _add(
        self,
        connection: Connection,
        identity: Identity,
        tenant_id: str,
        recipient: Credential,
        requested: InvitationRequest,
    ) -> SentInvitation:
        secret, now = secrets.token_urlsafe(24), self._clock.now()
        invitation = Invitation(
            new_id(),
            tenant_id,
            recipient.kind,
            recipient.value,
            requested.role.value,
            self._acceptance.hash(secret),
            identity.user_id,
            now,
            now + self._policy.lifetime,
            recipient.written,
        )
        _ADD.execute(connection, INVITATION.values(invitation))
        rows = [
            {"invitation_id": invitation.id, "group_id": group_id}
            for group_id in sorted(set(requested.group_ids))
        ]
        if rows:
            _ADD_GROUPS.execute(connection, rows)
        return replace(complete(connection, [invitation])[0], secret=secret)

    def _add_known(
        self, connection: Connection, invitation: Invitation, recipient: Credential, origin: Origin
    ) -> None:
        """Make the user who holds the contact a member at once, if the configuration allows it."""
        if not self._policy.adds_known:
            return
        user_id = self._credentials.find_verified(connection, recipient)
        if user_id is not None:
            self._acceptance.accept(connection, invitation, user_id, origin)

    def _record(
        self,
        connection: Connection,
        action: str,
        identity: Identity,
        invitation: Invitation,
        origin: Origin,
    ) -> None:
        details = audit_details(invitation)
        record(self._audit, connection, action, identity.user_id, invitation, origin, details)
