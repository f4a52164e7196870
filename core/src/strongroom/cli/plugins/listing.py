"""``strongroom plugins list`` and ``info``: shows plugins and their extensions."""

import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import click

from strongroom.cli.context import CommandContext, config_option, warn
from strongroom.cli.output import echo
from strongroom.foundation.config import ConfigurationError, Problem, Settings, plugins_settings
from strongroom.foundation.config.describe import Section, template
from strongroom.foundation.config.plugin_discovery import (
    PluginFiles,
    installed_plugins,
    installed_version,
    plugin_files,
)
from strongroom.foundation.config.server_settings import PluginsSettings
from strongroom.foundation.plugins.kinds import extension_kind, provided_by
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.plugin import Plugin, PluginError
from strongroom.foundation.plugins.selection import BUILTIN, Selection, offered_sections, select
from strongroom.plugin_api import API_VERSION, Extension

if TYPE_CHECKING:
    # Hosts import all features of the core, which the commands that create and check plugins do not use.
    from strongroom.assembly.plugin_host.hosts import PluginHosts

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
    settings, problems = _settings(context)
    files = _files(settings)
    for line in _enabled_lines(settings.enabled, files, _selection(context, problems)):
        echo(line)
    for name in sorted(installed_plugins().keys() - set(settings.enabled)):
        echo(f"{name:<20} {installed_version(name):<10} installed")


def _settings(context: CommandContext) -> tuple[PluginsSettings, Sequence[Problem]]:
    """Return the section [plugins], even if the rest of the configuration is invalid."""
    try:
        return context.configuration.settings.plugins, ()
    except ConfigurationError as error:
        for problem in error.problems:
            warn(str(problem))
        return plugins_settings(context.config_path, os.environ), error.problems


def _files(settings: PluginsSettings) -> PluginFiles:
    try:
        return plugin_files(settings.folder)
    except OSError as error:
        warn(f"plugins.folder: {settings.folder} cannot be read: {error.strerror}")
        return {}


def _selection(context: CommandContext, problems: Sequence[Problem]) -> Selection | None:
    """Load the plugins as the server does; return ``None`` if the configuration is invalid."""
    if problems:
        return None
    try:
        return select(context.configuration)
    except ConfigurationError as error:
        # The lines of broken plugins have their own reasons.
        for problem in error.problems:
            if problem.key not in {"plugins.enabled", "plugins.folder"}:
                warn(str(problem))
        return None


def _enabled_lines(enabled: Sequence[str], files: PluginFiles, selection: Selection | None) -> list[str]:
    """Describe the plugins; if they cannot be loaded together, load each to find the fault."""
    if selection is not None:
        plugins = selection.plugins
        hosts = _hosts(plugins, selection.options)
        return [_line(plugins, plugin, hosts) for plugin in plugins.plugins]
    try:
        manager = PluginManager(BUILTIN, enabled, files)
    except PluginError as error:
        lines = [_line_alone(name, files) for name in (*_BUILTIN_NAMES, *enabled, *files)]
        if not any(_BROKEN in line for line in lines):
            warn(f"plugins.enabled: {error}")
        return lines
    # Without options, the hooks would fail for want of them.
    return [_line(manager, plugin) for plugin in manager.plugins]


def _hosts(manager: PluginManager, options: Mapping[str, Any]) -> "PluginHosts":
    from strongroom.assembly.plugin_host.hosts import offline_hosts

    return offline_hosts(Settings(), manager, options)


def fault_of_hooks(manager: PluginManager, options: Mapping[str, Any], plugin: Plugin) -> str | None:
    """Return the reason why a plugin cannot register what it builds for its host, or ``None``."""
    from strongroom.assembly.plugin_host.part import registration_fault

    return registration_fault(_hosts(manager, options), plugin)


def has_routes(manager: PluginManager, options: Mapping[str, Any], plugin: Plugin) -> bool:
    """Return whether a blueprint of a plugin has routes, or may have, if its hook needs options."""
    try:
        blueprints = _hosts(manager, options).call_one(plugin, "register_blueprints")
    except PluginError:
        return True
    return any(blueprint.routes for blueprint in blueprints)


def _line(manager: PluginManager, plugin: Plugin, hosts: "PluginHosts | None" = None) -> str:
    if hosts is not None:
        from strongroom.assembly.plugin_host.part import registration_fault

        if fault := registration_fault(hosts, plugin):
            return _broken_line(plugin.name, plugin.version, fault)
    origin = f" ({plugin.file})" if plugin.file else ""
    provided = ", ".join(provided_by(manager, plugin))
    return f"{plugin.name:<20} {plugin.version:<10} enabled   {provided}{origin}"


def _line_alone(name: str, files: PluginFiles) -> str:
    try:
        return _line(*_load(name, files))
    except PluginError as error:
        return _broken_line(name, "file" if name in files else installed_version(name), str(error))


def _broken_line(name: str, version: str, fault: str) -> str:
    return f"{name:<20} {version:<10} {_BROKEN} {fault}"


@click.command("info")
@click.argument("name")
@click.pass_obj
def info_command(context: CommandContext, name: str) -> None:
    """Show a plugin, its extensions and their options.

    The plugin is imported, even if it is not enabled.
    """
    files = plugin_files(plugins_settings(context.config_path, os.environ).folder)
    manager, plugin = load_plugin(name, files)
    for line in _describe(manager, plugin):
        echo(line)


def load_plugin(name: str, files: PluginFiles = MappingProxyType({})) -> tuple[PluginManager, Plugin]:
    """Load one plugin and the built-in ones.

    Raises:
        click.ClickException: it is not installed, or is incompatible.
    """
    try:
        return _load(name, files)
    except PluginError as error:
        raise click.ClickException(str(error)) from error


def _load(name: str, files: PluginFiles) -> tuple[PluginManager, Plugin]:
    chosen = {name: files[name]} if name in files else {}
    enabled = () if name in _BUILTIN_NAMES or chosen else (name,)
    manager = PluginManager(BUILTIN, enabled, chosen)
    return manager, next(plugin for plugin in manager.plugins if plugin.name == name)


def _describe(manager: PluginManager, plugin: Plugin) -> Iterator[str]:
    yield f"{plugin.name} {plugin.version}"
    yield from _origins(plugin)
    yield f"  plugin API   {plugin.module.API_VERSION}, on a server that has {API_VERSION}"
    sections = {section.options_type: section for section in offered_sections(manager)}
    for extension in manager.get_extensions(plugin):
        yield ""
        yield from _describe_extension(extension, sections.get(extension.options_type))
    if plugin.name in manager.options_types:
        yield ""
        section = Section(("plugins", plugin.name), manager.options_types[plugin.name])
        yield from (line for line in template([section]) if line)
    if hasattr(plugin.module, "register_blueprints"):
        yield "\nroutes: see the OpenAPI document of a server that enables it"
    hosts = _hosts(manager, {})
    for hook, attribute in (("register_errors", "code"), ("register_commands", "name")):
        names = [str(getattr(item, attribute)) for item in hosts.call_one(plugin, hook)]
        if names:
            yield f"\n{hook.removeprefix('register_')}: {', '.join(names)}"


def _origins(plugin: Plugin) -> Iterator[str]:
    if plugin.file:
        yield f"  file         {plugin.file}"
        return
    for entry_point in installed_plugins().get(plugin.name, ()):
        yield f"  entry point  {entry_point.name} = {entry_point.value}"
        if entry_point.dist:
            yield f"  distribution {entry_point.dist.name}"


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
