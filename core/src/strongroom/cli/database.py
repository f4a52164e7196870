"""``strongroom db``: shows and upgrades the schema."""

import click

from strongroom.cli.context import CommandContext
from strongroom.cli.database_checks import find_schema, open_database
from strongroom.cli.output import echo
from strongroom.cli.progress import progress_bar
from strongroom.foundation.database.plugin_tables import PluginTablesError, plugin_schemas
from strongroom.foundation.database.upgrade import (
    SCHEMA_REVISION,
    NewerSchema,
    current_revision,
    upgrade,
)
from strongroom.foundation.plugins.selection import load_plugins


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
    echo(f"schema: {before or 'empty'} -> {current_revision(database.engine)}")
    for schema in former:
        echo(f"plugin {schema.plugin}: {schema.revision or 'empty'} -> {schema.newest}")
    database.close()


@db_group.command("current")
@click.pass_obj
def current_command(context: CommandContext) -> None:
    """Show the versions of the schema and of the tables of plugins, and the newest versions."""
    tables = load_plugins(context.configuration).tables
    database = open_database(context.configuration)
    revision = find_schema(context.configuration, database).revision
    echo(f"schema: {revision or 'empty'}, newest: {SCHEMA_REVISION}")
    for schema in plugin_schemas(database.engine, tables):
        echo(f"plugin {schema.plugin}: {schema.revision or 'empty'}, newest: {schema.newest}")
    database.close()
