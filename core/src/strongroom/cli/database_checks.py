"""Opens the database of a command, and checks its schema and its secret key.

An old schema that is incompatible is upgraded in development and refused in production. A newer schema
that is a compatible expansion is accepted. The secret key must match the database.
"""

from collections.abc import Sequence

from sqlalchemy.exc import SQLAlchemyError

from strongroom.config import Configuration
from strongroom.database import Database
from strongroom.database.installation import accept_secret
from strongroom.database.plugin_tables import (
    AllTables,
    PluginSchema,
    PluginTablesError,
    plugin_schemas,
)
from strongroom.database.upgrade import NewerSchema, Schema, read_schema, upgrade
from strongroom.production import refuse_unstated_database
from strongroom.secret_keys import SecretKeys


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
    try:
        return read_schema(database.engine)
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        configuration.add_error(
            ("database", "url"),
            f"the database does not answer: {reason}; start it, or correct database.url",
        )
        configuration.raise_if_invalid()
        raise


def require_served_schema(configuration: Configuration, database: Database, plugins: AllTables) -> None:
    """Check that the schema of the core and of plugins is compatible; upgrade an old one in development.

    Raises:
        ConfigurationError: the database is unavailable, or its schema is too new, or too old in
            production, where the operator runs the upgrade.
    """
    schema = find_schema(configuration, database)
    others = [found for found in plugin_schemas(database.engine, plugins) if not found.is_current]
    if schema.is_served and not others:
        return
    if configuration.settings.is_production or schema.is_newer:
        _refuse_schemas(configuration, schema, others)
    try:
        upgrade(database.engine, plugins)
    except (NewerSchema, PluginTablesError) as error:
        configuration.add_error(("plugins", "enabled"), str(error))
    configuration.raise_if_invalid()


def _refuse_schemas(
    configuration: Configuration, schema: Schema, plugins: Sequence[PluginSchema]
) -> None:
    if not schema.is_served:
        configuration.add_error(("database", "url"), f"the schema is {schema}; {schema.remedy}")
    for found in plugins:
        configuration.add_error(
            ("plugins", "enabled"),
            f'the schema of the plugin "{found.plugin}" is {found}; {found.remedy}',
        )
    configuration.raise_if_invalid()


def require_own_secret(configuration: Configuration, database: Database, keys: SecretKeys) -> None:
    """Check that the secret key matches the database; a new database adopts the first one.

    Raises:
        ConfigurationError: the database was created with another secret key.
    """
    if accept_secret(database, keys.fingerprint):
        return
    configuration.add_error(
        ("server", "secret_key"),
        "does not match this database, so all passwords would fail; "
        "set the original one (a backup contains it: tar -xOf ARCHIVE secret.key), or run: "
        "strongroom keys adopt-secret",
    )
    configuration.raise_if_invalid()
