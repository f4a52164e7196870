"""``strongroom config``: checks and shows the configuration."""

import sys

import click

from strongroom.cli.context import CommandContext, config_option, warn_of_deprecations
from strongroom.foundation.config import Configuration, ConfigurationError
from strongroom.foundation.config.describe import core_sections, show, template
from strongroom.foundation.plugins.selection import offered_sections, select


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
    """Check whether the server would start with this configuration, and write nothing.

    Builds the application as `serve` does, including the routes and commands of plugins, and reads from
    the database, storages and Redis; `doctor` checks that they can be written to. Exits with 2 if the
    configuration is wrong, and with 3 if it may be right, but a service does not answer now.
    """
    from strongroom.cli.startup import require_offline

    warn_of_deprecations(context.configuration)
    require_offline(context.configuration)
    if not offline:
        _require_present(context.configuration)
    click.echo("the configuration is fine")


def _require_present(configuration: Configuration) -> None:
    """Exit with 3 if a service is away; the last line is whether the server would start.

    Raises:
        ConfigurationError: the server would not start.
    """
    from strongroom.cli.main import EXIT_AWAY
    from strongroom.cli.trial import away_services

    try:
        away = away_services(configuration)
    except ConfigurationError as error:
        if error.is_temporary:
            click.echo("the server would not start now")
        raise
    for problem in away:
        click.echo(f"strongroom: {problem}", err=True)
    if away:
        click.echo("the server would start, without what does not answer now")
        sys.exit(EXIT_AWAY)


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
