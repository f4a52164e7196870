"""The names on the paths of nodes, from the top that a caller may see."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Select, bindparam, select

from strongroom.clock import Clock
from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl, NodeView
from strongroom.content.nodes.effective_permission import granted_permission
from strongroom.content.nodes.models import nodes
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement


class _Step(NamedTuple):
    """A node on a path, with the caller's own grant on it."""

    id: str
    parent_id: str | None
    name: str
    permission: int


def _around() -> Select[Any]:
    columns = (nodes.c.id, nodes.c.parent_id, nodes.c.name)
    is_start = nodes.c.id.in_(bindparam("ids", expanding=True))
    in_tenant = nodes.c.tenant_id == bindparam("tenant_id")
    around = select(*columns).where(is_start, in_tenant).cte("around", recursive=True)
    above = nodes.alias()
    step = select(above.c.id, above.c.parent_id, above.c.name)
    # UNION removes duplicates: the nodes of a page share their folders.
    around = around.union(step.join(around, above.c.id == around.c.parent_id))
    return select(*around.c, granted_permission(around.c.id))


# Built at the first execution, because building takes longer than importing this module.
_AROUND: Final = Statement(lambda _: _around(), _Step._make)


@dataclass(slots=True, eq=False, repr=False)
class NodePaths:
    """Returns the paths of nodes that a caller can see."""

    _database: Database
    _clock: Clock
    _access: AccessControl

    def find(
        self, caller: AnyCaller, tenant_id: str, node_ids: Iterable[str]
    ) -> Mapping[str, list[str]]:
        """Return the names on the path of each node, the node's own name last.

        A path begins at the topmost folder that the caller can see. It is empty if the caller cannot
        see the node, for example because it was deleted after the list was read.

        Raises:
            TokenInvalid: the caller's login was revoked.
            Forbidden: the caller is not a member of the tenant.
        """
        ids = list(node_ids)
        with self._database.read() as connection:
            access = self._access.find(connection, caller, tenant_id, None)
            is_admin = access.require_member() is Role.ADMIN
            steps = self._steps(connection, caller, tenant_id, ids)
        return {id_: _visible_names(steps, id_, access.folder_id, is_admin=is_admin) for id_ in ids}

    def locate(self, caller: AnyCaller, tenant_id: str, node_id: str) -> tuple[NodeView, list[str]]:
        """Return a node with the caller's permission on it, and the names on its path as above.

        Raises:
            TokenInvalid: the caller's login was revoked.
            Forbidden: the caller is not a member of the tenant, or may not read the node.
            NotFound: the tenant has no such node.
        """
        with self._database.read() as connection:
            access = self._access.find(connection, caller, tenant_id, node_id)
            view = access.require(operations.GET)
            steps = self._steps(connection, caller, tenant_id, [node_id])
        is_admin = access.role is Role.ADMIN
        return view, _visible_names(steps, node_id, access.folder_id, is_admin=is_admin)

    def _steps(
        self, connection: Connection, caller: AnyCaller, tenant_id: str, ids: list[str]
    ) -> dict[str | None, _Step]:
        if not ids:
            return {}
        parameters = {
            "ids": ids,
            "tenant_id": tenant_id,
            "user_id": caller.user_id,
            "now": self._clock.now(),
        }
        return {step.id: step for step in _AROUND.all(connection, parameters)}


def _visible_names(
    steps: Mapping[str | None, _Step], node_id: str, limit: str | None, *, is_admin: bool
) -> list[str]:
    """Return the names on a path below the topmost folder that is visible, and within ``limit``."""
    path = []
    step = steps.get(node_id)
    # The root of a tenant has no parent, and is no node for clients.
    while step is not None and step.parent_id is not None:
        path.append(step)
        step = steps.get(step.parent_id)
    heights = list(enumerate(path, 1))
    visible = max((height for height, step in heights if is_admin or step.permission), default=0)
    if limit is not None:
        visible = min(visible, next((height for height, step in heights if step.id == limit), 0))
    return [step.name for step in reversed(path[:visible])]
