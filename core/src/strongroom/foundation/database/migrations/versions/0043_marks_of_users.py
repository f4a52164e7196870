"""Add the status and the type of each user to the index of users, for searches with these filters."""

import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
oldest_code = "0001"
"""Older code searches the same texts. ``strongroom users reindex`` marks the users that it changes."""

_BATCH = 1000
_BLOCK = 512
_MARKED = """
SELECT s.number, s.folded, u.status, u.type FROM user_search s JOIN users u ON u.id = s.user_id
WHERE s.number > :last ORDER BY s.number LIMIT :batch
"""
_STATUSES = {"active": "\ufdd0", "suspended": "\ufdd1"}
_TYPES = {"USER": "\ufdd2", "ADMIN": "\ufdd3", "SERVICE": "\ufdd4"}
_SET = "UPDATE user_search SET folded = :folded WHERE number = :number"
_SET_WITH_GRAMS = (
    "UPDATE user_search SET folded = :folded, grams = CAST(:grams AS integer[]) WHERE number = :number"
)
_POST = "INSERT INTO user_search_index (rowid, grams) VALUES (:number, :text)"


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        # FTS5 cannot change an entry without its former text.
        op.execute("DROP TABLE user_search_index")
        op.execute(
            "CREATE VIRTUAL TABLE user_search_index USING fts5 "
            "(grams, content='', detail=none, columnsize=0, tokenize='ascii')"
        )
        _mark(connection, _SET)
        return
    # One build is faster than many insertions.
    op.execute("DROP INDEX ix_user_search_grams")
    _mark(connection, _SET_WITH_GRAMS)
    op.execute("CREATE INDEX ix_user_search_grams ON user_search USING gin (grams)")


def _mark(connection: sa.Connection, statement: str) -> None:
    posted = _last_block(connection) if connection.dialect.name == "sqlite" else 0
    last = 0
    while rows := connection.execute(sa.text(_MARKED), {"last": last, "batch": _BATCH}).all():
        marked = [_row(*row) for row in rows]
        connection.execute(sa.text(statement), marked)
        if blocks := [row for row in marked if row["number"] <= posted]:
            connection.execute(sa.text(_POST), blocks)
        last = rows[-1].number


def _last_block(connection: sa.Connection) -> int:
    """Return the number of the last row that SQLite indexes; rows of the unfinished block are read."""
    query = sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'user_search'")
    last: int = connection.execute(query).scalar() or 0
    return last - last % _BLOCK


# The following is what identity/users/user_index.py does, at the time of this migration.


def _row(number: int, folded: str, status: str, kind: str) -> dict[str, Any]:
    marked = f"{folded}\n{_STATUSES.get(status, '')}{_TYPES.get(kind, '')}"
    grams = _grams(marked)
    return {
        "number": number,
        "folded": marked,
        "text": " ".join(f"{gram:x}" for gram in grams),
        "grams": [gram - (1 << 31) for gram in grams],
    }


def _grams(folded: str) -> Sequence[int]:
    triples = (folded[start : start + 3] for start in range(len(folded) - 2))
    pieces = {*folded, *(first + second for first, second in pairwise(folded))}
    pieces.update(triple for triple in triples if triple.isascii())
    return sorted({zlib.crc32(piece.encode()) for piece in pieces})
