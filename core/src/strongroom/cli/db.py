"""``strongroom db``: the schema of the database."""

import click

from strongroom.cli.context import CommandContext
from strongroom.config import Configuration
from strongroom.database import Database
from strongroom.database.upgrade import SCHEMA_REVISION, current_revision, upgrade


@click.group("db")
def db_group() -> None:
    """Look after the database."""


@db_group.command("upgrade")
@click.pass_obj
def upgrade_command(context: CommandContext) -> None:
    """Bring the schema to the newest version."""
    database = open_database(context.configuration)
    before = current_revision(database.engine)
    upgrade(database.engine)
    click.echo(f"schema: {before or 'empty'} -> {current_revision(database.engine)}")
    database.close()


@db_group.command("current")
@click.pass_obj
def current_command(context: CommandContext) -> None:
    """Show the schema's version, and the newest one."""
    database = open_database(context.configuration)
    click.echo(f"schema: {current_revision(database.engine) or 'empty'}, newest: {SCHEMA_REVISION}")
    database.close()


def open_database(configuration: Configuration) -> Database:
    """Return the configured database, its folder made if it lies in ``data_dir``."""
    configuration.settings.server.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Database(configuration.settings.database_url)


def require_current_schema(configuration: Configuration, database: Database) -> None:
    """Upgrade the schema in development; in production, refuse to go on with another one.

    Raises:
        ConfigurationError: the schema is not the newest, and upgrading it is a decision.
    """
    found = current_revision(database.engine)
    if found == SCHEMA_REVISION:
        return
    if not configuration.settings.is_production:
        upgrade(database.engine)
        return
    message = f"the schema is {found or 'empty'}, not {SCHEMA_REVISION}; run: strongroom db upgrade"
    configuration.blame(("database", "url"), message)
    configuration.refuse_problems()
