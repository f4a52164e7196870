"""Explains why somebody can or cannot do something with a file or folder."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.database import Database
from strongroom.files.access import AccessControl, PathGrant
from strongroom.files.models import Permission
from strongroom.identity import Identity
from strongroom.tenants.models import Role


@dataclass(frozen=True, slots=True)
class Reason:
    """A grant on a node or on a folder around it.

    ``node_name`` is ``None`` if whoever asks does not see that folder.
    """

    node_id: str
    node_name: str | None
    permission: Permission
    expires_at: int | None
    in_force: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a user may do with a node, and by what: a role in the tenant, or grants, nearest first."""

    user_id: str
    role: Role | None
    permission: Permission
    reasons: Sequence[Reason]


class AccessExplainer:
    """Tells those who manage a node who else may do what with it, and why."""

    def __init__(self, database: Database, access: AccessControl) -> None:
        self._database = database
        self._access = access

    def explain(self, identity: Identity, tenant_id: str, node_id: str, user_id: str) -> Explanation:
        """Explain what a user may do with a node.

        Of who is no member nothing is told, nor whether there is such a user.

        Raises:
            Forbidden: the caller is no member, or does not manage the node.
            NotFound: the tenant holds no such node.
        """
        with self._database.read() as connection:
            self._access.require(connection, identity, tenant_id, node_id, Permission.MANAGE)
            role = self._access.memberships.role(connection, tenant_id, user_id)
            seen = self._height_seen(connection, identity, tenant_id, node_id)
            return Explanation(
                user_id,
                role,
                self._access.permission(connection, node_id, user_id, role),
                [
                    self._reason(grant, seen)
                    for grant in self._access.grants_on_path(connection, node_id, user_id)
                ],
            )

    def _height_seen(
        self, connection: Connection, identity: Identity, tenant_id: str, node_id: str
    ) -> float:
        """Return up to what height the caller sees the folders around a node."""
        if self._access.memberships.role(connection, tenant_id, identity.user_id) is Role.ADMIN:
            return float("inf")
        mine = self._access.grants_on_path(connection, node_id, identity.user_id)
        return max(grant.height for grant in mine if self._access.holds(grant.expires_at))

    def _reason(self, grant: PathGrant, seen: float) -> Reason:
        return Reason(
            grant.node_id,
            grant.node_name if grant.height <= seen else None,
            grant.permission,
            grant.expires_at,
            self._access.holds(grant.expires_at),
        )
