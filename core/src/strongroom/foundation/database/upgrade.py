"""Schema revisions: the revision of a database, the revisions that this code serves, and the upgrade.

Revisions have four digits, so they are compared as text. Older code keeps working with a schema that
later migrations only expand (new tables, new columns with a default). A migration that removes something
declares the first revision whose code does not need it: ``oldest_code = "0004"``. The database records
the newest such declaration, because older code does not have later migrations. Services raise it when
they write the first row that older code would not obey; see ``installation.require_code``.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.exc import OperationalError

from strongroom.foundation.database.changes import AdvisoryLock
from strongroom.foundation.database.installation import create_database_id, oldest_code, require_code
from strongroom.foundation.database.plugin_tables import (
    AllTables,
    MigrationFailed,
    PluginTablesError,
    migrations_folder,
    missing_in,
    plugin_schemas,
    require_free_names,
    version_table,
)
from strongroom.plugin_api.state import PluginTables

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

SCHEMA_REVISION: Final = "0062"
"""The newest migration; repeated here so that a server can start without importing Alembic."""

_NO_PLUGINS: Final[AllTables] = {}
_UPGRADE_LOCK: Final = AdvisoryLock(0x5354524F)


_LOCK_MILLISECONDS: Final = 500
_LOCK_ATTEMPTS: Final = 120
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 5.0
_LOCK_STATES: Final = frozenset({"55P03", "40P01"})
"""SQLSTATE codes of a change that has waited for too long, or that conflicts with another one."""


class TablesInUse(Exception):
    """Other transactions have locked a table for too long; the message contains the remedy."""


class NewerSchema(Exception):
    """The schema is newer than this code supports; the message contains the remedy."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of a database.

    Args:
        revision: the revision, or ``None`` if the database is empty.
        oldest_code: the oldest revision whose code can serve the schema, or ``None`` if not recorded.
    """

    revision: str | None
    oldest_code: str | None = None

    @property
    def is_current(self) -> bool:
        """Whether its revision is the one of this code."""
        return self.revision == SCHEMA_REVISION

    @property
    def is_newer(self) -> bool:
        """Whether a newer version of the code has upgraded it."""
        return self.revision is not None and self.revision > SCHEMA_REVISION

    @property
    def is_served(self) -> bool:
        """Whether this code can serve it: its own schema, or a newer one that only expands it."""
        if not self.is_newer:
            return self.is_current
        return self.oldest_code is not None and self.oldest_code <= SCHEMA_REVISION

    @property
    def remedy(self) -> str:
        """The action that makes the schema current, for error messages."""
        if self.is_newer:
            return "run a newer version of strongroom, or restore a backup made by this one"
        return "run: strongroom db upgrade"

    def __str__(self) -> str:
        state = self.revision or "empty"
        if self.is_newer:
            return f"{state}, newer than this version's {SCHEMA_REVISION}"
        return state if self.is_current else f"{state}, not {SCHEMA_REVISION}"


def read_schema(engine: Engine) -> Schema:
    """Return the schema of a database."""
    with engine.connect() as connection:
        tables = set(inspect(connection).get_table_names())
        if "alembic_version" not in tables:
            return Schema(None)
        revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        return Schema(revision, oldest_code(connection) if "installation" in tables else None)


def current_revision(engine: Engine) -> str | None:
    """Return the revision of the database's schema, or ``None`` if it is empty."""
    return read_schema(engine).revision


def upgrade(engine: Engine, plugins: AllTables = _NO_PLUGINS) -> None:
    """Migrate the schema to :data:`SCHEMA_REVISION`, and the tables of plugins to their revisions.

    A lock serializes concurrent upgrades. On SQLite, and in a new database, nothing has changed after a
    failure. A PostgreSQL database that servers use is upgraded by one revision after the other, and
    another call continues.

    Raises:
        NewerSchema: a newer version, of the core or of a plugin, has upgraded it already.
        PluginTablesError: the tables of a plugin cannot be used.
        TablesInUse: other transactions have locked a table for too long.
    """
    schema = read_schema(engine)
    if schema.is_newer:
        raise NewerSchema(f"the schema is {schema}; {schema.remedy}")
    require_free_names(plugins)
    for state in plugin_schemas(engine, plugins):
        # An upgrade by the version before would otherwise seem to have succeeded.
        if state.is_newer:
            raise NewerSchema(f'the schema of the plugin "{state.plugin}" is {state}; {state.remedy}')
    if engine.dialect.name == "postgresql" and schema.revision is not None:
        _upgrade_online(engine, schema, plugins)
    else:
        _upgrade_at_once(engine, schema, plugins)


def _upgrade_at_once(engine: Engine, schema: Schema, plugins: AllTables) -> None:
    # Importing Alembic takes 0.25 s, and most starts do not need it.
    from alembic import command
    from alembic.script import ScriptDirectory

    with engine.execution_options(strongroom_writing=True).begin() as connection:
        # One transaction for all revisions. Both databases roll back changes of the schema, too.
        _UPGRADE_LOCK.acquire(connection)
        if not schema.is_current:
            config = alembic_config(connection)
            command.upgrade(config, "head")
            require_code(connection, find_oldest_code(ScriptDirectory.from_config(config)))
        create_database_id(connection)
        for plugin, declared in plugins.items():
            oldest = _upgrade_plugin(connection, plugin, declared)
            require_code(connection, oldest, plugin)


def _upgrade_online(engine: Engine, schema: Schema, plugins: AllTables) -> None:
    with engine.begin() as holder, engine.connect() as connection:
        # Idle until all is done. It has no snapshot, so no index waits for it.
        holder.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
        _UPGRADE_LOCK.acquire(holder)
        event.listen(connection, "begin", _limit_lock_waits)
        if not schema.is_current:
            _upgrade_revisions(connection, alembic_config(connection))
        with connection.begin():
            create_database_id(connection)
        for plugin, declared in plugins.items():
            config = plugin_alembic_config(connection, plugin, declared)
            _upgrade_revisions(connection, config, plugin)
            _require_tables(connection, plugin, declared)
            connection.rollback()


def _limit_lock_waits(connection: Connection) -> None:
    """Limit how long a change of a table waits, because all writes of the table wait behind it."""
    driver: Any = connection.connection.driver_connection
    if not driver.autocommit:
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {_LOCK_MILLISECONDS}")


def _upgrade_revisions(connection: Connection, config: "Config", plugin: str = "") -> None:
    from alembic import command
    from alembic.script import ScriptDirectory

    config.attributes["online"] = True
    if "installation" in inspect(connection).get_table_names():
        # First, because an interrupted upgrade may have run the migration that needs it.
        require_code(connection, find_oldest_code(ScriptDirectory.from_config(config)), plugin)
    connection.commit()
    _repeat(lambda: command.upgrade(config, "head"), connection)
    with connection.begin():
        require_code(connection, find_oldest_code(ScriptDirectory.from_config(config)), plugin)


def _repeat(migrate: Callable[[], None], connection: Connection) -> None:
    """Run migrations, again after each wait for a lock that was too long."""
    pause = _FIRST_PAUSE
    for _ in range(_LOCK_ATTEMPTS):
        try:
            migrate()
            # Alembic leaves the transaction in which it has read the revision.
            connection.rollback()
            return
        except OperationalError as error:
            connection.rollback()
            if getattr(error.orig, "sqlstate", None) not in _LOCK_STATES:
                raise
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
    raise TablesInUse(
        "a table is locked by another transaction, such as a long query; repeat the upgrade"
    )


def _upgrade_plugin(connection: Connection, plugin: str, declared: PluginTables) -> str:
    """Run the migrations of a plugin, and return the oldest revision whose code can use its tables."""
    from alembic import command
    from alembic.script import ScriptDirectory

    config = plugin_alembic_config(connection, plugin, declared)
    command.upgrade(config, "head")
    _require_tables(connection, plugin, declared)
    return find_oldest_code(ScriptDirectory.from_config(config))


def _require_tables(connection: Connection, plugin: str, declared: PluginTables) -> None:
    if missing := missing_in(connection, declared):
        raise PluginTablesError(
            f'plugin "{plugin}": no migration creates {", ".join(missing)}; add one, and set its '
            "revision in register_tables"
        )


def try_migrations(plugin: str, declared: PluginTables) -> None:
    """Apply the migrations of a plugin to an empty database in memory.

    Raises:
        MigrationFailed: a migration raised; on another kind of database, it may succeed.
        PluginTablesError: there are no migrations, or none creates a declared table or column.
    """
    engine = create_engine("sqlite://")
    try:
        with engine.begin() as connection:
            _upgrade_plugin(connection, plugin, declared)
    except PluginTablesError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())
        raise MigrationFailed(f'plugin "{plugin}": a migration failed: {reason}') from error
    finally:
        engine.dispose()


def find_oldest_code(migrations: "ScriptDirectory") -> str:
    """Return the oldest revision whose code can serve the schema after all these migrations."""
    scripts = list(migrations.walk_revisions())
    return max(getattr(script.module, "oldest_code", scripts[-1].revision) for script in scripts)


def alembic_config(connection: Connection) -> "Config":
    """Return Alembic's configuration for an open connection."""
    from alembic.config import Config

    config = Config()
    _set_path(config, "script_location", Path(__file__).parent / "migrations")
    config.attributes["connection"] = connection
    return config


def plugin_alembic_config(connection: Connection, plugin: str, declared: PluginTables) -> "Config":
    """Return Alembic's configuration for the tables of a plugin.

    Raises:
        PluginTablesError: the folder of the migrations does not exist.
    """
    config = alembic_config(connection)
    # Without it, Alembic would split the path at its spaces.
    config.set_main_option("path_separator", "newline")
    _set_path(config, "version_locations", migrations_folder(plugin, declared))
    config.attributes["metadata"] = declared.metadata
    config.attributes["version_table"] = version_table(plugin)
    return config


def _set_path(config: "Config", name: str, path: Path) -> None:
    # A configuration parser interpolates "%".
    config.set_main_option(name, str(path).replace("%", "%%"))
