"""Authorization of files and folders: the only module that decides access to a node.

:class:`NodeAccess` derives the result or the error from the row of a query in
:mod:`strongroom.content.nodes.effective_permission`. What the tenant demands of a login is two of its
columns; a login that does not meet them has no role and no permission, and
:meth:`NodeAccess.require_member` reports why.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select

from strongroom.clock import Clock
from strongroom.content.nodes import operations
from strongroom.content.nodes.effective_permission import (
    access_query,
    delegated_access_query,
    grant_access_query,
    is_at_top,
    is_in_force,
    key_access_query,
)
from strongroom.content.nodes.grant_ends import with_granted_ends
from strongroom.content.nodes.locks import has_lock
from strongroom.content.nodes.models import NODE, Node, NodeType, Permission
from strongroom.content.nodes.operations import NodeRule
from strongroom.content.nodes.shared_reads import shared_of_folder
from strongroom.content.scanning.states import require_readable
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import Role
from strongroom.foundation.assurance import Demand, make_demand
from strongroom.foundation.caller import AnyCaller, DelegatedLimits, GrantLimits, Identity, KeyLimits
from strongroom.foundation.database.rows import RowMapper
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import (
    Forbidden,
    NotAFolder,
    NotFound,
    TokenInvalid,
    UserSuspended,
    ValidationFailed,
)
from strongroom.identity.access_keys.store import KEY_COLUMNS
from strongroom.identity.sessions.store import good_authorization

_LOGIN_COLUMNS: Final = len(good_authorization().c)
_ROLES: Final[Mapping[str | None, Role | None]] = {None: None, **{role.value: role for role in Role}}
_PERMISSIONS: Final[Mapping[int, Permission]] = {
    int(permission): permission for permission in Permission
}


class NodeView(NamedTuple):
    """A node and one user's permission on it."""

    node: Node
    permission: Permission


class NodeAccess(NamedTuple):
    """A user's role in a tenant and permission on one of its nodes.

    Args:
        role: the role; ``None`` for a non-member, whether or not the tenant exists, and for a member
            whose login does not meet the demand.
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
            StepUpRequired, KeyNotAccepted: the tenant demands a stronger login of its members.
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
        if self.folder_id is not None or self.ceiling < operations.CREATE.permission:
            raise Forbidden

    def may(self, rule: NodeRule) -> bool:
        """Return whether the node exists, and the user has the permission of an operation on it."""
        return self.node is not None and self.permission >= rule.permission

    def require(self, rule: NodeRule) -> "NodeView":
        """Return the node with the user's permission on it, which must permit an operation.

        Raises:
            Forbidden: the user is not a member of the tenant, or lacks the permission.
            NotFound: the tenant has no such node.
        """
        # Membership comes first, so that non-members cannot find out which nodes exist.
        self.require_member()
        # The tenant's root is no node for clients.
        if self.node is None or self.node.is_root:
            raise NotFound
        if self.permission < rule.permission:
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
        node = self.require(operations.DOWNLOAD).node
        require_readable(node.scan)
        return node

    def require_folder(self, rule: NodeRule) -> "NodeView":
        """Do the same as :meth:`require` for a folder.

        Raises:
            NotAFolder: the node is a file.
        """
        view = self.require(rule)
        if view.node.type != NodeType.FOLDER:
            raise NotAFolder
        return view


def get_ceiling(caller: AnyCaller) -> Permission:
    """Return the highest permission that a verified caller can have on any node, such as a new one."""
    key = caller.identity.key if caller.identity else None
    return Permission.MANAGE if key is None else Permission(key.max_permission)


class NodeAccessQuery:
    """The access query with further columns, compiled with and without the caller's login.

    Args:
        extend: adds columns to the query, which :attr:`NodeAccess.more` returns.
        record: makes :attr:`NodeAccess.node` of its columns, which may be fewer than all.
    """

    def __init__(
        self,
        extend: Callable[[Select[Any]], Select[Any]] = lambda query: query,
        record: RowMapper[Any] = NODE,
    ) -> None:
        columns, access = record.columns, partial(_access, record=record)
        # Built when they are first executed, because building all of them would slow down a start.
        self._of_user = Statement(lambda _: extend(access_query(None, columns)), access)
        self._of_login = Statement(
            lambda _: extend(access_query(good_authorization(), columns)),
            lambda row: (row[:_LOGIN_COLUMNS], access(row, _LOGIN_COLUMNS)),
        )
        self._of_key = Statement(
            lambda dialect: extend(key_access_query(dialect, columns)),
            lambda row: (row[:KEY_COLUMNS], access(row, KEY_COLUMNS)),
        )
        self._of_grant = Statement(
            lambda dialect: extend(grant_access_query(dialect, columns)),
            lambda row: (row[:_LOGIN_COLUMNS], access(row, _LOGIN_COLUMNS)),
        )
        self._delegated = Statement(
            lambda dialect: extend(delegated_access_query(dialect, columns)),
            lambda row: (row[0], access(row, 1)),
        )

    def of_caller(
        self, connection: Connection, caller: AnyCaller, parameters: dict[str, Any]
    ) -> NodeAccess:
        """Return the access of a caller, and verify the login unless it was verified before.

        An access key or a client's grant is verified each time.

        Raises:
            TokenInvalid: the login or the access key was revoked.
            Forbidden: the access key may not be used for this request.
            UserSuspended: the user whose rights a plugin uses is suspended or deleted.
        """
        if isinstance(caller.key, DelegatedLimits):
            access = self._of_delegate(connection, caller.user_id, caller.key, parameters)
            return access.within_demand(caller, parameters["now"])
        if isinstance(caller.key, GrantLimits):
            return self._of_client(connection, caller, caller.key, parameters)
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
            "limit_key_id": limits.through_key,
        }
        user_type, access = self._delegated.all(connection, parameters)[0]
        if user_type is None:
            raise UserSuspended
        return access._replace(key=limits)

    def _of_client(
        self,
        connection: Connection,
        caller: AnyCaller,
        limits: GrantLimits,
        parameters: dict[str, Any],
    ) -> NodeAccess:
        parameters |= {
            "user_id": caller.user_id,
            "authorization_id": caller.authorization_id,
            "limit_tenant_id": limits.tenant_id or "",
            "limit_node_id": limits.folder_id or "",
            "max_permission": limits.max_permission,
        }
        grant, access = self._of_grant.all(connection, parameters)[0]
        if grant[1] is None:
            raise TokenInvalid
        identity = caller if isinstance(caller, Identity) else caller.confirm(*grant)
        return access._replace(key=identity.key).within_demand(identity, parameters["now"])

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


def _access(row: Sequence[Any], start: int = 0, *, record: RowMapper[Any]) -> NodeAccess:
    node, more = start + 4, start + 4 + len(record.names)
    return NodeAccess(
        # Dictionaries, because calling an enum costs several times as much.
        _ROLES[row[start]],
        _PERMISSIONS[row[start + 3]],
        None if row[node] is None else record.make(row[node:more]),
        row[more:],
        None,
        make_demand(row[start + 1], row[start + 2]),
    )


_ACCESS: Final = NodeAccessQuery()
_PARENT: Final = NodeAccessQuery(lambda query: with_granted_ends(query).add_columns(has_lock()))


@dataclass(slots=True, eq=False, repr=False)
class AccessControl:
    """Resolves the access of users to the nodes of tenants."""

    _clock: Clock
    memberships: Memberships

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
            node_id: the node; ``None`` is the tenant's root.
            query: the query, with further columns.
            more: the parameters of the further columns.

        Raises:
            TokenInvalid: the login was revoked.
        """
        return query.of_caller(connection, caller, self._parameters(tenant_id, node_id, more))

    def find_for_user(
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
        rule: NodeRule,
    ) -> NodeView:
        """Return a node with the caller's permission on it, which must permit an operation.

        Raises:
            TokenInvalid: the login was revoked.
            Forbidden: the caller is not a member of the tenant, or lacks the permission.
            NotFound: the tenant has no such node.
        """
        return self.find(connection, caller, tenant_id, node_id).require(rule)

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

        By default, :attr:`NodeAccess.more` are the :class:`Ends` of the caller's grants on the folder,
        and whether anything in the tenant is locked.

        Raises:
            TokenInvalid: the login was revoked.
            Forbidden: the caller is not a member of the tenant, or may not write to the folder.
            NotFound: the folder does not exist.
            NotAFolder: the parent is a file.
        """
        read = partial(self.find, connection, caller, tenant_id, parent_id, query, **more)
        # Further columns may depend on more than the folder.
        key = ("parent", caller.user_id, tenant_id, parent_id)
        access = read() if more else shared_of_folder(key, read)
        # Every member may create nodes at the top level; the root has no grants.
        if parent_id is None:
            access.require_top_level()
        else:
            access.require_folder(operations.CREATE)
        return access

    def require_key_target(
        self, connection: Connection, user_id: str, tenant_id: str, folder_id: str | None
    ) -> None:
        """Check that an access key of a user can be limited to a tenant, and to a folder in it.

        Raises:
            ValidationFailed: the user is not a member of the tenant, or may not read the folder.
        """
        access = self.find_for_user(connection, user_id, tenant_id, folder_id)
        if access.role is None:
            message = "The user is not a member of this tenant."
            raise ValidationFailed.of_field("tenantId", "not-a-member", message)
        try:
            if folder_id is not None:
                access.require_folder(operations.GET)
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

    def is_unexpired(self, expires_at: int | None) -> bool:
        """Return whether a grant is in force."""
        return expires_at is None or expires_at > self._clock.now()

    def is_in_force(self) -> ColumnElement[bool]:
        """Return the condition that a grant has not expired."""
        return is_in_force(self._clock.now())

    def is_at_top(self) -> ColumnElement[bool]:
        """Return the condition that a grant makes a node top-level: the parent folder is not visible."""
        return is_at_top(self._clock.now())
