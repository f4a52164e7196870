"""Access reports: a user's permission on a file or folder, and the grants it comes from."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.database import Database
from strongroom.files.access import AccessControl, PathGrant
from strongroom.files.models import Permission
from strongroom.identity import AnyCaller
from strongroom.tenants.models import Role


@dataclass(frozen=True, slots=True)
class Reason:
    """A grant on a node or on one of its ancestors.

    ``node_name`` is ``None`` if the caller cannot see that folder.
    """

    node_id: str
    node_name: str | None
    permission: Permission
    expires_at: int | None
    in_force: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """A user's permission on a node, and its sources: the tenant role and grants, nearest first."""

    user_id: str
    role: Role | None
    permission: Permission
    reasons: Sequence[Reason]


class AccessExplainer:
    """Reports other users' permissions on a node to users who manage it."""

    def __init__(self, database: Database, access: AccessControl) -> None:
        self._database = database
        self._access = access

    def explain(self, caller: AnyCaller, tenant_id: str, node_id: str, user_id: str) -> Explanation:
        """Return a user's permission on a node and the grants it comes from.

        The report on a non-member is empty, so it does not reveal whether the user exists.

        Raises:
            Forbidden: the caller is not a member of the tenant, or does not manage the node.
            NotFound: the tenant has no such node.
        """
        with self._database.read() as connection:
            own = self._access.find(connection, caller, tenant_id, node_id)
            own.require(Permission.MANAGE)
            seen = self._height_seen(connection, own.role, caller, node_id)
            subject = self._access.find_of(connection, user_id, tenant_id, node_id)
            found = self._access.grants_on_path(connection, node_id, user_id)
            reasons = [self._reason(grant, seen) for grant in found]
            return Explanation(user_id, subject.role, subject.permission, reasons)

    def _height_seen(
        self, connection: Connection, role: Role | None, caller: AnyCaller, node_id: str
    ) -> float:
        """Return the height of the topmost ancestor of a node that the caller can see."""
        if role is Role.ADMIN:
            # Administrators see all ancestors.
            return float("inf")
        mine = self._access.grants_on_path(connection, node_id, caller.user_id)
        # Never empty: a caller who manages the node without being an administrator has a grant in
        # force on the path.
        return max(grant.height for grant in mine if self._access.holds(grant.expires_at))

    def _reason(self, grant: PathGrant, seen: float) -> Reason:
        return Reason(
            grant.node_id,
            # The name of an ancestor that the caller cannot see is not revealed.
            grant.node_name if grant.height <= seen else None,
            grant.permission,
            grant.expires_at,
            self._access.holds(grant.expires_at),
        )
