"""The index of names: finds the nodes of a tenant whose names contain a text, most recent names first.

The index is maintained in the transaction that creates or renames a node; the foreign key removes the
row of a deleted one. See :mod:`strongroom.foundation.database.text_index`.
"""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import BigInteger, Connection, String, Text, column, table

from strongroom.content.nodes.models import Node
from strongroom.foundation.database.changes import Change
from strongroom.foundation.database.grams import Grams
from strongroom.foundation.database.text_index import Source, TextIndex, TextMatch
from strongroom.foundation.text_folding import fold_text

search_names: Final = table(
    "search_names",
    column("number", BigInteger),
    column("tenant_id", String),
    column("node_id", String),
    column("folded", Text),
)
"""The folded name of each node. :mod:`strongroom.content.files.reindexing` derives it from the nodes."""

COMMON: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789 .-_")
"""Characters that are in many names, so they have no gram of their own."""

NAME_INDEX: Final = TextIndex(search_names, "node_id", "name_index", "tenant_id", Grams(COMMON))

_BREAK_EVEN: Final = 72
"""See :func:`_is_frequent`; measured on PostgreSQL."""

_MANY: Final = 180_000
"""Number of visible nodes if it is unknown: a text in more than 2 % of the names is frequent."""


def put(connection: Connection, node: Node, others: Sequence[Change] = ()) -> None:
    """Add the name of a node to the index, or replace it.

    Args:
        connection: the transaction that creates or renames the node.
        others: other changes, which PostgreSQL executes in the same round trip.
    """
    NAME_INDEX.put(connection, index_row(node), others)


def index_row(node: Node) -> dict[str, object]:
    """Return the row of :data:`search_names` for a node."""
    return {"tenant_id": node.tenant_id, "node_id": node.id, "folded": fold_text(node.name)}


def _is_frequent(share: float, visible: int) -> bool:
    """Return whether reading the names in order costs less than finding all matches by their grams.

    Reading ends with the last hit, so the number of names that it reads is inversely proportional to the
    share of the names that match and to the share that the caller sees. The number of matches is
    proportional to the first share. So the costs are equal at a square of it, times the visible nodes.

    Args:
        share: the share of the recent names that match.
        visible: the number of nodes that the caller sees.
    """
    return share**2 * visible > _BREAK_EVEN


def sources(connection: Connection, match: TextMatch, visible: int = _MANY) -> list[Source]:
    """Return the sources of all matching names; the first source is more recent.

    The index of SQLite returns names in order. PostgreSQL's returns all matches, so it is slow for
    a text that many names contain. A sample of the recent names shows that; then reading them in order
    finds enough matches soon, unless the caller sees few of them.

    Args:
        visible: the number of nodes that the caller sees.
    """
    if not match.has_grams:
        return [NAME_INDEX.by_reading]
    if connection.dialect.name == "sqlite":
        return [NAME_INDEX.unindexed, NAME_INDEX.by_grams]
    is_frequent = _is_frequent(NAME_INDEX.share(connection, match), visible)
    return [NAME_INDEX.by_reading if is_frequent else NAME_INDEX.by_grams]
