"""``strongroom plugins``: what is installed and what is in use."""

from collections.abc import Mapping
from typing import Any

import click

from strongroom.cli.context import CommandContext
from strongroom.plugin_api import Extension
from strongroom.plugin_manager import PluginManager, installed_plugins
from strongroom.selection import select


@click.group("plugins")
def plugins_group() -> None:
    """Look at plugins."""


@plugins_group.command("list")
@click.pass_obj
def list_command(context: CommandContext) -> None:
    """List built-in and installed plugins, and what the enabled ones offer.

    An installed plugin that is not enabled is not imported, so what it offers is not known.
    """
    manager = select(context.configuration).plugins
    enabled = {plugin.name for plugin in manager.plugins}
    for plugin in manager.plugins:
        offers = _offers(manager, plugin.module.__name__)
        click.echo(f"{plugin.name:<20} {plugin.version:<10} enabled   {offers}")
    for name, entry_points in sorted(installed_plugins().items()):
        if name not in enabled:
            distribution = entry_points[0].dist
            click.echo(f"{name:<20} {distribution.version if distribution else '?':<10} installed")


def _offers(manager: PluginManager, module_name: str) -> str:
    package = module_name.rpartition(".")[0] if module_name.endswith(".plugin") else module_name
    kinds: Mapping[str, Mapping[str, type[Extension[Any]]]] = {
        "storage": manager.storage_backends,
        "login": manager.login_methods,
        "captcha": manager.captcha_providers,
        "sender": manager.message_senders,
    }
    return ", ".join(
        f"{kind} {name}"
        for kind, offered in kinds.items()
        for name, extension in offered.items()
        if extension.__module__.startswith(package)
    )
