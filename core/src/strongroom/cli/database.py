"""``strongroom db``, and the checks of a command's database: its schema and its secret key.

An old schema that is incompatible is upgraded in development and refused in production. A newer schema
that is a compatible expansion is accepted. The secret key must match the database.
"""

import click
from sqlalchemy.exc import SQLAlchemyError

from strongroom.cli.context import CommandContext
from strongroom.config import Configuration
from strongroom.database import Database
from strongroom.database.installation import accept_secret
from strongroom.database.upgrade import (
    SCHEMA_REVISION,
    NewerSchema,
    Schema,
    current_revision,
    read_schema,
    upgrade,
)
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


def require_served_schema(configuration: Configuration, database: Database) -> None:
    """Check that the schema is compatible; upgrade an old one in development.

    Raises:
        ConfigurationError: the database is unavailable, or its schema is too new, or too old in
            production, where the operator runs the upgrade.
    """
    schema = find_schema(configuration, database)
    if schema.is_served:
        return
    if not schema.is_newer and not configuration.settings.is_production:
        upgrade(database.engine)
        return
    configuration.add_error(("database", "url"), f"the schema is {schema}; {schema.remedy}")
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
    """Upgrade the schema to the newest version; servers of the previous version keep working."""
    database = open_database(context.configuration)
    before = find_schema(context.configuration, database).revision
    try:
        upgrade(database.engine)
    except NewerSchema as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"schema: {before or 'empty'} -> {current_revision(database.engine)}")
    database.close()


@db_group.command("current")
@click.pass_obj
def current_command(context: CommandContext) -> None:
    """Show the version of the schema, and the newest version."""
    database = open_database(context.configuration)
    found = find_schema(context.configuration, database).revision
    click.echo(f"schema: {found or 'empty'}, newest: {SCHEMA_REVISION}")
    database.close()
