"""Invitations to a tenant by e-mail or mobile, which become memberships.

An invitation becomes a membership when its address or number is bound to a user, as by a registration.
A user who holds it already accepts the invitation, as does any user who presents its secret, which only
the message contains. Administrators learn of a user by the membership alone: creating, reading and
resending an invitation never reveals whether the recipient is registered.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, select, update

from strongroom.activity.audit.service import AuditService
from strongroom.clock import Clock
from strongroom.content.tenants.groups.service import GroupMemberships
from strongroom.content.tenants.invitations.acceptance import (
    IS_ONE,
    IS_OPEN,
    SENT_TO,
    InvitationAcceptance,
    groups_of,
    record,
)
from strongroom.content.tenants.invitations.messages import InvitationLinks, InvitationMessages
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import (
    INVITATION,
    Invitation,
    Role,
    invitation_groups,
    invitations,
    tenants,
)
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, page_of, select_page
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import (
    NotFound,
    NotImplementedHere,
    TooManyInvitations,
    ValidationFailed,
)
from strongroom.foundation.ids import new_id
from strongroom.foundation.limits.service import Allowance, RateLimits
from strongroom.foundation.plugins.selection import CHANNELS
from strongroom.identity.accounts.reauthentication import Reauthentication
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.login import Credential

_ADD: Final = Statement(insert(invitations))
_ADD_GROUPS: Final = Statement(insert(invitation_groups))
_FIND: Final = Statement(select(invitations).where(IS_ONE, IS_OPEN), INVITATION)
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
_NAMES: Final = Statement(
    select(tenants.c.id, tenants.c.name).where(tenants.c.id.in_(bindparam("ids", expanding=True)))
)


@dataclass(frozen=True, slots=True)
class InvitationRequest:
    """A requested invitation. It has exactly one of ``email`` and ``mobile``."""

    email: str | None
    mobile: str | None
    role: Role
    group_ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class SentInvitation:
    """An invitation with the ids of its groups, and the name of its tenant."""

    invitation: Invitation
    group_ids: Sequence[str]
    tenant_name: str
    secret: str | None = field(default=None, repr=False)


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
class InvitationService:
    """Sends invitations for administrators of a tenant, and accepts them for users."""

    _database: Database
    _clock: Clock
    _memberships: Memberships
    _groups: GroupMemberships
    _acceptance: InvitationAcceptance
    _credentials: CredentialService
    _users: UserService
    _messages: InvitationMessages
    _rates: RateLimits
    _audit: AuditService
    _reauthentication: Reauthentication
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
        self._check_rights(identity, tenant_id, recipient, requested.role)
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
        self._send(sent, identity, origin, links)
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
        former = self.get(identity, tenant_id, invitation_id)
        recipient = former.invitation.contact
        self._check_rights(identity, tenant_id, recipient, Role(former.invitation.role))
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
            renewed = self._find(connection, tenant_id, invitation_id)
            self._record(connection, "invitation.resend", identity, renewed.invitation, origin)
        sent = replace(renewed, secret=secret)
        self._send(sent, identity, origin, links)
        return sent

    def page(
        self, identity: Identity, tenant_id: str, paging: Paging
    ) -> tuple[Page[SentInvitation], list[dict[str, str]]]:
        """Return a page of the open invitations, newest first, and the users who sent them.

        Raises:
            Forbidden: the caller does not administer the tenant.
        """
        with self._database.read() as connection:
            self._memberships.require_admin(connection, tenant_id, identity)
            queries = _page_of(tenant_id, self._clock.now())
            page = select_page(connection, *queries, paging, INVITATION)
            senders = self._users.summaries(connection, {item.invited_by for item in page.items})
            return page.with_items(self._complete(connection, page.items)), senders

    def get(self, identity: Identity, tenant_id: str, invitation_id: str) -> SentInvitation:
        """Return an open invitation.

        Raises:
            Forbidden: the caller does not administer the tenant.
            NotFound: the tenant has no such open invitation.
        """
        with self._database.read() as connection:
            self._memberships.require_admin(connection, tenant_id, identity)
            return self._find(connection, tenant_id, invitation_id)

    def delete(self, identity: Identity, tenant_id: str, invitation_id: str, origin: Origin) -> None:
        """Withdraw an invitation.

        Raises:
            Forbidden: the caller does not administer the tenant.
            NotFound: the tenant has no such open invitation.
        """
        with self._database.write() as connection:
            self._memberships.lock_as_admin(connection, tenant_id, identity)
            sent = self._find(connection, tenant_id, invitation_id)
            self._acceptance.remove(connection, sent.invitation)
            self._record(connection, "invitation.delete", identity, sent.invitation, origin)

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
            page = page_of(received, paging, lambda item: (item.created_at, item.id))
            senders = self._users.summaries(connection, {item.invited_by for item in page.items})
            return page.with_items(self._complete(connection, page.items)), senders

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
            self._record(connection, "invitation.decline", identity, invitation, origin)

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

    def _check_rights(
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
        return replace(self._complete(connection, [invitation])[0], secret=secret)

    def _add_known(
        self, connection: Connection, invitation: Invitation, recipient: Credential, origin: Origin
    ) -> None:
        """Make the user who holds the contact a member at once, if the configuration allows it."""
        if not self._policy.adds_known:
            return
        user_id = self._credentials.find_verified(connection, recipient)
        if user_id is not None:
            self._acceptance.accept(connection, invitation, user_id, origin)

    def _find(self, connection: Connection, tenant_id: str, invitation_id: str) -> SentInvitation:
        one = {"tenant_id": tenant_id, "invitation_id": invitation_id, "now": self._clock.now()}
        invitation = _FIND.first(connection, one)
        if invitation is None:
            raise NotFound
        return self._complete(connection, [invitation])[0]

    def _complete(
        self, connection: Connection, invitations: Sequence[Invitation]
    ) -> list[SentInvitation]:
        if not invitations:
            return []
        groups = groups_of(connection, [invitation.id for invitation in invitations])
        ids = {invitation.tenant_id for invitation in invitations}
        names = {row[0]: row[1] for row in _NAMES.all(connection, {"ids": list(ids)})}
        return [
            SentInvitation(invitation, groups.get(invitation.id, ()), names[invitation.tenant_id])
            for invitation in invitations
        ]

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

    def _send(
        self, sent: SentInvitation, identity: Identity, origin: Origin, links: InvitationLinks
    ) -> None:
        recipient = sent.invitation.contact
        secret = sent.secret or ""
        self._messages.send(recipient, sent.tenant_name, secret, identity.user_id, origin, links)

    def _record(
        self,
        connection: Connection,
        action: str,
        identity: Identity,
        invitation: Invitation,
        origin: Origin,
    ) -> None:
        details = {"role": invitation.role, "invitation": invitation.id}
        record(self._audit, connection, action, identity.user_id, invitation, origin, details)


def _page_of(tenant_id: str, now: int) -> tuple[Select[Any], Select[Any]]:
    """Return the queries for the open invitations of a tenant, newest first, and for their number."""
    ours = (invitations.c.tenant_id == tenant_id) & (invitations.c.expires_at > now)
    newest_first = (invitations.c.created_at.desc(), invitations.c.id)
    count = select(func.count()).select_from(invitations).where(ours)
    return select(invitations).where(ours).order_by(*newest_first), count
