"""Turns invitations into memberships.

An invitation counts as an act of the administrator who sent it: it ends when that user no longer
administers the tenant.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, and_, bindparam, delete, select

from strongroom.activity.audit.service import AuditEvent, AuditService
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
from strongroom.foundation.caller import Origin
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotFound, TooManyGroups
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.plugin_api.login import Credential

TEMPLATE: Final = "invitation"
"""The template of the message, and the purpose under which secrets are hashed."""

IS_ONE: Final = and_(
    invitations.c.id == bindparam("invitation_id"), invitations.c.tenant_id == bindparam("tenant_id")
)
IS_OPEN: Final = invitations.c.expires_at > bindparam("now")
SENT_TO: Final = and_(
    invitations.c.kind == bindparam("kind"), invitations.c.recipient == bindparam("recipient")
)
_OF_SECRET: Final = Statement(
    select(invitations).where(invitations.c.secret_hash == bindparam("secret_hash"), IS_OPEN),
    INVITATION,
)
_OF_RECIPIENT: Final = Statement(
    select(invitations).where(SENT_TO, IS_OPEN).order_by(invitations.c.created_at, invitations.c.id),
    INVITATION,
)
_REMOVE: Final = Statement(delete(invitations).where(IS_ONE))
_GROUPS: Final = Statement(
    select(invitation_groups.c.invitation_id, invitation_groups.c.group_id)
    .where(invitation_groups.c.invitation_id.in_(bindparam("ids", expanding=True)))
    .order_by(invitation_groups.c.group_id)
)


@dataclass(slots=True, eq=False, repr=False)
class InvitationAcceptance:
    """Turns invitations into memberships, within the caller's transaction."""

    _clock: Clock
    _keys: SecretKeys
    _memberships: Memberships
    _groups: GroupMemberships
    _audit: AuditService

    def bound(self, connection: Connection, user_id: str, credential: Credential) -> None:
        """Accept all invitations to a credential that was bound to a user."""
        for invitation in self.open_to(connection, credential):
            # One that was withdrawn or accepted concurrently must not fail the registration.
            with suppress(NotFound):
                self.accept(connection, invitation, user_id, Origin())

    def open_to(self, connection: Connection, credential: Credential) -> list[Invitation]:
        """Return the open invitations to a credential, the oldest first."""
        sent_to = {"kind": credential.kind, "recipient": credential.value, "now": self._clock.now()}
        invitations = _OF_RECIPIENT.all(connection, sent_to)
        return [invitation for invitation in invitations if self._counts(connection, invitation)]

    def of_secret(self, connection: Connection, secret: str) -> Invitation | None:
        """Return the open invitation that a secret belongs to."""
        hashed = {"secret_hash": self.hash(secret), "now": self._clock.now()}
        invitation: Invitation | None = _OF_SECRET.first(connection, hashed)
        return invitation if invitation is not None and self._counts(connection, invitation) else None

    def accept(
        self, connection: Connection, invitation: Invitation, user_id: str, origin: Origin
    ) -> Role:
        """Make a user a member as an invitation says, consume it, and return the user's role.

        An administrator stays one. Groups that were deleted since, or that the user may not join because
        of the number of the user's groups, are left out.

        Raises:
            NotFound: the invitation was accepted or deleted concurrently, or its sender no longer
                administers the tenant. Nothing was changed.
        """
        tenant_id = invitation.tenant_id
        self._memberships.lock_tenant(connection, tenant_id)
        # The sender may have lost the role since the invitation was read.
        if not self._counts(connection, invitation):
            raise NotFound
        group_ids = read_groups(connection, [invitation.id]).get(invitation.id, ())
        # The deletion decides between concurrent acceptances: only one of them finds the row.
        if not self.remove(connection, invitation):
            raise NotFound
        held = self._memberships.role(connection, tenant_id, user_id)
        role = Role.ADMIN if held is Role.ADMIN else Role(invitation.role)
        self._memberships.put(connection, tenant_id, user_id, role)
        self._join(connection, invitation, user_id, group_ids)
        details = {"user": user_id, "role": role.value}
        record(self._audit, connection, "member.put", user_id, invitation, origin, details)
        details["invitation"] = invitation.id
        record(self._audit, connection, "invitation.accept", user_id, invitation, origin, details)
        return role

    def remove(self, connection: Connection, invitation: Invitation) -> bool:
        """Remove an invitation; return ``False`` if it was accepted or deleted concurrently."""
        one = {"tenant_id": invitation.tenant_id, "invitation_id": invitation.id}
        return _REMOVE.execute(connection, one) == 1

    def hash(self, secret: str) -> str:
        """Return the hash under which a secret is stored."""
        return self._keys.hash(TEMPLATE, secret)

    def _join(
        self, connection: Connection, invitation: Invitation, user_id: str, group_ids: Sequence[str]
    ) -> None:
        for group_id in group_ids:
            group = self._groups.find(connection, invitation.tenant_id, group_id)
            if group is None:
                continue
            try:
                self._groups.add(connection, group, user_id, invitation.invited_by)
            except TooManyGroups:
                return

    def _counts(self, connection: Connection, invitation: Invitation) -> bool:
        """Return whether the user who sent an invitation still administers the tenant."""
        # An invitation is not better than the rights of its sender, who may have left the tenant.
        role = self._memberships.role(connection, invitation.tenant_id, invitation.invited_by)
        return role is Role.ADMIN


def record(
    audit: AuditService,
    connection: Connection,
    action: str,
    actor_id: str,
    invitation: Invitation,
    origin: Origin,
    details: dict[str, str],
) -> None:
    """Record an action on an invitation. The recipient is personal data and is not recorded."""
    event = AuditEvent(
        action,
        actor_id=actor_id,
        target_type="tenant",
        target_id=invitation.tenant_id,
        origin=origin,
        details=details,
    )
    audit.record(connection, event)


def read_groups(connection: Connection, ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the ids of the groups of invitations."""
    groups: dict[str, list[str]] = {}
    for invitation_id, group_id in _GROUPS.all(connection, {"ids": ids}):
        groups.setdefault(invitation_id, []).append(group_id)
    return groups
