"""Which nodes have holds, for those who may see holds, and which are locked."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, bindparam, exists, select

from strongroom.clock import Clock
from strongroom.content.nodes.lock_models import node_locks
from strongroom.content.nodes.locks import is_live
from strongroom.content.nodes.models import nodes
from strongroom.content.nodes.removal_guard import is_in_force
from strongroom.content.nodes.retention_models import node_holds
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import Identity
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement

READERS: Final = (Role.RECORDS, Role.ADMIN)
"""The roles that see the holds of a tenant."""

HOLDS: Final = "holds"
LOCKS: Final = "locks"


def _marked() -> Select[Any]:
    is_held = exists().where(node_holds.c.node_id == nodes.c.id, is_in_force())
    is_locked = exists().where(node_locks.c.node_id == nodes.c.id, is_live())
    return select(nodes.c.id, is_held.label("is_held"), is_locked.label("is_locked")).where(
        nodes.c.tenant_id == bindparam("tenant_id"),
        nodes.c.id.in_(bindparam("node_ids", expanding=True)),
        is_held | is_locked,
    )


_MARKED: Final = Statement(_marked())


class MarkedNodes(NamedTuple):
    """The ids of nodes that have holds or locks of their own; ``None``: the caller may not see them."""

    held: Collection[str] | None
    locked: Collection[str]


@dataclass(slots=True, eq=False, repr=False)
class NodeMarks:
    """Finds the holds and locks of nodes that the caller may read."""

    _database: Database
    _clock: Clock
    _memberships: Memberships

    def find(
        self, identity: Identity, tenant_id: str, node_ids: Sequence[str], marks: Collection[str]
    ) -> MarkedNodes:
        """Return which nodes have holds and locks; the role that holds need is read for ``marks``.

        Args:
            marks: :data:`HOLDS`, :data:`LOCKS` or both.

        Raises:
            StepUpRequired, KeyNotAccepted: the tenant demands a stronger login of its members.
        """
        with self._database.read() as connection:
            sees_holds = HOLDS in marks and (
                self._memberships.caller_role(connection, tenant_id, identity) in READERS
            )
            parameters = {"tenant_id": tenant_id, "node_ids": node_ids, "now": self._clock.now()}
            rows = _MARKED.all(connection, parameters)
        held = {row.id for row in rows if row.is_held}
        return MarkedNodes(held if sees_holds else None, {row.id for row in rows if row.is_locked})
