"""Stores which resources files have declared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, delete, or_, select

from strongroom.extensions.desired_state.models import DECLARED_ROW, DeclaredRow, declared_resources
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.plugin_api.deactivation import Deactivation

_COLUMNS: Final = declared_resources.c
_KEYS: Final = [column.name for column in declared_resources.primary_key]
_OF_SET: Final = Statement(
    select(declared_resources).where(_COLUMNS.set_name == bindparam("of_set")), DECLARED_ROW
)
_PUT: Final = Statement(
    for_each_dialect(
        declared_resources,
        lambda insert: insert.on_conflict_do_update(
            index_elements=_KEYS,
            set_={name: insert.excluded[name] for name in ("key", "declared", "current")},
        ),
    )
)
_REMOVE: Final = Statement(
    delete(declared_resources).where(
        *(_COLUMNS[name] == bindparam(f"of_{name}") for name in _KEYS),
    )
)
_FORGET_BELOW: Final = Statement(
    delete(declared_resources).where(
        _COLUMNS.set_name == bindparam("of_set"), _COLUMNS.parent_id == bindparam("gone")
    )
)
_FORGET: Final = Statement(
    delete(declared_resources).where(
        or_(_COLUMNS.resource_id == bindparam("gone"), _COLUMNS.parent_id == bindparam("gone"))
    )
)


@dataclass(slots=True, eq=False, repr=False)
class DeclaredResources:
    """Repository of the resources that files have declared."""

    _database: Database

    def of_set(self, set_name: str) -> Sequence[DeclaredRow]:
        """Return the resources that a file has declared."""
        with self._database.read() as connection:
            return _OF_SET.all(connection, {"of_set": set_name})

    def put(self, row: DeclaredRow) -> None:
        """Store that a resource was applied."""
        with self._database.write() as connection:
            _PUT.execute(connection, DECLARED_ROW.values(row))

    def remove(self, row: DeclaredRow) -> None:
        """Remove a resource that was deleted, and what is directly below it."""
        key = {f"of_{name}": getattr(row, name) for name in _KEYS}
        with self._database.write() as connection:
            _REMOVE.execute(connection, key)
            if row.resource_id:
                _FORGET_BELOW.execute(connection, {"of_set": row.set_name, "gone": row.resource_id})

    def erase_tenant(self, tenant_id: str) -> None:
        """Remove the rows about a purged tenant and about what is directly below it."""
        with self._database.write() as connection:
            _FORGET.execute(connection, {"gone": tenant_id})

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Remove the rows about a deleted user."""
        if ended.is_deletion:
            _FORGET.execute(connection, {"gone": ended.user_id})
