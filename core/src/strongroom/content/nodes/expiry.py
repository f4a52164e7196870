"""Expiry rules: a permission gained through a grant expires no later than that grant.

The owner of a folder who grants ``manage`` for an hour relies on regaining exclusive control after that
hour. So neither the grantee nor any other user may gain a permission that lasts longer, whether by a
grant, by a new file or folder, or by a move. A move uses two permissions. ``manage`` on the node gives
users with grants on the new folder access to the node; ``write`` on the new folder gives users with
grants inside the moved subtree write access within that folder. Neither gain may outlast the permission
that allowed it.

The same holds for what a caller lets others do through an access key: a grant ends with the key, and so
does what a plugin gives to others, such as a share link (:meth:`ExpiryRules.tenure`). The keys of a
service account limit its grants only if they have a folder, because keys are its only login. What the
user of a key makes for itself, such as a file, and a move are changes of that user, and remain.

A group's grant counts for its members until the grant expires, because a membership has no expiry. For a
move, a group counts as a user of its own: if the group gains nothing, no present or future member gains
anything through it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from sqlalchemy import (
    CTE,
    ColumnElement,
    CompoundSelect,
    Connection,
    Select,
    Table,
    bindparam,
    func,
    select,
    union_all,
)

from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.grant_ends import ENDLESS, Ends, ends_by_holder, ends_of_user
from strongroom.content.nodes.models import (
    FOREVER,
    Grant,
    Node,
    Permission,
    grants,
    group_grants,
    subtree,
)
from strongroom.content.nodes.shared_reads import shared_of_folder
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import AnyCaller, KeyLimits
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import Forbidden
from strongroom.identity.users.models import UserType
from strongroom.plugin_api.files import Tenure


def _writers_in(table: Table, holder: ColumnElement[str], below: CTE) -> Select[Any]:
    end = func.coalesce(table.c.expires_at, FOREVER)
    return (
        select(holder, func.max(end))
        .join(below, table.c.node_id == below.c.id)
        .where(table.c.permission >= int(Permission.WRITE), end > bindparam("until"))
        .group_by(holder)
    )


def _writers_within() -> CompoundSelect[Any]:
    # Users and groups with a write grant inside the moved subtree that lasts past `until`.
    below = subtree()
    return union_all(
        _writers_in(grants, grants.c.user_id, below),
        _writers_in(group_grants, group_grants.c.group_id, below),
    )


# Built at the first execution, because building takes longer than importing this module.
_WRITERS_WITHIN: Final = Statement(lambda _: _writers_within())


_OUTLASTS: Final = "A grant may not outlast your own permission."


class Requested(Protocol):
    """The attributes of a grant, to a user or to a group, that decide how long it may last."""

    @property
    def permission(self) -> Permission:
        """The permission."""

    @property
    def expires_at(self) -> int | None:
        """Its end in milliseconds since the Unix epoch; ``None``: it has none."""


@dataclass(slots=True, eq=False, repr=False)
class ExpiryRules:
    """Rejects changes through which a permission would outlast the one that it derives from."""

    _access: AccessControl

    def tenure(self, connection: Connection, caller: AnyCaller, node: Node) -> Tenure:
        """Return how long a caller who manages a node does so: until the grant or the key ends."""
        end, key = self._ends(connection, caller, node, node.id).manage, _get_key_limits(caller)
        if key is not None:
            end = min(end, key.ends_at)
        return Tenure(None if end == FOREVER else end, key.key_id or None if key else None)

    def grant_end(
        self,
        connection: Connection,
        caller: AnyCaller,
        node: Node,
        requested: Requested,
        before: Requested | None,
    ) -> int | None:
        """Return when a requested grant ends, which is no later than the caller's own permission.

        Without a requested end, it is the one of the caller's access key, if that limits grants.

        Args:
            connection: the transaction that makes the grant.
            caller: the caller, who manages the node.
            before: the grant that it replaces, if there is one.

        Raises:
            Forbidden: the grant would outlast the caller's own permission.
        """
        end = FOREVER if requested.expires_at is None else requested.expires_at
        if end > self._ends(connection, caller, node, node.id).manage:
            raise Forbidden(_OUTLASTS)
        # What the holder has already is not given by the key.
        latest = max(_end_by_key(caller), _get_end(before, requested.permission))
        if end <= latest:
            return requested.expires_at
        if requested.expires_at is not None or not self._access.is_unexpired(latest):
            raise Forbidden(_OUTLASTS)
        return latest

    def require_owner_untouched(
        self,
        connection: Connection,
        caller: AnyCaller,
        node: Node,
        before: Grant,
        after: Grant | None,
    ) -> None:
        """Check that only the owner or a tenant administrator reduces the owner's permission.

        Raises:
            Forbidden: another manager would lower, shorten or remove the owner's ``manage``.
        """
        if before.user_id != node.owner_id or caller.user_id == node.owner_id:
            return
        if (
            # An expired grant gives nothing that could be taken away.
            not self._access.is_unexpired(before.expires_at)
            or _get_ends(after).manage >= _get_ends(before).manage
        ):
            return
        if not self._is_administrator(connection, node.tenant_id, caller.user_id):
            raise Forbidden("Only the owner or an administrator may reduce the owner's permission.")

    def require_movable(
        self,
        connection: Connection,
        caller: AnyCaller,
        node: Node,
        folder_id: str,
        former_folder_id: str | None = None,
    ) -> None:
        """Check that the move gives no user a permission that outlasts the caller's permissions.

        Args:
            connection: the transaction that moves the node.
            caller: the caller, who manages the node and may write to the folder.
            folder_id: the new parent folder, or the tenant's root.
            former_folder_id: the folder that a node in the trash was in; ``None`` if it is gone.

        Raises:
            Forbidden: a user or a group would gain such a permission.
        """
        # A node in the trash has no parent, but the grants on the folder that it was in still count.
        around = [node.id, *([former_folder_id] if former_folder_id else [])]
        managed_until = max(self._ends(connection, caller, node, id_).manage for id_ in around)
        # Every member may create nodes at the top level, without an expiry.
        is_top = folder_id == node.tenant_id
        read = partial(self._ends, connection, caller, node, folder_id)
        key = ("ends", caller.user_id, folder_id)
        target = ENDLESS if is_top else shared_of_folder(key, read)
        # Nothing outlasts a permanent permission, so the common case needs no further query.
        if managed_until == target.write == FOREVER:
            return
        there = ends_by_holder(connection, folder_id)
        gaining = self._gain_node(connection, around, there, managed_until)
        gaining |= self._gain_folder(connection, node, there, target.write)
        # Administrators gain nothing: they manage every node already. Groups have no role.
        if any(not self._is_administrator(connection, node.tenant_id, holder) for holder in gaining):
            raise Forbidden("The move would give permissions that outlast yours.")

    def _ends(self, connection: Connection, caller: AnyCaller, node: Node, node_id: str) -> Ends:
        return ends_of_user(connection, node.tenant_id, node_id, caller.user_id)

    def _gain_node(
        self, connection: Connection, around: Sequence[str], there: Mapping[str, Ends], until: int
    ) -> set[str]:
        """Return holders whose access to the node would last past ``until`` and longer than before."""
        if until == FOREVER:
            return set()
        # A gain up to `until`, or up to what the holder already has on the node, is allowed.
        here = [ends_by_holder(connection, node_id) for node_id in around]
        return {
            holder
            for holder, ends in there.items()
            if ends.exceed(_at_least((held.get(holder, Ends()) for held in here), until))
        }

    def _gain_folder(
        self, connection: Connection, node: Node, there: Mapping[str, Ends], until: int
    ) -> set[str]:
        """Return holders whose grants in the subtree would let them write there past ``until``."""
        if until == FOREVER:
            return set()
        writers = _WRITERS_WITHIN.all(connection, {"node_id": node.id, "until": until})
        return {holder for holder, end in writers if end > there.get(holder, Ends()).write}

    def _is_administrator(self, connection: Connection, tenant_id: str, user_id: str) -> bool:
        return self._access.memberships.role(connection, tenant_id, user_id) is Role.ADMIN


def _get_key_limits(caller: AnyCaller) -> KeyLimits | None:
    return caller.identity.key if caller.identity else None


def _end_by_key(caller: AnyCaller) -> int:
    """Return when the grants of a caller end because of the access key."""
    key = _get_key_limits(caller)
    if key is None:
        return FOREVER
    # A service account has no other login than its keys, so their end is not its own.
    is_login = caller.identity is not None and caller.identity.user_type == UserType.SERVICE
    return FOREVER if is_login and key.folder_id is None else key.ends_at


def _get_end(grant: Requested | None, permission: Permission) -> int:
    """Return when a grant ends that gives at least a permission; 0 without one."""
    if grant is None or grant.permission < permission:
        return 0
    return FOREVER if grant.expires_at is None else grant.expires_at


def _at_least(held: Iterable[Ends], until: int) -> Ends:
    # The node moves with its own grants, so a holder gains only what lasts longer than those.
    levels = zip(*((ends.read, ends.write, ends.manage) for ends in held), strict=True)
    return Ends(*(max(until, *level) for level in levels))


def _get_ends(grant: Grant | None) -> Ends:
    if grant is None:
        return Ends()
    end = FOREVER if grant.expires_at is None else grant.expires_at
    # A permission includes all lower levels.
    levels = [end if grant.permission >= level else 0 for level in Permission if level]
    return Ends(*levels)
