"""``strongroom plugins list`` and ``info``: shows plugins and their extensions."""

import inspect
import os
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, Final

import click

from strongroom.cli.context import CommandContext, config_option, warn
from strongroom.config import ConfigurationError, Settings, enabled_plugins
from strongroom.config.describe import Section, template
from strongroom.plugin_api import API_VERSION, Extension
from strongroom.plugin_discovery import installed_plugins
from strongroom.plugin_host.hosts import offline_hosts
from strongroom.plugins.manager import Plugin, PluginError, PluginManager
from strongroom.plugins.seams import extension_kind
from strongroom.plugins.selection import BUILTIN, offered_sections

_BUILTIN_NAMES: Final = tuple(module.__name__.rpartition(".")[2] for module in BUILTIN)
_BROKEN: Final = "broken:  "


@click.command("list")
@config_option
@click.pass_obj
def list_command(context: CommandContext) -> None:
    """List built-in and installed plugins, and the extensions of the enabled ones.

    An installed plugin that is not enabled is not imported, so its extensions are not listed. A plugin
    that cannot be loaded is listed as broken, with the reason. Other problems of the configuration are
    printed as warnings.
    """
    enabled = _enabled_plugins(context)
    for line in _enabled_lines(enabled):
        click.echo(line)
    for name in sorted(installed_plugins().keys() - set(enabled)):
        click.echo(f"{name:<20} {_version(name):<10} installed")


def _enabled_plugins(context: CommandContext) -> Sequence[str]:
    """Return the enabled plugins, even if the rest of the configuration is invalid."""
    try:
        return context.configuration.settings.plugins.enabled
    except ConfigurationError as error:
        for problem in error.problems:
            warn(str(problem))
    return enabled_plugins(context.config_path, os.environ)


def _enabled_lines(enabled: Sequence[str]) -> list[str]:
    """Load all plugins as the server does; if that fails, load each separately to find the fault."""
    try:
        manager = PluginManager(BUILTIN, enabled)
    except PluginError as error:
        lines = [_line_alone(name) for name in (*_BUILTIN_NAMES, *enabled)]
        if not any(_BROKEN in line for line in lines):
            warn(f"plugins.enabled: {error}")
        return lines
    return [_line(manager, plugin) for plugin in manager.plugins]


def _line(manager: PluginManager, plugin: Plugin) -> str:
    return f"{plugin.name:<20} {plugin.version:<10} enabled   {_offers(manager, plugin)}"


def _line_alone(name: str) -> str:
    try:
        return _line(*_load(name))
    except PluginError as error:
        return f"{name:<20} {_version(name):<10} {_BROKEN} {error}"


def _version(name: str) -> str:
    distributions = (entry_point.dist for entry_point in installed_plugins().get(name, ()))
    return next((found.version for found in distributions if found), "?")


@click.command("info")
@click.argument("name")
def info_command(name: str) -> None:
    """Show a plugin, its extensions and their options.

    The plugin is imported, even if it is not enabled.
    """
    manager, plugin = load_plugin(name)
    for line in _describe(manager, plugin):
        click.echo(line)


def load_plugin(name: str) -> tuple[PluginManager, Plugin]:
    """Load one plugin and the built-in ones.

    Raises:
        click.ClickException: it is not installed, or is incompatible.
    """
    try:
        return _load(name)
    except PluginError as error:
        raise click.ClickException(str(error)) from error


def _load(name: str) -> tuple[PluginManager, Plugin]:
    manager = PluginManager(BUILTIN, () if name in _BUILTIN_NAMES else (name,))
    return manager, next(plugin for plugin in manager.plugins if plugin.name == name)


def _offers(manager: PluginManager, plugin: Plugin) -> str:
    extensions = manager.extensions_of(plugin)
    return ", ".join(f"{extension_kind(extension).name} {extension.name}" for extension in extensions)


def _describe(manager: PluginManager, plugin: Plugin) -> Iterator[str]:
    yield f"{plugin.name} {plugin.version}"
    for entry_point in installed_plugins().get(plugin.name, ()):
        yield f"  entry point  {entry_point.name} = {entry_point.value}"
        if entry_point.dist:
            yield f"  distribution {entry_point.dist.name}"
    yield f"  plugin API   {plugin.module.API_VERSION}, on a server that has {API_VERSION}"
    sections = {section.options_type: section for section in offered_sections(manager)}
    for extension in manager.extensions_of(plugin):
        yield ""
        yield from _describe_extension(extension, sections.get(extension.options_type))
    if plugin.name in manager.options_types:
        yield ""
        section = Section(("plugins", plugin.name), manager.options_types[plugin.name])
        yield from (line for line in template([section]) if line)
    if hasattr(plugin.module, "register_blueprints"):
        yield "\nroutes: see the OpenAPI document of a server that enables it"
    hosts = offline_hosts(Settings(), manager, {})
    for hook, attribute in (("register_errors", "code"), ("register_commands", "name")):
        names = [str(getattr(item, attribute)) for item in hosts.call_one(plugin, hook)]
        if names:
            yield f"\n{hook.removeprefix('register_')}: {', '.join(names)}"


def _describe_extension(extension: type[Extension[Any]], section: Section | None) -> Iterator[str]:
    kind = extension_kind(extension)
    yield f"{kind.name} {extension.name}: {_first_sentence(extension)}"
    extras = [
        base.__name__
        for base in extension.__mro__
        if base.__module__ == kind.module and not issubclass(base, Extension)
    ]
    if extras:
        yield f"  can also: {', '.join(extras)}"
    if section is None or not fields(extension.options_type):
        yield "  options: none"
        return
    where = {"storages": "NAME"}.get(section.path[0])
    path = (section.path[0], where) if where else section.path
    shown = Section(path, section.options_type, chosen_by=section.chosen_by)
    yield from (f"  {line}".rstrip() for line in template([shown]) if line)


def _first_sentence(extension: type[Extension[Any]]) -> str:
    return " ".join((inspect.getdoc(extension) or "").partition("\n\n")[0].split())
