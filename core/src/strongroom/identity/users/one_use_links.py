"""Links that a user follows once, within the caller's transaction. Only their hashes are stored."""

import secrets
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, insert, select, true

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.rows import RowMapper
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.secret_keys import SecretKeys

_TOKEN_BYTES: Final = 24


class OneUseLink(Protocol):
    """A row of a table of links."""

    @property
    def hash(self) -> str:
        """The hash of the token, which is the key of the table."""


LinkT = TypeVar("LinkT", bound=OneUseLink)


class LinkTable(Generic[LinkT]):
    """The statements of a table of links.

    Args:
        record: the type of its rows.
        table: has the columns ``hash`` and ``expires_at``, milliseconds since the Unix epoch.
        condition: what makes a link valid in addition to its time.
    """

    def __init__(
        self, record: type[LinkT], table: Table, condition: ColumnElement[bool] | None = None
    ) -> None:
        self.table = table
        self.row = RowMapper(record, table)
        is_open = (table.c.hash == bindparam("of_hash")) & (table.c.expires_at > bindparam("now"))
        is_open &= true() if condition is None else condition
        self.add: Statement[Any] = Statement(insert(table))
        self.find: Statement[LinkT] = Statement(select(table).where(is_open), self.row)
        # One DELETE checks and consumes the link, so that two concurrent uses cannot both succeed.
        self.consume: Statement[Any] = Statement(delete(table).where(is_open))


@dataclass(slots=True, eq=False, repr=False)
class OneUseLinks(Generic[LinkT]):
    """Stores the links of one table.

    Args:
        purpose: hashes of another purpose differ, so that a token opens one kind of links.
    """

    _database: Database
    _clock: Clock
    _keys: SecretKeys
    _links: LinkTable[LinkT]
    _purpose: str

    def new_token(self) -> tuple[str, str]:
        """Return a token, and its hash for a link."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        return token, self._hash(token)

    def add(self, connection: Connection, link: LinkT) -> None:
        """Store a link."""
        self._links.add.execute(connection, self._links.row.values(link))

    def find(self, connection: Connection, token: str) -> LinkT | None:
        """Return the link of a token, unless it is used, void or expired."""
        return self._links.find.first(connection, self._open(self._hash(token)))

    def consume(self, connection: Connection, link: LinkT) -> bool:
        """Consume a link; return whether it was valid."""
        return self._links.consume.execute(connection, self._open(link.hash)) == 1

    def prune(self) -> int:
        """Delete expired links; return the count."""
        columns = self._links.table.c
        return prune(self._database, columns.hash, columns.expires_at <= self._clock.now())

    def _hash(self, token: str) -> str:
        return self._keys.hash(self._purpose, token)

    def _open(self, hashed: str) -> dict[str, object]:
        return {"of_hash": hashed, "now": self._clock.now()}
