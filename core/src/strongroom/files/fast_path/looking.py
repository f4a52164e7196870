"""Looks a node up for a caller: all that decides whether it may be shown, in one query."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select, bindparam, select, true

from strongroom.authorizations.sessions import good_authorization, was_seen_lately
from strongroom.clock import Clock
from strongroom.database.reader import Reader
from strongroom.files.access import effective_permission
from strongroom.files.models import Permission, nodes
from strongroom.tenants.memberships import membership
from strongroom.web.fast_path import Claims

_COUNT: Final = len(nodes.c)


@dataclass(slots=True)
class Seen:
    """The columns of a node that the caller may read, and what else was selected with it."""

    columns: tuple[Any, ...]
    permission: Permission
    more: tuple[Any, ...]


class NodeLookup:
    """Finds a node that the bearer of a token may read.

    It is one query, and so one moment: a revocation, a suspension, a membership that ended, a grant that
    was taken back or has expired is seen by the first request after it.

    Args:
        reader: runs the query.
        clock: the time.
        query: :func:`look_up`, with more columns if more is wanted.
    """

    def __init__(self, reader: Reader, clock: Clock, query: Select[Any]) -> None:
        self._reader = reader
        self._clock = clock
        self._query = reader.prepare(query)

    def find(self, claims: Claims, places: Mapping[str, str], node_id: str) -> Seen | None:
        """Return the node, or ``None`` if anything stands against it, or has to be written down."""
        now = self._clock.now()
        rows = self._reader.run(
            self._query,
            {
                "user_id": claims.user_id,
                "authorization_id": claims.authorization_id,
                "tenant_id": places["tenant_id"],
                "node_id": node_id,
                "now": now,
            },
        )
        if not rows:
            return None
        last_seen_at, permission, *columns = rows[0]
        if permission < Permission.READ or not was_seen_lately(last_seen_at, now):
            return None
        return Seen(tuple(columns[:_COUNT]), Permission(permission), tuple(columns[_COUNT:]))


def look_up() -> Select[Any]:
    """Return the query for a node by a token, with what the token's user may do with it."""
    authorization, member = good_authorization(), membership()
    return (
        select(authorization.c.last_seen_at, effective_permission(member.c.role), *nodes.c)
        .select_from(nodes)
        .join(member, true())
        .join(authorization, true())
        .where(
            nodes.c.id == bindparam("node_id"),
            nodes.c.tenant_id == bindparam("tenant_id"),
            nodes.c.parent_id.is_not(None),
        )
    )
