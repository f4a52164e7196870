"""The page of commands: the core's, then those of the plugins of this repository."""

from collections.abc import Iterator

import click

from generator.kinds import shipped
from generator.prose import prose, required
from strongroom.cli.main import core_commands

COMMANDS = """\
# Commands

`strongroom --help` shows them too. Each takes the configuration from `strongroom --config FILE`, which
stands before the command, or from `STRONGROOM_CONFIG`. What goes wrong is one line on standard error.
The exit code is 0 when all went well, 2 when the configuration or the command line is wrong, and 1 when
anything else is.
"""


def commands_page() -> Iterator[str]:
    """Yield the pieces of the page of commands."""
    yield COMMANDS
    for name, command in core_commands().items():
        yield from command_of(("strongroom", name), command)
    for plugin, command in shipped().ask("register_commands"):
        yield from command_of(
            ("strongroom", command.name), command, f"\nOf the plugin `{plugin.name}`.\n"
        )


def command_of(path: tuple[str, ...], command: click.Command, origin: str = "") -> Iterator[str]:
    """Yield the section of a command, or those of the commands of a group."""
    title = " ".join(path)
    if isinstance(command, click.Group):
        for name, subcommand in sorted(command.commands.items()):
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
