"""Looks up a node and checks token, membership and read permission in one query."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select

from strongroom.clock import Clock
from strongroom.database.reader import Reader
from strongroom.files.access import NodeView, access_query, decide
from strongroom.files.models import Permission, nodes
from strongroom.sessions.store import good_authorization, was_seen_lately
from strongroom.web.fast_path import Claims

# Order of the columns: authorization, role, permission, node, further columns.
_CALLER: Final = len(good_authorization().c)
_END: Final = _CALLER + 2 + len(nodes.c)


@dataclass(slots=True)
class Seen:
    """A node that the caller may read, and the further columns of the query."""

    view: NodeView
    more: tuple[Any, ...]


class NodeLookup:
    """Looks up a node that the bearer of a token may read.

    One query reads one snapshot of the database, so the first request after a revocation, a suspension,
    or the end of a membership or a grant is rejected.

    Args:
        reader: runs the query.
        clock: decides which grants have expired.
        query: :func:`look_up`, with further columns.
    """

    def __init__(self, reader: Reader, clock: Clock, query: Select[Any]) -> None:
        self._reader = reader
        self._clock = clock
        self._query = reader.prepare(query)

    def find(self, claims: Claims, places: Mapping[str, str], node_id: str) -> Seen | None:
        """Return the node, or ``None`` if the token was revoked or its last use must be updated.

        Raises:
            Forbidden, NotFound: as :func:`~strongroom.files.access.decide`.
        """
        now = self._clock.now()
        parameters = {
            "user_id": claims.user_id,
            "authorization_id": claims.authorization_id,
            "tenant_id": places["tenant_id"],
            "node_id": node_id,
            "now": now,
        }
        rows = self._reader.run(self._query, parameters)
        if not rows or not was_seen_lately(rows[0][0] or 0, now):
            return None
        view, _ = decide(rows[0][_CALLER:_END], Permission.READ)
        return Seen(view, tuple(rows[0][_END:]))


def look_up() -> Select[Any]:
    """Return the query for a node with the authorization and the permission of the token's user."""
    return access_query(good_authorization())
