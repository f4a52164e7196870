"""``strongroom db``: shows and upgrades the schema."""

from dataclasses import asdict

import click

from strongroom.cli.context import CommandContext
from strongroom.cli.database_checks import find_schema, open_database
from strongroom.cli.output import echo, echo_json
from strongroom.cli.progress import progress_bar
from strongroom.cli.range_runs import pause_option, stopping
from strongroom.clock import iso_format
from strongroom.foundation.database.key_ranges import find_runs
from strongroom.foundation.database.pace import BatchesStopped, Pace, paced
from strongroom.foundation.database.plugin_tables import PluginTablesError, plugin_schemas
from strongroom.foundation.database.upgrade import (
    SCHEMA_REVISION,
    NewerSchema,
    TablesInUse,
    current_revision,
    upgrade,
)
from strongroom.foundation.plugins.selection import load_plugins


@click.group("db")
def db_group() -> None:
    """Show and upgrade the database schema."""


@db_group.command("upgrade")
@pause_option
@click.pass_obj
def upgrade_command(context: CommandContext, pause_ms: int) -> None:
    """Upgrade the schema, and the tables of enabled plugins, to the newest versions.

    Servers of the previous version keep working. The progress counts the rows that migrations change. A
    signal stops them after a batch, and another upgrade continues there; on SQLite, it begins again.
    """
    tables = load_plugins(context.configuration).tables
    database = open_database(context.configuration)
    before = find_schema(context.configuration, database).revision
    former = plugin_schemas(database.engine, tables)
    try:
        with (
            stopping() as stop,
            progress_bar("Upgrading the schema") as progress,
            paced(Pace(pause_ms / 1000, stop.is_set, progress)),
        ):
            upgrade(database.engine, tables)
    except BatchesStopped as error:
        raise click.ClickException("stopped between two batches; the same command continues") from error
    except (NewerSchema, PluginTablesError, TablesInUse) as error:
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


@db_group.command("runs")
@click.option("--json", "as_json", is_flag=True, help="Print the runs as JSON.")
@click.pass_obj
def runs_command(context: CommandContext, *, as_json: bool) -> None:
    """List the commands on all rows of a table that have not ended, with their progress.

    Such commands are `users reindex`, `files reindex`, `storage fsck` and `audit verify`. A signal
    pauses each of them, and the same command continues it, on any machine.
    """
    with context.container() as container:
        runs = find_runs(container.database, container.base.clock)
    if as_json:
        echo_json([asdict(run) for run in runs])
        return
    for run in runs:
        progress = run.progress
        state = "in progress" if run.is_active else "stopped; the same command continues it"
        done = (
            f"{progress.done} of {progress.ranges} ranges, {progress.rows} rows, {progress.hits} found"
        )
        echo(f"{run.task}: {done}, since {iso_format(progress.begun_at)}, {state}")
