"""The values that plugins share among all workers and nodes, such as tokens of other systems."""

from typing import Any, Final

from sqlalchemy import Column, Index, String, Table, Text, bindparam, delete, select, update

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.metadata import Timestamp, metadata
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.sealed_json import SealedJson, is_same_json
from strongroom.foundation.secret_keys import SecretKeys

plugin_shared_values: Final = Table(
    "plugin_shared_values",
    metadata,
    Column("name", String(320), primary_key=True),
    Column("sealed", Text, nullable=False),
    Column("expires_at", Timestamp),
    Index(None, "expires_at"),
)
"""Encrypted JSON. A name is a plugin's name, a colon and the key, so that rows have one primary key."""

_ROWS: Final = plugin_shared_values.c
_ROW: Final = _ROWS.name == bindparam("of_name")
# Encryption is not deterministic, so two equal encrypted texts are the same write.
_UNCHANGED: Final = _ROWS.sealed == bindparam("former")
_GET: Final = Statement(select(_ROWS.sealed, _ROWS.expires_at).where(_ROW))
_PUT: Final = Statement(
    for_each_dialect(
        plugin_shared_values,
        lambda insert: insert.on_conflict_do_update(
            index_elements=["name"],
            set_={"sealed": insert.excluded.sealed, "expires_at": insert.excluded.expires_at},
        ),
    )
)
# Concurrent inserts: one wins; the others update no row, so their compare-and-set fails.
_ADD: Final = Statement(
    for_each_dialect(plugin_shared_values, lambda insert: insert.on_conflict_do_nothing())
)
_REPLACE_IF: Final = Statement(
    update(plugin_shared_values)
    .where(_ROW, _UNCHANGED)
    .values(sealed=bindparam("new"), expires_at=bindparam("until"))
)
_DELETE: Final = Statement(delete(plugin_shared_values).where(_ROW))
_DELETE_IF: Final = Statement(delete(plugin_shared_values).where(_ROW, _UNCHANGED))


class SharedValues:
    """The shared values of all plugins. A value that has ended is absent.

    All methods raise ``Unavailable`` if the database does not respond, and ``ValueError`` for a value
    that was encrypted with another secret key.
    """

    def __init__(self, database: Database, clock: Clock, keys: SecretKeys) -> None:
        self._database = database
        self._clock = clock
        self._json = SealedJson(keys)

    def get(self, plugin: str, key: str) -> Any:
        """Return a value, or ``None``."""
        name = _name(plugin, key)
        with self._database.read_one() as connection:
            row = _GET.first(connection, {"of_name": name})
        return self._value(name, row)

    def put(self, plugin: str, key: str, value: Any, expires_at: int | None) -> None:
        """Store a value.

        Raises:
            ValueError: the value is ``None``, or too large.
        """
        row = self._row(_name(plugin, key), value, expires_at)
        with self._database.write() as connection:
            _PUT.execute(connection, row)

    def delete(self, plugin: str, key: str) -> bool:
        """Delete a value, and return whether there was one."""
        name = _name(plugin, key)
        with self._database.write() as connection:
            row = _GET.first(connection, {"of_name": name})
            is_deleted = _DELETE.execute(connection, {"of_name": name}) == 1
        return is_deleted and not self._has_ended(row)

    def compare_and_set(
        self, plugin: str, key: str, expected: Any, value: Any, expires_at: int | None
    ) -> bool:
        """Store a value if the present one equals ``expected``; ``None`` is an absent value.

        Raises:
            ValueError: the value is too large.
        """
        name = _name(plugin, key)
        new = None if value is None else self._row(name, value, expires_at)
        with self._database.write() as connection:
            former = _GET.first(connection, {"of_name": name})
            if not is_same_json(self._value(name, former), expected):
                return False
            if former is None:
                return new is None or _ADD.execute(connection, new) == 1
            unchanged = {"of_name": name, "former": former.sealed}
            if new is None:
                return _DELETE_IF.execute(connection, unchanged) == 1
            changes = {"new": new["sealed"], "until": expires_at}
            return _REPLACE_IF.execute(connection, {**unchanged, **changes}) == 1

    def prune(self) -> int:
        """Delete the values that have ended, and return their number."""
        return prune(self._database, _ROWS.name, _ROWS.expires_at <= self._clock.now())

    def _value(self, name: str, row: Any) -> Any:
        return None if self._has_ended(row) else self._json.open(_purpose(name), row.sealed)

    def _has_ended(self, row: Any) -> bool:
        if row is None:
            return True
        return row.expires_at is not None and row.expires_at <= self._clock.now()

    def _row(self, name: str, value: Any, expires_at: int | None) -> dict[str, Any]:
        sealed = self._json.seal(_purpose(name), value)
        return {"name": name, "sealed": sealed, "expires_at": expires_at}


def _name(plugin: str, key: str) -> str:
    return f"{plugin}:{key}"


def _purpose(name: str) -> str:
    # A row that was copied to another plugin or key cannot be decrypted there.
    return f"shared value {name}"
