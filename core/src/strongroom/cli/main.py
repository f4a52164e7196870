"""The command ``strongroom``; the other modules of this package define its subcommands."""

import gc
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click

from strongroom.cli.context import CommandContext, warn
from strongroom.cli.output import echo
from strongroom.foundation.config import ConfigurationError
from strongroom.foundation.text_direction import with_shown_controls
from strongroom.version import __version__

EXIT_CONFIGURATION: Final = 2
"""The configuration is wrong."""

EXIT_UNAVAILABLE: Final = 3
"""The configuration may be right, but a service that it names does not answer now."""


_GARBAGE_AFTER: Final = 500_000
"""The threshold of the youngest generation: net allocations that trigger a collection."""

_COMMANDS: Final = {
    "access-keys": "access_keys:access_keys_group",
    "apply": "apply:apply",
    "audit": "audit:audit_group",
    "backup": "backup:backup_group",
    "config": "config:config_group",
    "db": "database:db_group",
    "doctor": "maintenance:doctor",
    "drain": "server_commands:drain",
    "events": "events:events_group",
    "files": "file_commands:files_group",
    "init": "init:init",
    "jobs": "jobs:jobs_group",
    "keys": "key_commands:keys_group",
    "mail": "mail:mail_group",
    "pages": "pages:pages_group",
    "openapi": "server_commands:openapi",
    "plugins": "plugins:plugins_group",
    "prune": "maintenance:prune",
    "rescue": "rescue:rescue_group",
    "serve": "server_commands:serve",
    "storage": "storage:storage_group",
    "tenants": "users:tenants_group",
    "users": "users:users_group",
}
"""The module and the name of each command object, by the name of the command."""


_PLUGIN_COMMANDS: Final = "strongroom.plugin_commands"


class RootGroup(click.Group):
    """Imports only the requested command; plugins are loaded only for commands unknown to the core."""

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

            if not (advice := hint(args[0])):
                raise
            raise click.UsageError(f"No such command '{args[0]}'; {advice}", ctx) from error

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            # A message may quote a name, and Click prints it as it is.
            error.message = with_shown_controls(error.message)  # type: ignore[misc]  # not shown yet
            raise

    def _plugin_commands(self, ctx: click.Context) -> dict[str, click.Command]:
        # Cached per run: help looks up every command, but each warning should appear only once.
        if _PLUGIN_COMMANDS not in ctx.meta:
            ctx.meta[_PLUGIN_COMMANDS] = CommandContext(ctx.params.get("config_path")).plugin_commands()
        commands: dict[str, click.Command] = ctx.meta[_PLUGIN_COMMANDS]
        return commands


def core_command(name: str) -> click.Command:
    """Return a command of the core."""
    module, _, attribute = _COMMANDS[name].partition(":")
    command: click.Command = getattr(import_module(f"strongroom.cli.{module}"), attribute)
    return command


def core_commands() -> dict[str, click.Command]:
    """Return all commands of the core, sorted by name."""
    return {name: core_command(name) for name in _COMMANDS}


@click.group(cls=RootGroup)
@click.version_option(__version__)
@click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path),
    envvar="STRONGROOM_CONFIG",
    help="The configuration file; without one, every key has its default.",
)
@click.pass_context
def root(ctx: click.Context, config_path: Path | None) -> None:
    """Strongroom: a self-hosted server for user accounts and files."""
    ctx.obj = CommandContext(config_path)


def main(**options: Any) -> None:
    """Run the command line; an invalid configuration prints one line per problem and exits."""
    # Imports allocate many objects but little garbage; collecting would take a tenth of the start-up.
    gc.set_threshold(_GARBAGE_AFTER, 20, 20)
    # The newest release of fs still uses pkg_resources.
    warnings.filterwarnings("ignore", message="pkg_resources is deprecated", category=UserWarning)
    # The core itself rejects short keys, with a better message.
    warnings.filterwarnings("ignore", message="Key size should be")
    try:
        root(prog_name="strongroom", **options)
    except ConfigurationError as error:
        for problem in error.problems:
            echo(f"strongroom: {problem}", err=True)
        sys.exit(EXIT_UNAVAILABLE if error.is_temporary else EXIT_CONFIGURATION)
