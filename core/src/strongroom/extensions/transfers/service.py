"""Transfers the files, folders and grants of a user to another member of the tenant.

A user may own millions of nodes, so the transfer is a series of short transactions. Each of them
leaves correct permissions. Lists of the new owner are complete at the end. The next transfer of the same
user continues an interrupted one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Executable, bindparam, delete, select, update

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.content.nodes.grant_copies import copied_columns
from strongroom.content.nodes.models import FOREVER, NODE, Node, Permission, grants, nodes
from strongroom.content.nodes.visibility import Visibility
from strongroom.content.tenants.memberships import Memberships
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.functions import greatest
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import NotAMember, ValidationFailed

_TURN: Final = 500

_OWNED: Final = Statement(
    select(nodes)
    .where(
        nodes.c.tenant_id == bindparam("tenant_id"),
        nodes.c.owner_id == bindparam("from_user"),
        # The root belongs to the tenant.
        nodes.c.parent_id.is_not(None) | nodes.c.trash_id.is_not(None),
    )
    .limit(_TURN),
    NODE,
)
# The revision changes, because the JSON of a node contains its owner and is cached by the revision.
_CHANGE_OWNER: Final = Statement(
    update(nodes)
    .where(nodes.c.id.in_(bindparam("nodes", expanding=True)))
    .values(
        owner_id=bindparam("to_user"),
        revision=greatest(nodes.c.revision + 1, bindparam("now", type_=nodes.c.revision.type)),
    )
)
_HELD: Final = Statement(
    select(grants)
    .where(grants.c.tenant_id == bindparam("tenant_id"), grants.c.user_id == bindparam("from_user"))
    .limit(_TURN)
)
_OF_NODES: Final = (grants.c.user_id == bindparam("user")) & grants.c.node_id.in_(
    bindparam("nodes", expanding=True)
)
_EXISTING: Final = Statement(select(grants).where(_OF_NODES))
_REMOVE: Final = Statement(delete(grants).where(_OF_NODES))


def _putting(insert: Any) -> Executable:
    replaced = {name: insert.excluded[name] for name in ("permission", "expires_at", "granted_by")}
    keys = [grants.c.node_id, grants.c.user_id]
    putting: Executable = insert.on_conflict_do_update(index_elements=keys, set_=replaced)
    return putting


_PUT: Final = Statement(for_each_dialect(grants, _putting))


Turn = Callable[[Connection, Mapping[str, str]], int]
"""Transfers some rows, and returns their number."""


@dataclass(frozen=True, slots=True)
class Transferred:
    """The numbers of transferred nodes and grants."""

    nodes: int
    grants: int


@dataclass(slots=True, eq=False, repr=False)
class TransferService:
    """Transfers what a member owns and was granted, for administrators of the tenant."""

    _database: Database
    _clock: Clock
    _memberships: Memberships
    _visibility: Visibility
    _audit: AuditService

    def transfer(
        self, identity: Identity, tenant_id: str, user_id: str, to_user_id: str, origin: Origin
    ) -> Transferred:
        """Make another member the owner of all nodes of a user, and the holder of all grants.

        If both hold a grant on one node, the higher permission counts, and of two equal ones the later
        end. The user's membership stays. The nodes of a former member, whose grants are gone, are then
        managed by the new owner.

        Raises:
            Forbidden: the caller does not administer the tenant.
            ValidationFailed: both users are the same.
            NotAMember: the other user is not a member of the tenant.
        """
        return self._transfer(identity, identity.user_id, tenant_id, user_id, to_user_id, origin)

    def transfer_of_directory(
        self, tenant_id: str, user_id: str, to_user_id: str, origin: Origin
    ) -> Transferred:
        """Transfer as :meth:`transfer` does, as the configuration of a directory says.

        An administrator of the tenant has chosen the new owner before.

        Raises:
            ValidationFailed, NotAMember: as :meth:`transfer`.
        """
        return self._transfer(None, None, tenant_id, user_id, to_user_id, origin)

    def _transfer(
        self,
        identity: Identity | None,
        actor_id: str | None,
        tenant_id: str,
        user_id: str,
        to_user_id: str,
        origin: Origin,
    ) -> Transferred:
        if user_id == to_user_id:
            raise ValidationFailed.of_field("toUserId", "same-user", "Must be another member.")
        users = {"tenant_id": tenant_id, "from_user": user_id, "to_user": to_user_id}
        owned = self._turns(identity, users, self._change_owners)
        held = self._turns(identity, users, self._move_grants)
        self._refresh(identity, users)
        done = Transferred(owned, held)
        with self._database.write() as connection:
            self._require(connection, identity, users)
            self._record(connection, actor_id, users, done, origin)
        return done

    def _turns(self, identity: Identity | None, users: Mapping[str, str], turn: Turn) -> int:
        """Repeat a turn until it changes nothing; each checks the rights again."""
        total = 0
        while True:
            with self._database.write() as connection:
                self._require(connection, identity, users)
                changed = turn(connection, users)
            if not changed:
                return total
            total += changed

    def _require(
        self, connection: Connection, identity: Identity | None, users: Mapping[str, str]
    ) -> None:
        tenant_id = users["tenant_id"]
        if identity is None:
            self._memberships.lock_tenant(connection, tenant_id)
        else:
            self._memberships.lock_as_admin(connection, tenant_id, identity)
        if self._memberships.role(connection, tenant_id, users["to_user"]) is None:
            raise NotAMember.of_field("toUserId", "not-a-member", "Must be a member of the tenant.")

    def _change_owners(self, connection: Connection, users: Mapping[str, str]) -> int:
        owned = _OWNED.all(connection, users)
        ids = [node.id for node in owned]
        if not ids:
            return 0
        now = self._clock.now()
        _CHANGE_OWNER.execute(connection, {"nodes": ids, "to_user": users["to_user"], "now": now})
        # The grants of a member are transferred; a former member's grants are gone.
        if self._memberships.role(connection, users["tenant_id"], users["from_user"]) is None:
            self._put(connection, users, [_of_owner(users, node, now) for node in owned])
        return len(ids)

    def _move_grants(self, connection: Connection, users: Mapping[str, str]) -> int:
        grant_rows = [row._asdict() for row in _HELD.all(connection, users)]
        if not grant_rows:
            return 0
        ids = [grant["node_id"] for grant in grant_rows]
        _REMOVE.execute(connection, {"user": users["from_user"], "nodes": ids})
        self._put(connection, users, [{**grant, "user_id": users["to_user"]} for grant in grant_rows])
        return len(grant_rows)

    def _put(
        self, connection: Connection, users: Mapping[str, str], rows: Sequence[dict[str, Any]]
    ) -> None:
        """Add grants of the new owner, except where the new owner has a better one."""
        ids = [grant["node_id"] for grant in rows]
        others = _EXISTING.all(connection, {"user": users["to_user"], "nodes": ids})
        existing = {row.node_id: row._asdict() for row in others}
        better = [grant for grant in rows if _rank(grant) > _rank(existing.get(grant["node_id"]))]
        if better:
            _PUT.execute(connection, better)
        # The former holder may have seen the parents of the nodes through other grants.
        self._visibility.refresh_on(connection, users["to_user"], ids)

    def _refresh(self, identity: Identity | None, users: Mapping[str, str]) -> None:
        """Recompute the new holder's top-level nodes, whose folders may have been transferred later."""
        with self._database.read() as connection:
            ids = self._visibility.top_level(connection, users["tenant_id"], users["to_user"])
        for start in range(0, len(ids), _TURN):
            with self._database.write() as connection:
                self._require(connection, identity, users)
                self._visibility.refresh_on(connection, users["to_user"], ids[start : start + _TURN])

    def _record(
        self,
        connection: Connection,
        actor_id: str | None,
        users: Mapping[str, str],
        done: Transferred,
        origin: Origin,
    ) -> None:
        event = AuditEvent(
            "member.transfer",
            actor_id=actor_id,
            target_type="tenant",
            target_id=users["tenant_id"],
            origin=origin,
            details={
                "user": users["from_user"],
                "toUser": users["to_user"],
                "nodes": str(done.nodes),
                "grants": str(done.grants),
            },
        )
        self._audit.record(connection, event)


def _of_owner(users: Mapping[str, str], node: Node, now: int) -> dict[str, Any]:
    return {
        "node_id": node.id,
        "user_id": users["to_user"],
        "tenant_id": users["tenant_id"],
        "permission": int(Permission.MANAGE),
        "expires_at": None,
        "granted_by": users["to_user"],
        "created_at": now,
        **copied_columns(node),
        # As for a node in the trash; computed afterwards for others.
        "parent_visible_until": None,
    }


def _rank(grant: Mapping[str, Any] | None) -> tuple[int, int]:
    if grant is None:
        return (0, 0)
    end = FOREVER if grant["expires_at"] is None else grant["expires_at"]
    return (grant["permission"], end)
