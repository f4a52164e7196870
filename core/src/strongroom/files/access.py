"""Authorization of files and folders: the only module that decides access to a node.

One query answers whether the caller's login is valid, the caller's role in the tenant, the effective
permission and the node; :class:`NodeAccess` derives the result or the error from its row. A new source
of permission is one more term of :func:`effective_permission`, as the grants to groups are. What the
tenant demands of a login is two columns of :func:`access_query`; a login that does not meet them has no
role and no permission, and :meth:`NodeAccess.require_member` reports why. :func:`key_access_query`
limits the same query by an access key: its tenant, its folder, and the permission that its scopes allow.
In the same way, :func:`delegated_access_query` limits a user's rights that a plugin uses for a
visitor.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    Table,
    bindparam,
    case,
    func,
    literal,
    literal_column,
    select,
    true,
)

from strongroom.access_keys.store import KEY_COLUMNS, good_key
from strongroom.assurance import Demand, demand_of
from strongroom.clock import Clock
from strongroom.database.functions import greatest
from strongroom.database.statements import Statement
from strongroom.errors import (
    Forbidden,
    NotAFolder,
    NotFound,
    TokenInvalid,
    UserSuspended,
    ValidationFailed,
)
from strongroom.files.grant_ends import with_granted_ends
from strongroom.files.models import (
    NODE,
    Node,
    NodeType,
    Permission,
    folders_around,
    grants,
    group_grants,
    nodes,
)
from strongroom.identity import AnyCaller, DelegatedLimits, Identity, KeyLimits
from strongroom.scanning.states import require_readable
from strongroom.sessions.store import good_authorization
from strongroom.tenants.group_members import groups_of_user, is_in_any_group, is_in_group
from strongroom.tenants.memberships import Memberships, membership
from strongroom.tenants.models import Role
from strongroom.users.service import type_of_active

_NODE_COLUMNS: Final = len(nodes.c)
_LOGIN_COLUMNS: Final = len(good_authorization().c)
_ROLES: Final[Mapping[str | None, Role | None]] = {None: None, **{role.value: role for role in Role}}
_PERMISSIONS: Final[Mapping[int, Permission]] = {
    int(permission): permission for permission in Permission
}
# A literal, because bound constants are merged into the parameters of each execution.
_NOTHING: Final[ColumnElement[int]] = literal_column(str(int(Permission.NONE)))


def is_in_force(now: int | ColumnElement[int], table: Table = grants) -> ColumnElement[bool]:
    """Return the condition that a grant has not expired; ``table`` may be :data:`group_grants`."""
    return table.c.expires_at.is_(None) | (table.c.expires_at > now)


def is_at_top(now: int | ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a grant makes a node top-level: the parent folder is not visible."""
    until = grants.c.parent_visible_until
    # `+ 0` keeps the planner on the index that returns the rows in list order.
    return until.is_not(None) & (until + 0 <= now) & is_in_force(now)


def own_permission(node_id: ColumnElement[str]) -> ColumnElement[int]:
    """Return the SQL expression for the grant of ``user_id`` on a node itself; 0 without one."""
    held = select(grants.c.permission).where(
        grants.c.node_id == node_id,
        grants.c.user_id == bindparam("user_id"),
        is_in_force(bindparam("now")),
    )
    return func.coalesce(held.scalar_subquery(), _NOTHING)


def group_permission(node_id: ColumnElement[str]) -> ColumnElement[int]:
    """Return the SQL expression for the highest grant of the user's groups on a node itself.

    The groups' members are read here, so a change of a group takes effect with its transaction.
    """
    held = select(func.max(group_grants.c.permission)).where(
        group_grants.c.node_id == node_id,
        is_in_group(group_grants.c.group_id),
        is_in_force(bindparam("now"), group_grants),
    )
    return func.coalesce(held.scalar_subquery(), _NOTHING)


def held_permission(node_id: ColumnElement[str]) -> ColumnElement[int]:
    """Return the SQL expression for the user's highest grant on a node itself; 0 without any.

    It is inherited by everything below the node. The parameters are ``user_id`` and ``now``.
    """
    # The condition does not depend on the node, so it is evaluated once. It spares users who are in no
    # group a search per node.
    of_groups = case((is_in_any_group(), group_permission(node_id)), else_=_NOTHING)
    # Correlated subqueries per node keep the planner from scanning all grants of the user.
    return greatest(own_permission(node_id), of_groups)


def granted_nodes() -> Select[Any]:
    """Return the query for nodes in a tenant that have a grant to the user, or to one of the groups.

    The user sees them and everything below them, and nothing else. Nodes below another one with an own
    grant are left out, as the creator of many nodes has a grant on each of them. The parameters are
    ``user_id``, ``tenant_id`` and ``now``.
    """
    now: ColumnElement[int] = bindparam("now")
    is_mine = grants.c.user_id == bindparam("user_id")
    in_tenant = grants.c.tenant_id == bindparam("tenant_id")
    own = select(grants.c.node_id.label("id")).where(is_mine, in_tenant, is_at_top(now))
    of_groups = select(group_grants.c.node_id).where(
        group_grants.c.group_id.in_(groups_of_user()), is_in_force(now, group_grants)
    )
    held = own.union(of_groups).subquery("held")
    return select(held.c.id)


def is_live() -> ColumnElement[bool]:
    """Return the condition that a node exists for clients: neither a tenant's root nor in the trash."""
    return (nodes.c.id != nodes.c.tenant_id) & nodes.c.trash_id.is_(None)


def _highest_grant(node: str) -> Select[Any]:
    path = folders_around(node)
    return select(func.max(held_permission(path.c.id))).select_from(path)


def effective_permission(role: ColumnElement[str], node: str = "node_id") -> ColumnElement[int]:
    """Return the SQL expression for a member's permission on a node.

    Tenant administrators manage every node of their tenant. Other members hold the highest permission
    granted to them, or to one of their groups, on the node or on one of its ancestors. Non-members,
    whose ``role`` is NULL, have none. The parameters are ``tenant_id``, ``user_id``, ``now``, and the
    one that ``node`` names.
    """
    granted = func.coalesce(_highest_grant(node).scalar_subquery(), int(Permission.NONE))
    none = (role.is_(None), int(Permission.NONE))
    return case(none, (role == Role.ADMIN.value, int(Permission.MANAGE)), else_=granted)


def _is_node() -> ColumnElement[bool]:
    is_node = (nodes.c.id == bindparam("node_id")) & (nodes.c.tenant_id == bindparam("tenant_id"))
    # Clients find no node in the trash by its id, with any permission.
    return is_node & nodes.c.trash_id.is_(None)


def access_query(login: FromClause | None = None) -> Select[Any]:
    """Return the query whose row is an :class:`NodeAccess`: login, role, effective permission and node.

    It returns exactly one row. A revoked login, a missing membership or a missing node is NULL, because
    the error depends on which of them is missing. Its parameters are ``tenant_id``, ``node_id``,
    ``user_id`` and ``now``, and those of ``login``.

    Args:
        login: a subquery that verifies the caller's login, with at most one row; its columns come first.
    """
    # The one-row anchor makes every table optional, so the query returns a row in all cases.
    member, anchor = membership(), select(literal(1).label("one")).subquery("anchor")
    tables = anchor.outerjoin(member, true()).outerjoin(nodes, _is_node())
    permission = effective_permission(member.c.role).label("permission")
    columns = (*member.c, permission, *nodes.c)
    if login is None:
        return select(*columns).select_from(tables)
    return select(*login.c, *columns).select_from(tables.outerjoin(login, true()))


def key_access_query(dialect: str) -> Select[Any]:
    """Return :func:`access_query` for a caller with an access key, whose columns come first.

    The user's role is NULL in tenants other than the key's. The permission is the user's, at most that
    of the key's scopes, and none outside of the key's folder. The folder of a deleted key is NULL as
    well: callers check ``user_type`` first.
    """
    member, key = membership(), good_key()
    anchor, path = select(literal(1).label("one")).subquery("anchor"), folders_around()
    key_tenant, key_folder = key.c.key_tenant_id, key.c.key_folder_id
    reaches_tenant = key_tenant.is_(None) | (key_tenant == bindparam("tenant_id"))
    within = key_folder.is_(None) | key_folder.in_(select(path.c.id))
    # The minimum is min() on SQLite and LEAST() on PostgreSQL.
    least = func.min if dialect == "sqlite" else func.least
    limited = least(effective_permission(member.c.role), func.coalesce(key.c.max_permission, 0))
    permission = case((within, limited), else_=int(Permission.NONE)).label("permission")
    tables = anchor.outerjoin(key, true()).outerjoin(member, reaches_tenant)
    columns = (*key.c, *member.c, permission, *nodes.c)
    return select(*columns).select_from(tables.outerjoin(nodes, _is_node()))


def delegated_access_query(dialect: str) -> Select[Any]:
    """Return :func:`access_query` for a user whose rights a plugin uses within :class:`DelegatedLimits`.

    The type of the user comes first, NULL unless the user is active. The user's role is NULL in other
    tenants. The permission is the user's, at most ``max_permission``, below the node ``limit_node_id``
    only, and none at all unless the user holds ``required_permission`` on that node.
    """
    member, path = membership(), folders_around()
    user = select(type_of_active(bindparam("user_id")).label("user_type")).subquery("delegating_user")
    reaches_tenant = bindparam("limit_tenant_id") == bindparam("tenant_id")
    within = bindparam("limit_node_id").in_(select(path.c.id))
    # Permission is inherited, so the user may hold more on a node below than on the limiting one.
    held = effective_permission(member.c.role, "limit_node_id")
    least = func.min if dialect == "sqlite" else func.least
    limited = least(effective_permission(member.c.role), bindparam("max_permission"))
    is_held = within & (held >= bindparam("required_permission"))
    permission = case((is_held, limited), else_=int(Permission.NONE)).label("permission")
    tables = user.outerjoin(member, reaches_tenant).outerjoin(nodes, _is_node())
    return select(user.c.user_type, *member.c, permission, *nodes.c).select_from(tables)


class NodeView(NamedTuple):
    """A node and one user's permission on it."""

    node: Node
    permission: Permission


class NodeAccess(NamedTuple):
    """A user's role in a tenant and permission on one of its nodes.

    Args:
        role: the role; ``None`` for a non-member, whether or not the tenant exists, and for a member
            whose login does not meet the demand.
        permission: the effective permission.
        node: the node, which may be the tenant's root; ``None`` if the tenant has no such node.
        more: further columns of the query.
        key: the limits of the caller's access key; ``None`` for a login. The permission is within them.
        demand: what the tenant demands of the logins of its members.
        caller: the caller, if the demand is not met.
    """

    role: Role | None
    permission: Permission
    node: Node | None
    more: Sequence[Any] = ()
    key: KeyLimits | None = None
    demand: Demand | None = None
    caller: Identity | None = None

    def within_demand(self, caller: Identity, now: int) -> "NodeAccess":
        """Return the access of a caller's login, which is none unless it meets the tenant's demand."""
        if self.demand is None or self.demand.is_met(caller, now):
            return self
        return self._replace(role=None, permission=Permission.NONE, caller=caller)

    @property
    def folder_id(self) -> str | None:
        """The only folder that the caller's access key reaches; ``None``: there is no such limit."""
        return None if self.key is None else self.key.folder_id

    @property
    def ceiling(self) -> Permission:
        """The highest permission that the caller can have on any node."""
        return Permission.MANAGE if self.key is None else Permission(self.key.max_permission)

    def require_member(self) -> Role:
        """Return the role of the user.

        Raises:
            Forbidden: the user is not a member of the tenant, whether or not it exists.
            StepUpRequired, KeyNotAdmitted: the tenant demands a stronger login of its members.
        """
        if self.role is None:
            raise Forbidden if self.demand is None else self.demand.refusal(self.caller)
        return self.role

    def require_admin(self) -> None:
        """Check that the user administers the tenant.

        Raises:
            Forbidden: the user does not, the caller's access key reaches only a folder, or the tenant
                does not exist.
        """
        if self.require_member() is not Role.ADMIN or self.folder_id is not None:
            raise Forbidden

    def require_top_level(self) -> None:
        """Check that the caller may create nodes at the top level, as every member may.

        Raises:
            Forbidden: the user is not a member of the tenant, or the caller's access key reaches only a
                folder, or may not write.
        """
        self.require_member()
        if self.folder_id is not None or self.ceiling < Permission.WRITE:
            raise Forbidden

    def require(self, needed: Permission) -> "NodeView":
        """Return the node with the user's permission on it.

        Raises:
            Forbidden: the user is not a member of the tenant, or lacks the permission.
            NotFound: the tenant has no such node.
        """
        # Membership comes first, so that non-members cannot find out which nodes exist.
        self.require_member()
        # The tenant's root is no node for clients.
        if self.node is None or self.node.is_root:
            raise NotFound
        if self.permission < needed:
            raise Forbidden
        return NodeView(self.node, self.permission)

    def require_content(self) -> Node:
        """Return the node if the user may read it and its content, which folders do not have.

        Raises:
            Forbidden: the user is not a member of the tenant, or may not read the node.
            NotFound: the tenant has no such node.
            NotScannedYet: the content is not scanned yet.
            Quarantined: the content is in quarantine.
        """
        node = self.require(Permission.READ).node
        require_readable(node.scan)
        return node

    def require_folder(self, needed: Permission) -> "NodeView":
        """Do the same as :meth:`require` for a folder.

        Raises:
            NotAFolder: the node is a file.
        """
        view = self.require(needed)
        if view.node.type != NodeType.FOLDER:
            raise NotAFolder
        return view


def ceiling_of(caller: AnyCaller) -> Permission:
    """Return the highest permission that a verified caller can have on any node, such as a new one."""
    key = caller.identity.key if caller.identity else None
    return Permission.MANAGE if key is None else Permission(key.max_permission)


class NodeAccessQuery:
    """The access query with further columns, compiled with and without the caller's login.

    Args:
        extend: adds columns to the query, which :attr:`NodeAccess.more` returns.
    """

    def __init__(self, extend: Callable[[Select[Any]], Select[Any]] = lambda query: query) -> None:
        # Built when they are first executed, because building all of them would slow down a start.
        self._of_user = Statement(lambda _: extend(access_query()), _access)
        self._of_login = Statement(lambda _: extend(access_query(good_authorization())), _login_access)
        self._of_key = Statement(lambda dialect: extend(key_access_query(dialect)), _key_access)
        self._delegated = Statement(
            lambda dialect: extend(delegated_access_query(dialect)), _delegated_access
        )

    def of_caller(
        self, connection: Connection, caller: AnyCaller, parameters: dict[str, Any]
    ) -> NodeAccess:
        """Return the access of a caller, and verify the login unless it was verified before.

        An access key is verified each time.

        Raises:
            TokenInvalid: the login or the access key was revoked.
            Forbidden: the access key may not be used for this request.
            UserSuspended: the user whose rights a plugin uses is suspended or deleted.
        """
        if isinstance(caller.key, DelegatedLimits):
            access = self._of_delegate(connection, caller.user_id, caller.key, parameters)
            return access.within_demand(caller, parameters["now"])
        if caller.key is not None:
            return self._of_key_caller(connection, caller, parameters)
        if isinstance(caller, Identity):
            access = self.of_user(connection, caller.user_id, parameters)
            return access.within_demand(caller, parameters["now"])
        parameters["user_id"] = caller.user_id
        parameters["authorization_id"] = caller.authorization_id
        # The query always returns one row.
        login, access = self._of_login.all(connection, parameters)[0]
        if login[1] is None:
            raise TokenInvalid
        return access.within_demand(caller.confirm(*login), parameters["now"])

    def of_user(self, connection: Connection, user_id: str, parameters: dict[str, Any]) -> NodeAccess:
        """Return the access of a user, who need not be the caller and has no login that is checked."""
        parameters["user_id"] = user_id
        return self._of_user.all(connection, parameters)[0]

    def _of_delegate(
        self, connection: Connection, user_id: str, limits: DelegatedLimits, parameters: dict[str, Any]
    ) -> NodeAccess:
        parameters |= {
            "user_id": user_id,
            "limit_tenant_id": limits.tenant_id,
            "limit_node_id": limits.folder_id,
            "max_permission": limits.max_permission,
            "required_permission": limits.required_permission,
        }
        user_type, access = self._delegated.all(connection, parameters)[0]
        if user_type is None:
            raise UserSuspended
        return access._replace(key=limits)

    def _of_key_caller(
        self, connection: Connection, caller: AnyCaller, parameters: dict[str, Any]
    ) -> NodeAccess:
        parameters["user_id"] = caller.user_id
        parameters["key_id"] = caller.authorization_id
        key, access = self._of_key.all(connection, parameters)[0]
        if isinstance(caller, Identity):
            if key[0] is None:
                raise TokenInvalid
            identity = caller
        else:
            identity = caller.confirm_key(key)
        return access._replace(key=identity.key).within_demand(identity, parameters["now"])


def _login_access(row: Sequence[Any]) -> tuple[Sequence[Any], NodeAccess]:
    return row[:_LOGIN_COLUMNS], _access(row, _LOGIN_COLUMNS)


def _key_access(row: Sequence[Any]) -> tuple[Sequence[Any], NodeAccess]:
    return row[:KEY_COLUMNS], _access(row, KEY_COLUMNS)


def _delegated_access(row: Sequence[Any]) -> tuple[str | None, NodeAccess]:
    return row[0], _access(row, 1)


def _access(row: Sequence[Any], start: int = 0) -> NodeAccess:
    node, more = start + 4, start + 4 + _NODE_COLUMNS
    return NodeAccess(
        # Dictionaries, because calling an enum costs several times as much.
        _ROLES[row[start]],
        _PERMISSIONS[row[start + 3]],
        None if row[node] is None else NODE.make(row[node:more]),
        row[more:],
        None,
        demand_of(row[start + 1], row[start + 2]),
    )


_ACCESS: Final = NodeAccessQuery()
_PARENT: Final = NodeAccessQuery(with_granted_ends)


class AccessControl:
    """Resolves the access of users to the nodes of tenants."""

    def __init__(self, clock: Clock, memberships: Memberships) -> None:
        self._clock = clock
        self.memberships = memberships

    def find(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str | None,
        query: NodeAccessQuery = _ACCESS,
        **more: Any,
    ) -> NodeAccess:
        """Return the caller's access to a node; verifies the caller's login.

        Args:
            connection: the caller's transaction.
            caller: the caller.
            tenant_id: the tenant.
            node_id: the node; ``None`` is the tenant's root.
            query: the query, with further columns.
            more: the parameters of the further columns.

        Raises:
            TokenInvalid: the login was revoked.
        """
        return query.of_caller(connection, caller, self._parameters(tenant_id, node_id, more))

    def find_of(
        self,
        connection: Connection,
        user_id: str,
        tenant_id: str,
        node_id: str | None,
        query: NodeAccessQuery = _ACCESS,
        **more: Any,
    ) -> NodeAccess:
        """Return the access of a user who is not the caller, as :meth:`find`."""
        return query.of_user(connection, user_id, self._parameters(tenant_id, node_id, more))

    def require(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        needed: Permission,
    ) -> NodeView:
        """Return a node with the caller's permission on it.

        Raises:
            TokenInvalid: the login was revoked.
            Forbidden: the caller is not a member of the tenant, or lacks the permission.
            NotFound: the tenant has no such node.
        """
        return self.find(connection, caller, tenant_id, node_id).require(needed)

    def require_parent(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        parent_id: str | None,
        query: NodeAccessQuery = _PARENT,
        **more: Any,
    ) -> NodeAccess:
        """Return the caller's access to a folder, or to the top level, in which to create a node.

        :attr:`NodeAccess.more` begin with the :class:`Ends` of the caller's grants on the folder.

        Raises:
            TokenInvalid: the login was revoked.
            Forbidden: the caller is not a member of the tenant, or may not write to the folder.
            NotFound: the folder does not exist.
            NotAFolder: the parent is a file.
        """
        access = self.find(connection, caller, tenant_id, parent_id, query, **more)
        # Every member may create nodes at the top level; the root has no grants.
        if parent_id is None:
            access.require_top_level()
        else:
            access.require_folder(Permission.WRITE)
        return access

    def require_key_target(
        self, connection: Connection, user_id: str, tenant_id: str, folder_id: str | None
    ) -> None:
        """Check that an access key of a user can be limited to a tenant, and to a folder in it.

        Raises:
            ValidationFailed: the user is not a member of the tenant, or may not read the folder.
        """
        access = self.find_of(connection, user_id, tenant_id, folder_id)
        if access.role is None:
            message = "The user is not a member of this tenant."
            raise ValidationFailed.of_field("tenantId", "not-a-member", message)
        try:
            if folder_id is not None:
                access.require_folder(Permission.READ)
        except (Forbidden, NotFound, NotAFolder) as error:
            message = "Must be a folder that the user may read."
            raise ValidationFailed.of_field("fileId", "no-folder", message) from error

    def _parameters(
        self, tenant_id: str, node_id: str | None, more: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {
            **more,
            "tenant_id": tenant_id,
            "node_id": node_id or tenant_id,
            "now": self._clock.now(),
        }

    def holds(self, expires_at: int | None) -> bool:
        """Return whether a grant is in force."""
        return expires_at is None or expires_at > self._clock.now()

    def is_in_force(self) -> ColumnElement[bool]:
        """Return the condition that a grant has not expired."""
        return is_in_force(self._clock.now())

    def is_at_top(self) -> ColumnElement[bool]:
        """Return the condition that a grant makes a node top-level: the parent folder is not visible."""
        return is_at_top(self._clock.now())
