"""``strongroom config``: checks and shows the configuration."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import click

from strongroom.cli.context import CommandContext, config_option, warn_of_deprecations
from strongroom.config import Configuration, load
from strongroom.config.describe import core_sections, show, template
from strongroom.plugins.selection import offered_sections, select


@click.group("config")
def config_group() -> None:
    """Check and show the configuration."""


@config_group.command("check")
@config_option
@click.option(
    "--offline",
    is_flag=True,
    help="Check the configuration and its plugins only, without connections and ports.",
)
@click.pass_obj
def check_command(context: CommandContext, *, offline: bool) -> None:
    """Check whether the server would start with this configuration; exit with 2 if not.

    Builds the application as `serve` does, including the routes and commands of plugins, and checks the
    database, storages, Redis and ports. In development, an old schema is upgraded, as by `serve`.
    """
    from strongroom.cli.startup import require_offline, require_startable

    warn_of_deprecations(context.configuration)
    require_offline(context.configuration)
    if not offline:
        with _trial(context) as configuration:
            require_startable(configuration)
    click.echo("the configuration is fine")


@contextmanager
def _trial(context: CommandContext) -> Iterator[Configuration]:
    """Yield the configuration; in development, with a temporary data_dir if the real one is missing.

    So a check before the first start leaves no files behind.
    """
    server = context.configuration.settings.server
    if server.mode == "production" or server.data_dir.exists():
        yield context.configuration
        return
    with TemporaryDirectory(prefix="strongroom-check-") as folder:
        yield load(context.config_path, {**os.environ, "STRONGROOM__SERVER__DATA_DIR": folder})


@config_group.command("show")
@config_option
@click.option("--origin", is_flag=True, help="Show where each value was set.")
@click.pass_obj
def show_command(context: CommandContext, *, origin: bool) -> None:
    """Show every key and its value; secrets are masked."""
    configuration = context.configuration
    selection = select(configuration)
    sections = [*core_sections(configuration.settings), *selection.sections()]
    for line in show(sections, configuration.raw, with_origin=origin):
        click.echo(line)


@config_group.command("template")
@config_option
@click.pass_obj
def template_command(context: CommandContext) -> None:
    """Print a configuration file with every key, its default and its description."""
    sections = [*core_sections(), *offered_sections(select(context.configuration).plugins)]
    for line in template(sections):
        click.echo(line)
