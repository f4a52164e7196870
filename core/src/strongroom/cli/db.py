"""``strongroom db``: shows and upgrades the database schema."""

import click

from strongroom.cli.context import CommandContext
from strongroom.cli.schema import find_schema, open_database
from strongroom.database.upgrade import SCHEMA_REVISION, NewerSchema, current_revision, upgrade


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
