"""The rows of an archive that belong to one tenant, found by the foreign keys of the tables."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO, Any, Final

from sqlalchemy import Column, ForeignKeyConstraint, Table

from strongroom.content.storage.models import blobs
from strongroom.content.tenants.models import tenants
from strongroom.extensions.backup.chain import ArchiveChain, Row
from strongroom.extensions.backup.rows import EPHEMERAL
from strongroom.foundation.database import metadata
from strongroom.foundation.database.metadata import Id
from strongroom.foundation.database.plugin_tables import AllTables

LEFT_OUT: Final = frozenset(
    {
        "bundles",
        "direct_uploads",
        "directories",
        "directory_errors",
        "due_handovers",
        "invitation_groups",
        "invitations",
        "node_locks",
        "provisioned_groups",
        "provisioned_users",
        "service_accounts",
        "upload_parts",
        "uploads",
    }
)
"""Tables of tenants whose rows are not restored: unfinished work, and secrets that may have been revoked
since the archive was created."""

Anchors = Mapping[Table, Column[Any]]
"""The tables whose rows belong to tenants, each with the column that leads to its tenant."""


def tenant_tables(plugins: AllTables) -> Anchors:
    """Return the tables whose rows belong to tenants, each after the tables that it refers to.

    A table belongs to tenants if each of its rows refers to a tenant, or to a row that belongs to one.
    Plugins declare their tables that have a column ``tenant_id``, see
    :class:`~strongroom.plugin_api.state.PluginTables`.
    """
    anchors: dict[Table, Column[Any]] = {tenants: tenants.c.id}
    for table in metadata.sorted_tables:
        if table.name not in LEFT_OUT | EPHEMERAL:
            _add_anchor(anchors, table)
    for declared in plugins.values():
        for table in declared.metadata.sorted_tables:
            if table.name in declared.tenant_tables:
                anchors[table] = table.c.tenant_id
            else:
                _add_anchor(anchors, table)
    return anchors


def _add_anchor(anchors: dict[Table, Column[Any]], table: Table) -> None:
    for column in table.columns:
        targets = {key.column.table for key in column.foreign_keys} - {table}
        if not column.nullable and not targets.isdisjoint(anchors):
            anchors.setdefault(table, column)


def is_id(column: Column[Any]) -> bool:
    """Return whether a column contains ids."""
    return getattr(column.type, "length", None) == Id.length


def references(table: Table) -> list[ForeignKeyConstraint]:
    """Return the foreign keys of a table."""
    return sorted(table.foreign_key_constraints, key=lambda item: sorted(item.column_keys))


def targets(constraint: ForeignKeyConstraint) -> tuple[str, ...]:
    """Return the names of the columns that a foreign key refers to."""
    return tuple(element.column.name for element in constraint.elements)


def values(constraint: ForeignKeyConstraint, row: Row) -> tuple[Any, ...]:
    """Return a row's values of a foreign key."""
    return tuple(row[element.parent.name] for element in constraint.elements)


Accept = Callable[[Table, Row], bool]
"""Returns whether a row is restored; may change its references to users."""


@dataclass(slots=True)
class TenantRows:
    """The rows of a tenant, in temporary files; only the keys are in memory.

    Args:
        ids: the ids of the tenant's rows, by table.
        blob_keys: the keys of blobs that the rows refer to.
        left_out: how many rows were left out, by table.
    """

    anchors: Anchors
    ids: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    blob_keys: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    _files: dict[str, IO[bytes]] = field(default_factory=dict)
    _keys: dict[tuple[str, tuple[str, ...]], set[tuple[Any, ...]]] = field(default_factory=dict)
    _resources: ExitStack = field(default_factory=ExitStack)

    def read(self, archive: ArchiveChain, tenant_id: str, accept: Accept) -> None:
        """Read the rows of a tenant from an archive."""
        for table in self.anchors:
            for constraint in references(table):
                if constraint.referred_table in self.anchors:
                    self._keys[constraint.referred_table.name, targets(constraint)] = set()
        for table, anchor in self.anchors.items():
            file = self._resources.enter_context(TemporaryFile())  # noqa: SIM115  closed by close()
            self._files[table.name] = file
            if table.name not in archive.manifest.tables:
                continue
            for row in archive.records(table.name):
                if self._belongs(row, table, anchor, tenant_id):
                    self._add(row, table, file, accept)

    def _belongs(self, row: Row, table: Table, anchor: Column[Any], tenant_id: str) -> bool:
        value = row[anchor.name]
        if table is tenants or not anchor.foreign_keys:
            return bool(value == tenant_id)
        return any(
            (value,) in self._keys.get((key.column.table.name, (key.column.name,)), ())
            for key in anchor.foreign_keys
        )

    def _add(self, row: Row, table: Table, file: IO[bytes], accept: Accept) -> None:
        if not accept(table, row) or not self._is_complete(row, table):
            self.left_out[table.name] += 1
            return
        for (name, columns), keys in self._keys.items():
            if name == table.name:
                keys.add(tuple(row[column] for column in columns))
        if [column.name for column in table.primary_key] == ["id"] and is_id(table.c.id):
            self.ids[table.name].append(row["id"])
        for constraint in references(table):
            (value, *_) = values(constraint, row)
            if constraint.referred_table is blobs and value is not None:
                self.blob_keys.add(value)
        file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")

    def _is_complete(self, row: Row, table: Table) -> bool:
        """Return whether the rows of the tenant that a row refers to are restored."""
        for constraint in references(table):
            target = constraint.referred_table
            if target in self.anchors and target is not table:
                keys = self._keys[target.name, targets(constraint)]
                if None not in values(constraint, row) and values(constraint, row) not in keys:
                    return False
        return True

    def rows(self, table: Table) -> Iterator[Row]:
        """Yield the rows of a table."""
        file = self._files[table.name]
        file.seek(0)
        for line in file:
            yield json.loads(line)

    def close(self) -> None:
        """Delete the temporary files."""
        self._resources.close()
