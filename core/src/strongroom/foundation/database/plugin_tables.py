"""The tables of plugins: their rules, their revisions, and the folders of their migrations.

Each plugin has a line of revisions of its own, recorded in the table ``PLUGIN_alembic_version``. That
table also shows, after a plugin was disabled, which tables are left from it. As for the core's schema, a
migration that contracts the tables declares ``oldest_code``, which the table ``installation`` records.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from sqlalchemy import JSON, Connection, Engine, inspect, text
from sqlalchemy.exc import InvalidRequestError

from strongroom.foundation.database.installation import installation, oldest_code
from strongroom.foundation.database.metadata import metadata
from strongroom.plugin_api.state import PluginTables

AllTables = Mapping[str, PluginTables]
"""The tables of enabled plugins, by the names of the plugins."""

_VERSION: Final = "_alembic_version"
_REVISION = re.compile(r"\d{4}")
_STORED_AS_JSON: Final = frozenset({str, int, bool, float})


class PluginTablesError(Exception):
    """The tables of a plugin cannot be used; the message is one line with the remedy."""


@dataclass(frozen=True, slots=True)
class PluginSchema:
    """The schema of a plugin's tables in a database.

    Args:
        revision: the revision in the database, or ``None`` if the tables do not exist.
        newest: the revision that the installed version of the plugin needs.
        missing: declared tables and columns that no migration up to that revision has created.
        oldest_code: the oldest revision whose code can use the tables, or ``None`` if not recorded.
    """

    plugin: str
    revision: str | None
    newest: str
    missing: tuple[str, ...] = ()
    oldest_code: str | None = None

    @property
    def is_current(self) -> bool:
        """Whether its revision is the one that the plugin needs, with all tables and columns."""
        return self.revision == self.newest and not self.missing

    @property
    def is_newer(self) -> bool:
        """Whether a newer version of the plugin has upgraded it."""
        return self.revision is not None and self.revision > self.newest

    @property
    def is_served(self) -> bool:
        """Whether this version of the plugin can use it: its own, or one that only expands it."""
        if not self.is_newer:
            return self.is_current
        is_compatible = self.oldest_code is not None and self.oldest_code <= self.newest
        return is_compatible and not self.missing

    @property
    def remedy(self) -> str:
        """The action that makes the schema current, for error messages."""
        if self.is_newer:
            return "install a newer version of the plugin, or restore a backup made with this one"
        if self.missing:
            return "add a migration to the plugin that creates them, and set its revision"
        return "run: strongroom db upgrade"

    def __str__(self) -> str:
        state = self.revision or "empty"
        if self.missing:
            return f"{state} without {', '.join(self.missing)}"
        return state if self.is_current else f"{state}, not {self.newest}"


def version_table(plugin: str) -> str:
    """Return the name of the table that records the revision of a plugin's tables."""
    return f"{plugin}{_VERSION}"


def plugin_schemas(engine: Engine, tables: AllTables) -> list[PluginSchema]:
    """Return the schema of each enabled plugin that has tables."""
    if not tables:
        return []
    with engine.connect() as connection:
        existing = set(inspect(connection).get_table_names())
        revisions = {
            plugin: connection.execute(
                text(f"SELECT version_num FROM {version_table(plugin)}")  # noqa: S608  a checked name
            ).scalar()
            for plugin in tables
            if version_table(plugin) in existing
        }
        has_ranges = installation.name in existing
        return [
            _find_schema(connection, plugin, declared, revisions.get(plugin), has_ranges=has_ranges)
            for plugin, declared in tables.items()
        ]


def _find_schema(
    connection: Connection,
    plugin: str,
    declared: PluginTables,
    revision: str | None,
    *,
    has_ranges: bool,
) -> PluginSchema:
    is_old = revision is None or revision < declared.revision
    missing = () if is_old else missing_in(connection, declared)
    oldest = oldest_code(connection, plugin) if has_ranges else None
    return PluginSchema(plugin, revision, declared.revision, missing, oldest)


def missing_in(connection: Connection, declared: PluginTables) -> tuple[str, ...]:
    """Return the declared tables, and columns as ``TABLE.COLUMN``, that a database lacks."""
    names = sorted(declared.metadata.tables)
    if not names:
        return ()
    columns = inspect(connection).get_multi_columns(filter_names=names)
    existing = {name: {column["name"] for column in items} for (_, name), items in columns.items()}
    lacking = [name for name in names if name not in existing]
    for name in sorted(existing):
        declared_names = {column.name for column in declared.metadata.tables[name].columns}
        lacking += [f"{name}.{column}" for column in sorted(declared_names - existing[name])]
    return tuple(lacking)


def left_tables(existing: set[str], tables: AllTables) -> dict[str, list[str]]:
    """Return the tables of plugins that are not enabled, by the names of the plugins.

    Args:
        existing: the names of all tables of the database.
        tables: the tables of the enabled plugins.
    """
    # A disabled plugin cannot be called, so the names of tables are all that is known of it.
    owners = {name.removesuffix(_VERSION) for name in existing if name.endswith(_VERSION)}
    known = set(metadata.tables).union(*(declared.metadata.tables for declared in tables.values()))
    left: dict[str, list[str]] = {owner: [] for owner in sorted(owners - set(tables))}
    for name in sorted(existing - known):
        # The longest name, because one plugin's name may begin with another's.
        owner = max((owner for owner in left if name.startswith(f"{owner}_")), key=len, default=None)
        if owner:
            left[owner].append(name)
    return left


class MigrationFailed(PluginTablesError):
    """A migration of a plugin raised, for a reason that may be the kind of the database."""


def migrations_folder(plugin: str, declared: PluginTables) -> Path:
    """Return the folder of a plugin's migrations.

    Raises:
        PluginTablesError: there is no such folder.
    """
    folder = declared.migrations
    if isinstance(folder, str):
        package, _, inside = folder.partition(":")
        file = import_module(package).__file__ or ""
        folder = Path(file).parent / inside
    if not folder.is_dir():
        message = f"the folder of its migrations, {folder}, does not exist"
        raise PluginTablesError(f'plugin "{plugin}": {message}')
    return folder


def require_free_names(tables: AllTables) -> None:
    """Check that no two plugins, and no plugin and the core, have a table of the same name.

    Raises:
        PluginTablesError: a name is taken.
    """
    owners = dict.fromkeys(metadata.tables, "the core")
    for plugin, declared in tables.items():
        for name in declared.metadata.tables:
            if name in owners:
                raise PluginTablesError(
                    f'plugin "{plugin}": the table {name} is of {owners[name]}; choose another name'
                )
            owners[name] = f'the plugin "{plugin}"'


def tables_fault(plugin: str, declared: Any) -> str | None:
    """Return the first rule that a plugin's tables break, or ``None``."""
    if not isinstance(declared, PluginTables):
        return f"returned {declared!r} from register_tables; expected PluginTables"
    if not _REVISION.fullmatch(declared.revision):
        return f'the revision "{declared.revision}" must have four digits, such as "0001"'
    return next(_faults(plugin, declared.metadata), None)


def _faults(plugin: str, declared: Any) -> Iterator[str]:
    for name, table in declared.tables.items():
        if not name.startswith(f"{plugin}_"):
            yield f'the name of the table {name} must begin with "{plugin}_"'
        if not table.primary_key.columns:
            yield f"the table {name} has no primary key"
        for column in table.columns:
            if not _is_stored_as_json(column):
                yield f"the column {name}.{column.name} has a type that backups cannot write as JSON"
            yield from _reference_faults(column)


def _reference_faults(column: Any) -> Iterator[str]:
    for key in column.foreign_keys:
        try:
            key.column  # noqa: B018  looks the column up in the plugin's metadata
        except InvalidRequestError:
            yield f"{column.table.name}.{column.name} refers to a table of another owner"


def _is_stored_as_json(column: Any) -> bool:
    if isinstance(column.type, JSON):
        return True
    try:
        return column.type.python_type in _STORED_AS_JSON
    except NotImplementedError:
        return False


def sorted_tables(tables: AllTables) -> list[Any]:
    """Return the tables of plugins, each after the tables that it refers to."""
    return [table for declared in tables.values() for table in declared.metadata.sorted_tables]
