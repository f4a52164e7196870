"""Generates the page of commands: first those of the core, then those of this repository's plugins."""

from collections.abc import Iterator

import click

from generator.kinds import shipped
from generator.prose import prose, required
from strongroom.assembly.plugin_host.hosts import offline_hosts
from strongroom.cli.main import core_commands
from strongroom.foundation.config import Settings

COMMANDS = """\
# Commands

`strongroom --help` lists them too. Each reads the configuration from `strongroom --config FILE`, an
option before the command, or from `STRONGROOM_CONFIG`. Errors are one line on standard error. The exit
code is 0 on success, 2 if the configuration or the command line is invalid, and 1 on any other error.
"""


def commands_page() -> Iterator[str]:
    """Yield the pieces of the page of commands."""
    yield COMMANDS
    for name, command in core_commands().items():
        yield from command_of(("strongroom", name), command)
    hosts = offline_hosts(Settings(), shipped("simulators"), {})
    for plugin, command in hosts.call("register_commands"):
        yield from command_of(
            ("strongroom", command.name), command, f"\nProvided by the plugin `{plugin.name}`.\n"
        )


def command_of(path: tuple[str, ...], command: click.Command, origin: str = "") -> Iterator[str]:
    """Yield the section of a command, or the sections of all commands in a group."""
    title = " ".join(path)
    if isinstance(command, click.Group):
        for name, subcommand in sorted(command.commands.items()):
            if not subcommand.hidden:
                yield from command_of((*path, name), subcommand, origin)
        return
    yield f"\n## `{title}`\n{origin}\n{prose(command.callback, title)}\n"
    arguments = [item for item in command.params if isinstance(item, click.Argument)]
    options = [item for item in command.params if isinstance(item, click.Option)]
    context = click.Context(command, info_name=title)
    usage = " ".join([title, "[OPTIONS]", *(item.make_metavar(context) for item in arguments)])
    yield f"\n```text\n{usage}\n```\n" if options or arguments else ""
    for option in options:
        spelled, _ = option.get_help_record(context) or ("", "")
        yield f"\n- `{spelled}`: {required(option.help, f'{title} {option.name}')}"
    yield "\n" if options else ""
