"""The command ``strongroom``, of which each module beside this one holds a group."""

import gc
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click

from strongroom.cli.context import CommandContext, warn
from strongroom.config import ConfigurationError
from strongroom.version import __version__

EXIT_CONFIGURATION = 2


_GARBAGE_AFTER: Final = 500_000
"""After how many objects more than were freed the collector looks through the youngest."""

_COMMANDS: Final = {
    "audit": "audit_group",
    "backup": "backup_group",
    "config": "config_group",
    "db": "db_group",
    "doctor": "doctor",
    "drain": "drain",
    "housekeeping": "housekeeping",
    "keys": "keys_group",
    "openapi": "openapi",
    "plugins": "plugins_group",
    "serve": "serve",
    "storage": "storage_group",
    "tenants": "tenants_group",
    "users": "users_group",
}
"""What each module beside this one calls its command."""


_PLUGIN_COMMANDS: Final = "strongroom.plugin_commands"


class RootGroup(click.Group):
    """Imports the one command that is wanted; only for others than the core's asks the plugins."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _COMMANDS:
            return core_command(cmd_name)
        return self._plugin_commands(ctx).get(cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        try:
            return sorted({*_COMMANDS, *self._plugin_commands(ctx)})
        except ConfigurationError as error:
            for problem in error.problems:
                warn(f"{problem}; the commands of plugins are missing")
            return sorted(_COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from strongroom.cli.plugin_commands import hint

            if not (found := hint(args[0])):
                raise
            raise click.UsageError(f"No such command '{args[0]}'; {found}", ctx) from error

    def _plugin_commands(self, ctx: click.Context) -> dict[str, click.Command]:
        # Once for a run: the help looks every command up, and a warning is to be shown once.
        if _PLUGIN_COMMANDS not in ctx.meta:
            ctx.meta[_PLUGIN_COMMANDS] = CommandContext(ctx.params.get("config_path")).plugin_commands()
        found: dict[str, click.Command] = ctx.meta[_PLUGIN_COMMANDS]
        return found


def core_command(name: str) -> click.Command:
    """Return a command of the core."""
    command: click.Command = getattr(import_module(f"strongroom.cli.{name}"), _COMMANDS[name])
    return command


def core_commands() -> dict[str, click.Command]:
    """Return all commands of the core by their names, in the order of these."""
    return {name: core_command(name) for name in _COMMANDS}


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


def main(**options: Any) -> None:
    """Run the command line; a configuration that cannot be served is one line for each problem."""
    # Imports make much, and nearly nothing of it garbage: to look for that takes a tenth of the time.
    gc.set_threshold(_GARBAGE_AFTER, 20, 20)
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
