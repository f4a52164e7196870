"""``strongroom db``, and the checks of a command's database: its schema and its secret key.

An old schema that is incompatible is upgraded in development and refused in production. A newer schema
that is a compatible expansion is accepted. The secret key must match the database.
"""

from collections.abc import Sequence

import click
from sqlalchemy.exc import SQLAlchemyError

from strongroom.cli.context import CommandContext
from strongroom.cli.progress import progress_bar
from strongroom.config import Configuration
from strongroom.database import Database
from strongroom.database.installation import accept_secret
from strongroom.database.plugin_tables import (
    AllTables,
    PluginSchema,
    PluginTablesError,
    plugin_schemas,
)
from strongroom.database.upgrade import (
    SCHEMA_REVISION,
    NewerSchema,
    Schema,
    current_revision,
    read_schema,
    upgrade,
)
from strongroom.plugins.selection import load_plugins
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


@click.group("db")
def db_group() -> None:
    """Show and upgrade the database schema."""


@db_group.command("upgrade")
@click.pass_obj
def upgrade_command(context: CommandContext) -> None:
    """Upgrade the schema, and the tables of enabled plugins, to the newest versions.

    Servers of the previous version keep working.
    """
    tables = load_plugins(context.configuration).tables
    database = open_database(context.configuration)
    before = find_schema(context.configuration, database).revision
    former = plugin_schemas(database.engine, tables)
    try:
        with progress_bar("Upgrading the schema"):
            upgrade(database.engine, tables)
    except (NewerSchema, PluginTablesError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"schema: {before or 'empty'} -> {current_revision(database.engine)}")
    for found in former:
        click.echo(f"plugin {found.plugin}: {found.revision or 'empty'} -> {found.newest}")
    database.close()


@db_group.command("current")
@click.pass_obj
def current_command(context: CommandContext) -> None:
    """Show the versions of the schema and of the tables of plugins, and the newest versions."""
    tables = load_plugins(context.configuration).tables
    database = open_database(context.configuration)
    found = find_schema(context.configuration, database).revision
    click.echo(f"schema: {found or 'empty'}, newest: {SCHEMA_REVISION}")
    for schema in plugin_schemas(database.engine, tables):
        click.echo(f"plugin {schema.plugin}: {schema.revision or 'empty'}, newest: {schema.newest}")
    database.close()
