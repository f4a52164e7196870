"""The command ``strongroom``, of which each module beside this one holds a group."""

import sys
import warnings
from pathlib import Path
from typing import Any

import click

from strongroom.cli.audit import audit_group
from strongroom.cli.backup import backup_group
from strongroom.cli.config import config_group
from strongroom.cli.context import CommandContext
from strongroom.cli.db import db_group
from strongroom.cli.doctor import doctor
from strongroom.cli.housekeeping import housekeeping
from strongroom.cli.keys import keys_group
from strongroom.cli.openapi import openapi
from strongroom.cli.plugins import plugins_group
from strongroom.cli.serve import serve
from strongroom.cli.storage import storage_group
from strongroom.cli.users import users_group
from strongroom.config import ConfigurationError
from strongroom.version import __version__

EXIT_CONFIGURATION = 2


class RootGroup(click.Group):
    """Finds the core's commands first; only for others are the plugins asked."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or self._plugin_commands(ctx).get(cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self._plugin_commands(ctx)})

    def _plugin_commands(self, ctx: click.Context) -> dict[str, click.Command]:
        return CommandContext(ctx.params.get("config_path")).plugin_commands()


@click.group(cls=RootGroup)
@click.version_option(__version__)
@click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path),
    envvar="STRONGROOM_CONFIG",
    help="The configuration file; without one, everything is at its default.",
)
@click.pass_context
def root(ctx: click.Context, config_path: Path | None) -> None:
    """Who your users are, and what they keep."""
    ctx.obj = CommandContext(config_path)


for command in (
    serve,
    users_group,
    keys_group,
    plugins_group,
    db_group,
    config_group,
    storage_group,
    audit_group,
    housekeeping,
    backup_group,
    doctor,
    openapi,
):
    root.add_command(command)


def main(**options: Any) -> None:
    """Run the command line; a configuration that cannot be served is one line for each problem."""
    # fs announces itself by pkg_resources, and nothing newer of it exists.
    warnings.filterwarnings("ignore", message="pkg_resources is deprecated", category=UserWarning)
    # Keys that are too short are refused in words of our own.
    warnings.filterwarnings("ignore", message="Key size should be")
    try:
        root(prog_name="strongroom", **options)
    except ConfigurationError as error:
        for problem in error.problems:
            click.echo(f"strongroom: {problem}", err=True)
        sys.exit(EXIT_CONFIGURATION)
