"""Leases of rows: one process at a time works on a row, and a killed one blocks it only for a time.

A lease is three columns of a table: the key of the row, the owner, and the time until which the lease
lasts unless it is renewed. Each change by an owner names it, so that an owner whose lease has passed to
another one changes nothing.
"""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import BindParameter, Column, Select, Update, and_, bindparam, or_, select, true, update

_NOW: Final[BindParameter[int]] = bindparam("now")


class RowLease:
    """The columns of a lease, with the conditions and statements that repositories build upon.

    The parameters of the statements are ``of_`` and the name of each column of the key, ``owner``, and
    the parameters of :meth:`term`.

    Args:
        key: the columns that identify a row; none if the owner does.
        until: the column of the end, in milliseconds since the Unix epoch.
        milliseconds: how long a lease lasts unless it is renewed.
    """

    def __init__(
        self, *key: Column[Any], owner: Column[Any], until: Column[Any], milliseconds: int
    ) -> None:
        self._table = owner.table
        self._until = until
        self._milliseconds = milliseconds
        self.is_row = and_(true(), *(column == bindparam(f"of_{column.name}") for column in key))
        # True of a lease that is over, too, until another owner claims the row.
        self.is_owned = self.is_row & (owner == bindparam("owner"))
        self.is_over = until <= _NOW
        self.is_running = until > _NOW
        self.is_free = or_(owner.is_(None), until.is_(None), self.is_over)
        self.claimed: Mapping[str, Any] = {
            owner.name: bindparam("owner"),
            until.name: bindparam("until"),
        }
        free_until = None if until.nullable else 0
        self.freed: Mapping[str, Any] = {owner.name: None, until.name: free_until}

    def term(self, now: int) -> dict[str, int]:
        """Return the parameters ``now``, and ``until`` for a lease that begins or is renewed."""
        return {"now": now, "until": now + self._milliseconds}

    def claim(self) -> Update:
        """Return the statement that claims a free row.

        Of two processes, one wins: the other waits for the row on PostgreSQL, and then evaluates the
        condition again.
        """
        return update(self._table).where(self.is_row, self.is_free).values(self.claimed)

    def claimable(self, *columns: Any) -> Select[Any]:
        """Return the query that locks rows for a claim in the same transaction.

        The caller adds the condition that they are free. On PostgreSQL the query skips rows that other
        processes are claiming, instead of waiting for them.
        """
        return select(*(columns or (self._table,))).with_for_update(skip_locked=True)

    def renew(self) -> Update:
        """Return the statement that extends a lease, unless another owner has claimed the row."""
        return self.change().values({self._until.name: bindparam("until")})

    def end(self) -> Update:
        """Return the statement that ends a lease, unless another owner has claimed the row."""
        return self.change().values(self.freed)

    def change(self) -> Update:
        """Return a statement, without values, that changes a row for its owner alone."""
        return update(self._table).where(self.is_owned)
