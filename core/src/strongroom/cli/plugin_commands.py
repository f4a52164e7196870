"""The commands of plugins, and hints which plugin provides an unknown command."""

import click

from strongroom.assembly.plugin_host.hosts import PluginHosts
from strongroom.foundation.config.plugin_discovery import installed_plugins
from strongroom.foundation.optional_parts import plugin_of_command
from strongroom.foundation.plugins.plugin import Plugin, PluginError


def collect_commands(hosts: PluginHosts) -> tuple[dict[str, click.Command], list[str]]:
    """Return the commands of plugins by name, and an error line for each plugin that failed."""
    commands: dict[str, click.Command] = {}
    faults: list[str] = []
    for plugin in hosts.plugins.plugins:
        try:
            commands = _merge(commands, _plugin_commands(hosts, plugin))
        except PluginError as error:
            faults.append(str(error))
    return commands, faults


def _plugin_commands(hosts: PluginHosts, plugin: Plugin) -> dict[str, click.Command]:
    commands: dict[str, click.Command] = {}
    for item in hosts.call_one(plugin, "register_commands"):
        if not isinstance(item, click.Command) or not item.name:
            raise PluginError(
                f"{plugin} returned {item!r} from register_commands; expected a named click.Command"
            )
        commands[item.name] = item
    return commands


def _merge(
    commands: dict[str, click.Command], more: dict[str, click.Command]
) -> dict[str, click.Command]:
    """Return all commands; groups of one name become one group."""
    merged = commands | more
    for name in commands.keys() & more.keys():
        former, later = commands[name], more[name]
        if isinstance(former, click.Group) and isinstance(later, click.Group):
            merged[name] = click.Group(
                name, commands={**former.commands, **later.commands}, help=former.help
            )
    return merged


def hint(command: str) -> str:
    """Return a hint which plugin to enable or install for an unknown command, or ``""``.

    Plugins are not imported. A third-party plugin is guessed by its name.
    """
    installed = installed_plugins()
    likely = [name for name in installed if command in name.split("_")]
    plugin = plugin_of_command(command) or next(iter(sorted(likely)), None)
    if plugin is None:
        return ""
    if plugin in installed:
        return f'the plugin "{plugin}" provides it: add "{plugin}" to plugins.enabled'
    distribution = f"strongroom-{plugin.replace('_', '-')}"
    return f'the plugin "{plugin}" provides it: pip install {distribution}, then enable the plugin'
