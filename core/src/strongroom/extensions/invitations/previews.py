"""What the holder of an invitation's secret sees before the answer."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, select

from strongroom.content.tenants.models import Invitation, tenants
from strongroom.extensions.invitations.acceptance import InvitationAcceptance
from strongroom.extensions.invitations.messages import shown
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotFound
from strongroom.identity.users.service import UserService

_NAME: Final = Statement(select(tenants.c.name).where(tenants.c.id == bindparam("tenant_id")))


@dataclass(frozen=True, slots=True)
class InvitationPreview:
    """An open invitation, with the names that its message has."""

    invitation: Invitation
    tenant_name: str
    inviter_name: str


@dataclass(slots=True, eq=False, repr=False)
class InvitationPreviews:
    """Shows invitations to people who are not logged in."""

    _database: Database
    _acceptance: InvitationAcceptance
    _users: UserService

    def of_secret(self, secret: str) -> InvitationPreview:
        """Return the open invitation of a secret.

        Raises:
            NotFound: the secret is wrong, used, replaced or expired; the error does not say which.
        """
        with self._database.read() as connection:
            invitation = self._acceptance.of_secret(connection, secret)
            if invitation is None:
                raise NotFound
            tenant_name = _NAME.scalar(connection, {"tenant_id": invitation.tenant_id})
            (inviter,) = self._users.find(connection, [invitation.invited_by])
        return InvitationPreview(invitation, shown(tenant_name), shown(inviter.name))
