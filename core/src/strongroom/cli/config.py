"""``strongroom config``: checks and shows the configuration."""

import sys
from typing import Final

import click

from strongroom.cli.context import CommandContext, config_option
from strongroom.cli.output import echo
from strongroom.foundation.config import Configuration, ConfigurationError
from strongroom.foundation.config.describe import show, template, template_sections
from strongroom.foundation.plugins.selection import offered_sections, select

_PAGE: Final = "docs/reference/configuration.md"
_WITH_ALL: Final = f"# All keys, as in {_PAGE}.\n"
_WITHOUT_ADVANCED: Final = (
    f"# The keys that most servers need. {_PAGE} has all, including [advanced] and each of\n"
    "# [limits]; so has `strongroom config template --all`.\n"
)


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

    require_offline(context.configuration)
    if not offline:
        _require_present(context.configuration)
    echo("the configuration is fine")


def _require_present(configuration: Configuration) -> None:
    """Exit with 3 if a service is unavailable; the last line is whether the server would start."""
    from strongroom.cli.main import EXIT_UNAVAILABLE
    from strongroom.cli.trial import unavailable_services

    try:
        problems = unavailable_services(configuration)
    except ConfigurationError as error:
        if error.is_temporary:
            echo("the server would not start now")
        raise
    for problem in problems:
        echo(f"strongroom: {problem}", err=True)
    if problems:
        echo("the server would start, without what does not answer now")
        sys.exit(EXIT_UNAVAILABLE)


@config_group.command("show")
@config_option
@click.option("--origin", is_flag=True, help="Show where each value was set.")
@click.pass_obj
def show_command(context: CommandContext, *, origin: bool) -> None:
    """Show every key and its value; secrets are masked."""
    configuration = context.configuration
    sections = select(configuration).all_sections(configuration.settings)
    for line in show(sections, configuration.raw, with_origin=origin):
        echo(line)


@config_group.command("template")
@config_option
@click.option("--all", "with_advanced", is_flag=True, help="Include the keys that few servers change.")
@click.pass_obj
def template_command(context: CommandContext, *, with_advanced: bool) -> None:
    """Print a configuration file with the keys, their defaults and their descriptions."""
    sections = [*template_sections(), *offered_sections(select(context.configuration).plugins)]
    echo(_WITH_ALL if with_advanced else _WITHOUT_ADVANCED)
    for line in template(sections, with_advanced=with_advanced):
        echo(line)
