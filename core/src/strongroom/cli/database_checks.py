"""Opens the database of a command, and checks its schema and its secret key.

An old schema that is incompatible is upgraded in development and refused in production. A newer schema
that is a compatible expansion is accepted. The secret key must match the database.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from sqlalchemy.exc import SQLAlchemyError

from strongroom.cli.database_faults import find_database_fault
from strongroom.extensions.production_checks.checks import refuse_unstated_database
from strongroom.foundation.config import Configuration, ConfigurationError
from strongroom.foundation.database import Database
from strongroom.foundation.database.installation import accept_secret
from strongroom.foundation.database.plugin_tables import (
    AllTables,
    PluginSchema,
    PluginTablesError,
    plugin_schemas,
)
from strongroom.foundation.database.upgrade import NewerSchema, Schema, read_schema, upgrade
from strongroom.foundation.plugins.selection import add_plugin_error
from strongroom.foundation.secret_keys import SecretKeys


def open_database(configuration: Configuration) -> Database:
    """Return the configured database, and create ``data_dir`` for SQLite.

    Raises:
        ConfigurationError: ``database.url`` is not set in production.
    """
    refuse_unstated_database(configuration)
    configuration.settings.server.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Database(configuration.settings.database_url)


def find_schema(configuration: Configuration, database: Database) -> Schema:
    """Return the schema of the database.

    Raises:
        ConfigurationError: the database is unavailable.
    """
    if _is_missing_file(configuration, database):
        return Schema(None)
    try:
        return read_schema(database.engine)
    except SQLAlchemyError as error:
        fault = find_database_fault(database.engine.url, error)
        configuration.add_error(("database", "url"), fault.message, is_temporary=fault.is_temporary)
        raise ConfigurationError(configuration.problems) from error


def _is_missing_file(configuration: Configuration, database: Database) -> bool:
    """Return whether the database is a file that the first use creates in an existing folder."""
    url = database.engine.url
    path = Path(url.database or "")
    if url.get_backend_name() != "sqlite" or path.exists():
        return False
    # A check of the configuration does not create data_dir.
    return path.parent.is_dir() or path.parent == configuration.settings.server.data_dir.absolute()


def require_upgradable_schema(
    configuration: Configuration, database: Database, plugins: AllTables
) -> Schema | None:
    """Return the schema if it must be upgraded, which a start does in development only.

    Raises:
        ConfigurationError: the database is unavailable, or its schema is too new, or too old in
            production, where the operator runs the upgrade.
    """
    schema, schemas = find_schema(configuration, database), []
    if schema.revision is not None:
        schemas = [item for item in plugin_schemas(database.engine, plugins) if not item.is_served]
    if schema.is_served and not schemas:
        return None
    if configuration.settings.is_production or schema.is_newer:
        _refuse_schemas(configuration, schema, schemas)
    return schema


def require_served_schema(configuration: Configuration, database: Database, plugins: AllTables) -> None:
    """Do as :func:`require_upgradable_schema`, and upgrade the schema if that is needed.

    Raises:
        ConfigurationError: the database is unavailable, or its schema cannot be served.
    """
    if require_upgradable_schema(configuration, database, plugins) is None:
        return
    try:
        upgrade(database.engine, plugins)
    except (NewerSchema, PluginTablesError) as error:
        add_plugin_error(configuration, str(error))
    configuration.raise_if_invalid()


def _refuse_schemas(
    configuration: Configuration, schema: Schema, plugins: Sequence[PluginSchema]
) -> None:
    if not schema.is_served:
        configuration.add_error(("database", "url"), f"the schema is {schema}; {schema.remedy}")
    for state in plugins:
        fault = f'the schema of the plugin "{state.plugin}" is {state}; {state.remedy}'
        add_plugin_error(configuration, fault)
    configuration.raise_if_invalid()


def require_own_secret(configuration: Configuration, database: Database, keys: SecretKeys) -> None:
    """Check that the secret key matches the database; a new database adopts the first one.

    Raises:
        ConfigurationError: the database was created with another secret key.
    """
    if not accept_secret(database, keys.fingerprint):
        refuse_other_secret(configuration)


def refuse_other_secret(configuration: Configuration) -> NoReturn:
    """Refuse the secret key, because the database was created with another.

    Raises:
        ConfigurationError: always.
    """
    configuration.add_error(
        ("server", "secret_key"),
        "does not match this database, so all passwords would fail; "
        "set the original one (a backup contains it: tar -xOf ARCHIVE secret.key), or run: "
        "strongroom rescue adopt-secret",
    )
    raise ConfigurationError(configuration.problems)
