"""Which nodes have holds, for those who may see holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, select

from strongroom.content.nodes.removal_guard import is_in_force
from strongroom.content.nodes.retention_models import node_holds
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import Identity
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement

READERS: Final = (Role.RECORDS, Role.ADMIN)
"""The roles that see the holds of a tenant."""

_HELD: Final = Statement(
    select(node_holds.c.node_id).where(
        node_holds.c.tenant_id == bindparam("tenant_id"),
        node_holds.c.node_id.in_(bindparam("node_ids", expanding=True)),
        is_in_force(),
    )
)


@dataclass(slots=True, eq=False, repr=False)
class HeldNodes:
    """Finds the holds of nodes."""

    _database: Database
    _memberships: Memberships

    def find(self, identity: Identity, tenant_id: str, node_ids: Sequence[str]) -> frozenset[str] | None:
        """Return which nodes have holds of their own in force; ``None`` if the caller may not see holds.

        Raises:
            StepUpRequired, KeyNotAccepted: the tenant demands a stronger login of its members.
        """
        with self._database.read() as connection:
            if self._memberships.caller_role(connection, tenant_id, identity) not in READERS:
                return None
            named = {"tenant_id": tenant_id, "node_ids": node_ids}
            return frozenset(_HELD.scalars(connection, named))
