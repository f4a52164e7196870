"""Decides whether the locks of nodes permit a change (RFC 4918, sections 6 and 7)."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Final

from sqlalchemy import CTE, ColumnElement, Connection, Select, bindparam, delete, exists, select

from strongroom.clock import Clock, iso_format
from strongroom.content.nodes.lock_models import LOCK, Lock, node_locks
from strongroom.content.nodes.models import Node, NodeType, folders_around, nodes, subtree
from strongroom.content.nodes.shared_reads import shared_of_tenant
from strongroom.foundation.caller import AnyCaller, DelegatedLimits
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import FileLocked
from strongroom.identity.users.service import UserService

_OF_TENANT: Final = node_locks.c.tenant_id == bindparam("tenant_id")
# The lock that ends last is reported: while it is in force, the end of any other changes nothing.
_LAST_FIRST: Final = (node_locks.c.expires_at.desc(), node_locks.c.id)


def is_live() -> ColumnElement[bool]:
    """Return the condition that a lock has not ended at the time ``now``."""
    return node_locks.c.expires_at > bindparam("now")


def has_lock() -> ColumnElement[bool]:
    """Return the condition that something in ``tenant_id`` is locked at the time ``now``."""
    return exists().where(_OF_TENANT, is_live())


_HAS_LOCK: Final = Statement(select(has_lock()))


def _covering() -> Select[Any]:
    path = folders_around()
    is_covering = (path.c.height == 0) | node_locks.c.is_deep
    locks = select(node_locks).join(path, path.c.id == node_locks.c.node_id)
    return locks.where(is_covering, is_live()).order_by(*_LAST_FIRST)


_COVERING: Final = Statement(_covering(), LOCK)


def _locked_paths() -> CTE:
    """Return the CTE with the locks of a tenant and each folder around them.

    It climbs from the locks, because they are few and a folder may contain millions of nodes.
    """
    start = select(node_locks.c.id.label("lock_id"), nodes.c.parent_id.label("id")).join(
        nodes, nodes.c.id == node_locks.c.node_id
    )
    climb = start.where(_OF_TENANT, is_live()).cte("locked_paths", recursive=True)
    step = select(climb.c.lock_id, nodes.c.parent_id).join(nodes, nodes.c.id == climb.c.id)
    return climb.union_all(step.where(nodes.c.parent_id.is_not(None)))


def _below() -> Select[Any]:
    paths = _locked_paths()
    locks = select(node_locks).join(paths, paths.c.lock_id == node_locks.c.id)
    return locks.where(paths.c.id == bindparam("node_id")).order_by(node_locks.c.node_id, *_LAST_FIRST)


# Built at the first execution, because building takes longer than importing this module.
_BELOW: Final = Statement(lambda _: _below(), LOCK)
_END_WITHIN: Final = Statement(
    lambda _: delete(node_locks).where(node_locks.c.node_id.in_(select(subtree().c.id)))
)


@dataclass(slots=True, eq=False, repr=False)
class NodeLocks:
    """Refuses changes of what is locked unless the request presents the lock, and its user is the same.

    - A lock of a node forbids to replace its content, to rename, move and delete it.
    - A lock of a folder also forbids to add, rename, move and delete what is in the folder itself; a
      deep one forbids all of this in the whole subtree.
    - A folder with something locked in it cannot be moved or deleted.

    Args:
        presented: returns the ids of the locks that the current request presents.
    """

    _clock: Clock
    _users: UserService
    _presented: Callable[[], Collection[str]]

    def require(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        node_ids: Iterable[str],
        whole: Node | None = None,
    ) -> bool:
        """Check that the caller may change nodes, in a transaction that holds the tenant lock.

        Return whether anything in the tenant is locked.

        Args:
            connection: the caller's transaction.
            node_ids: the nodes that change; a folder changes with the names in it.
            whole: a node that is moved or removed with its subtree.

        Raises:
            FileLocked: one of them is locked.
        """
        if not self.has_any(connection, tenant_id):
            return False
        for node_id in node_ids:
            self._require_one(connection, caller, self.covering(connection, node_id))
        if whole is not None:
            for _, locks in groupby(self.below(connection, whole), lambda lock: lock.node_id):
                self._require_one(connection, caller, list(locks))
        return True

    def covering(self, connection: Connection, node_id: str) -> Sequence[Lock]:
        """Return the locks of a node, and the deep ones around it; the last to end is first."""
        return _COVERING.all(connection, {"node_id": node_id, "now": self._clock.now()})

    def below(self, connection: Connection, node: Node) -> Sequence[Lock]:
        """Return the locks in a folder at any depth, node by node."""
        if node.type != NodeType.FOLDER:
            return []
        parameters = {"node_id": node.id, "tenant_id": node.tenant_id, "now": self._clock.now()}
        return _BELOW.all(connection, parameters)

    def end_within(self, connection: Connection, node: Node) -> None:
        """End the locks of a node and of its subtree, as its deletion does."""
        _END_WITHIN.execute(connection, {"node_id": node.id})

    def refusal(self, connection: Connection, caller: AnyCaller, lock: Lock) -> FileLocked:
        """Return the error with the end of a lock, and for members with the user who holds it."""
        if isinstance(caller.key, DelegatedLimits):
            return FileLocked.by(None, iso_format(lock.expires_at))
        names = self._users.summaries(connection, [lock.user_id])
        holder = {"id": lock.user_id, "name": names[0]["name"] if names else ""}
        return FileLocked.by(holder, iso_format(lock.expires_at))

    def has_any(self, connection: Connection, tenant_id: str) -> bool:
        """Return whether anything is locked in a tenant."""
        parameters = {"tenant_id": tenant_id, "now": self._clock.now()}
        read = partial(_HAS_LOCK.scalar, connection, parameters)
        return bool(shared_of_tenant(("locks", tenant_id), read))

    def _require_one(self, connection: Connection, caller: AnyCaller, locks: Sequence[Lock]) -> None:
        """Check that the request presents one of the locks, if there are any.

        Several locks of a node are shared, and each of them gives the same right.
        """
        presented = self._presented() if locks else ()
        if locks and not any(lock.id in presented and lock.user_id == caller.user_id for lock in locks):
            raise self.refusal(connection, caller, locks[0])
