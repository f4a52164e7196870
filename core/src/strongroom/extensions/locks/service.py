"""Takes, renews and releases the locks of files and folders."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from strongroom.clock import Clock
from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.lock_models import LOCK, Lock, node_locks
from strongroom.content.nodes.locks import NodeLocks, is_live
from strongroom.content.nodes.models import Node
from strongroom.content.nodes.removals import RemovalRecords
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, make_page
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import FileLocked, Forbidden, NotFound, TooManyLocks
from strongroom.foundation.ids import new_id
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.deactivation import Deactivation

MAX_LOCKS: Final = 1000
"""Number of locks that a user may hold at a time."""

_SECOND: Final = 1000
_OF_ID: Final = node_locks.c.id == bindparam("of_id")
_OF_USER: Final = node_locks.c.user_id == bindparam("of_user")
_ADD: Final = Statement(insert(node_locks))
_COUNT: Final = Statement(select(func.count()).select_from(node_locks).where(_OF_USER, is_live()))
_RENEW: Final = Statement(
    update(node_locks).where(_OF_ID).values(expires_at=bindparam("new_expires_at"))
)
_RELEASE: Final = Statement(delete(node_locks).where(_OF_ID))
_END_ALL: Final = Statement(delete(node_locks).where(_OF_USER))
_END_IN_TENANT: Final = Statement(
    delete(node_locks).where(_OF_USER, node_locks.c.tenant_id == bindparam("of_tenant"))
)


@dataclass(frozen=True, slots=True)
class WantedLock:
    """A lock to be taken.

    Args:
        seconds: how long it lasts unless it is renewed.
        is_shared: whether other shared locks may cover the same.
        is_deep: whether it covers everything in a folder, at any depth.
        note: a text of the client, such as its name.
        id: its id; ``None``: a new one.
    """

    seconds: int
    is_shared: bool = False
    is_deep: bool = True
    note: str = ""
    id: str | None = None


@dataclass(slots=True, eq=False, repr=False)
class LockService:
    """The write locks of files and folders (RFC 4918, section 6)."""

    _database: Database
    _clock: Clock
    _access: AccessControl
    _locks: NodeLocks
    _users: UserService
    _records: RemovalRecords

    def page(
        self, caller: AnyCaller, tenant_id: str, node_id: str, paging: Paging
    ) -> tuple[Page[Lock], list[dict[str, str]]]:
        """Return a page of the locks that cover a node, the last to end first, and their holders.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not read the node.
            NotFound: the tenant has no such node.
        """
        with self._database.read() as connection:
            self._access.require(connection, caller, tenant_id, node_id, operations.LIST_LOCKS)
            locks = self._locks.covering(connection, node_id)
            page = make_page(locks, paging, _end, descending=True)
            return page, self._users.summaries(connection, {lock.user_id for lock in page.items})

    def covering(
        self, caller: AnyCaller, tenant_id: str, node_ids: Iterable[str]
    ) -> dict[str, Sequence[Lock]]:
        """Return the locks that cover nodes which the caller may read, without nodes that have none."""
        with self._database.read() as connection:
            if not self._locks.has_any(connection, tenant_id):
                return {}
            covered = {id_: self._locks.covering(connection, id_) for id_ in node_ids}
            return {
                id_: locks
                for id_, locks in covered.items()
                if locks and self._may_read(connection, caller, tenant_id, id_)
            }

    def _may_read(self, connection: Connection, caller: AnyCaller, tenant_id: str, node_id: str) -> bool:
        access = self._access.find(connection, caller, tenant_id, node_id)
        return access.node is not None and access.may(operations.LIST_LOCKS)

    def take(self, caller: AnyCaller, tenant_id: str, node_id: str, request: WantedLock) -> Lock:
        """Lock a node for changes by others.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not write to the node.
            NotFound: the tenant has no such node.
            FileLocked: another lock excludes it.
            TooManyLocks: the caller holds as many locks as allowed.
        """
        with self._database.write() as connection:
            # All changes of the tenant's tree take this lock, so none of them is in progress.
            self._access.memberships.lock_tenant(connection, tenant_id)
            node = self._access.require(connection, caller, tenant_id, node_id, operations.LOCK).node
            self._require_compatible(connection, caller, node, request)
            self._require_few(connection, caller)
            now = self._clock.now()
            lock = Lock(
                request.id or new_id(),
                node_id,
                tenant_id,
                caller.user_id,
                request.is_shared,
                request.is_deep,
                request.note,
                now,
                now + request.seconds * _SECOND,
            )
            try:
                _ADD.execute(connection, LOCK.values(lock))
            except IntegrityError as error:
                # Another request has used the same announced id.
                raise FileLocked from error
            return lock

    def renew(self, caller: AnyCaller, tenant_id: str, node_id: str, lock_id: str, seconds: int) -> Lock:
        """Let a lock of the caller last for a time from now.

        Raises:
            Forbidden: the caller may not write to the node, or does not hold the lock.
            NotFound: no such lock covers the node, for example because it has ended.
        """
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            self._access.require(connection, caller, tenant_id, node_id, operations.LOCK)
            lock = self._find(connection, node_id, lock_id)
            if lock.user_id != caller.user_id:
                raise Forbidden
            renewed = lock._replace(expires_at=self._clock.now() + seconds * _SECOND)
            _RENEW.execute(connection, {"of_id": lock_id, "new_expires_at": renewed.expires_at})
            return renewed

    def release(self, caller: AnyCaller, tenant_id: str, node_id: str, lock_id: str) -> None:
        """End a lock of the caller; or of another user, if the caller manages what is locked.

        Raises:
            Forbidden: the caller may not end the lock.
            NotFound: no such lock covers the node, for example because it has ended.
        """
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            self._access.require(connection, caller, tenant_id, node_id, operations.UNLOCK)
            lock = self._find(connection, node_id, lock_id)
            if lock.user_id == caller.user_id:
                _RELEASE.execute(connection, {"of_id": lock_id})
                return
            node = self._require_manageable(connection, caller, lock)
            _RELEASE.execute(connection, {"of_id": lock_id})
            self._records.record_lock(connection, caller, node, lock.user_id)

    def deactivate(self, connection: Connection, deactivation: Deactivation) -> None:
        """End the locks of a user, or the ones in one tenant."""
        parameters = {"of_user": deactivation.user_id, "of_tenant": deactivation.tenant_id}
        (_END_ALL if deactivation.is_of_account else _END_IN_TENANT).execute(connection, parameters)

    def prune(self) -> int:
        """Delete the locks that have ended, and return their number."""
        return prune(self._database, node_locks.c.id, node_locks.c.expires_at <= self._clock.now())

    def _require_compatible(
        self, connection: Connection, caller: AnyCaller, node: Node, request: WantedLock
    ) -> None:
        locks = list(self._locks.covering(connection, node.id))
        if request.is_deep:
            locks += self._locks.below(connection, node)
        for lock in locks:
            if not (lock.is_shared and request.is_shared):
                raise self._locks.refusal(connection, caller, lock)

    def _require_few(self, connection: Connection, caller: AnyCaller) -> None:
        parameters = {"of_user": caller.user_id, "now": self._clock.now()}
        if _COUNT.scalar(connection, parameters) >= MAX_LOCKS:
            raise TooManyLocks

    def _find(self, connection: Connection, node_id: str, lock_id: str) -> Lock:
        """Return a lock that covers a node."""
        for lock in self._locks.covering(connection, node_id):
            if lock.id == lock_id:
                return lock
        raise NotFound

    def _require_manageable(self, connection: Connection, caller: AnyCaller, lock: Lock) -> Node:
        # The route also releases own locks, so it accepts the access keys that may do this alone.
        if caller.identity is not None:
            caller.identity.require_scope(operations.BREAK_LOCK)
        access = self._access.find(connection, caller, lock.tenant_id, lock.node_id)
        if access.node is None or not access.may(operations.BREAK_LOCK):
            raise Forbidden
        return access.node


def _end(lock: Lock) -> tuple[int, str]:
    """Return the key that locks are sorted by: the last to end is greatest."""
    return lock.expires_at, lock.id
