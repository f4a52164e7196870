"""Reads the open invitations of a tenant."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, func, select

from strongroom.clock import Clock
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import INVITATION, Invitation, invitations, tenants
from strongroom.extensions.invitations.acceptance import IS_ONE, IS_OPEN, read_groups
from strongroom.foundation.caller import Identity
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotFound
from strongroom.identity.users.service import UserService

_FIND: Final = Statement(select(invitations).where(IS_ONE, IS_OPEN), INVITATION)
_NAMES: Final = Statement(
    select(tenants.c.id, tenants.c.name).where(tenants.c.id.in_(bindparam("ids", expanding=True)))
)


@dataclass(frozen=True, slots=True)
class SentInvitation:
    """An invitation with the ids of its groups, and the name of its tenant."""

    invitation: Invitation
    group_ids: Sequence[str]
    tenant_name: str
    secret: str | None = field(default=None, repr=False)


def audit_details(invitation: Invitation) -> dict[str, str]:
    """Return the details of an audit event about an invitation."""
    return {"role": invitation.role, "invitation": invitation.id}


def complete(connection: Connection, invitations: Sequence[Invitation]) -> list[SentInvitation]:
    """Return invitations with their groups and the names of their tenants."""
    if not invitations:
        return []
    groups = read_groups(connection, [invitation.id for invitation in invitations])
    ids = {invitation.tenant_id for invitation in invitations}
    names = {row[0]: row[1] for row in _NAMES.all(connection, {"ids": list(ids)})}
    return [
        SentInvitation(invitation, groups.get(invitation.id, ()), names[invitation.tenant_id])
        for invitation in invitations
    ]


@dataclass(slots=True, eq=False, repr=False)
class InvitationListing:
    """Open invitations, for administrators of their tenant."""

    _database: Database
    _clock: Clock
    _memberships: Memberships
    _users: UserService

    def page(
        self, identity: Identity, tenant_id: str, paging: Paging
    ) -> tuple[Page[SentInvitation], list[dict[str, str]]]:
        """Return a page of the open invitations, newest first, and the users who sent them.

        Raises:
            Forbidden: the caller does not administer the tenant.
        """
        with self._database.read() as connection:
            self._memberships.require_admin(connection, tenant_id, identity)
            queries = _page_queries(tenant_id, self._clock.now())
            page = select_page(connection, *queries, paging, INVITATION)
            senders = self._users.summaries(connection, {item.invited_by for item in page.items})
            return page.with_items(complete(connection, page.items)), senders

    def get(self, identity: Identity, tenant_id: str, invitation_id: str) -> SentInvitation:
        """Return an open invitation.

        Raises:
            Forbidden: the caller does not administer the tenant.
            NotFound: the tenant has no such open invitation.
        """
        with self._database.read() as connection:
            self._memberships.require_admin(connection, tenant_id, identity)
            return self.find(connection, tenant_id, invitation_id)

    def find(self, connection: Connection, tenant_id: str, invitation_id: str) -> SentInvitation:
        """Return an open invitation.

        Raises:
            NotFound: the tenant has no such open invitation.
        """
        one = {"tenant_id": tenant_id, "invitation_id": invitation_id, "now": self._clock.now()}
        invitation = _FIND.first(connection, one)
        if invitation is None:
            raise NotFound
        return complete(connection, [invitation])[0]


def _page_queries(tenant_id: str, now: int) -> tuple[Select[Any], Select[Any]]:
    """Return the queries for the open invitations of a tenant, newest first, and for their number."""
    ours = (invitations.c.tenant_id == tenant_id) & (invitations.c.expires_at > now)
    newest_first = (invitations.c.created_at.desc(), invitations.c.id)
    count = select(func.count()).select_from(invitations).where(ours)
    return select(invitations).where(ours).order_by(*newest_first), count
