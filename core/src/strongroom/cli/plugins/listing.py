"""``strongroom plugins list`` and ``info``: what is installed, in use and offered."""

import inspect
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import click

from strongroom.cli.context import CommandContext
from strongroom.cli.plugins.kinds import kind_of
from strongroom.config.describe import Section, template
from strongroom.plugin_api import API_VERSION, Extension
from strongroom.plugin_manager import Plugin, PluginError, PluginManager, installed_plugins
from strongroom.selection import BUILTIN, offered_sections, select


@click.command("list")
@click.pass_obj
def list_command(context: CommandContext) -> None:
    """List built-in and installed plugins, and what the enabled ones offer.

    An installed plugin that is not enabled is not imported, so what it offers is not known.
    """
    manager = select(context.configuration).plugins
    enabled = {plugin.name for plugin in manager.plugins}
    for plugin in manager.plugins:
        click.echo(f"{plugin.name:<20} {plugin.version:<10} enabled   {_offers(manager, plugin)}")
    for name, entry_points in sorted(installed_plugins().items()):
        if name not in enabled:
            distribution = entry_points[0].dist
            click.echo(f"{name:<20} {distribution.version if distribution else '?':<10} installed")


@click.command("info")
@click.argument("name")
def info_command(name: str) -> None:
    """Show what a plugin is, what it offers, and its options.

    It is imported for that, enabled or not.
    """
    manager, plugin = load_plugin(name)
    for line in _describe(manager, plugin):
        click.echo(line)


def load_plugin(name: str) -> tuple[PluginManager, Plugin]:
    """Load one plugin beside those of the core.

    Raises:
        click.ClickException: it is missing, or does not fit.
    """
    is_builtin = name in {module.__name__.rpartition(".")[2] for module in BUILTIN}
    try:
        manager = PluginManager(BUILTIN, () if is_builtin else (name,))
    except PluginError as error:
        raise click.ClickException(str(error)) from error
    return manager, next(plugin for plugin in manager.plugins if plugin.name == name)


def _offers(manager: PluginManager, plugin: Plugin) -> str:
    extensions = manager.extensions_of(plugin)
    return ", ".join(f"{kind_of(extension).name} {extension.name}" for extension in extensions)


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
    if hasattr(plugin.module, "register_blueprints"):
        yield "\nroutes: see the OpenAPI document of a server that enables it"
    for hook, attribute in (("register_errors", "code"), ("register_commands", "name")):
        names = [str(getattr(item, attribute)) for owner, item in manager.ask(hook) if owner is plugin]
        if names:
            yield f"\n{hook.removeprefix('register_')}: {', '.join(names)}"


def _describe_extension(extension: type[Extension[Any]], section: Section | None) -> Iterator[str]:
    kind = kind_of(extension)
    yield f"{kind.name} {extension.name}: {_first_sentence(extension)}"
    extras = [
        base.__name__
        for base in extension.__mro__
        if base.__module__ == kind.base.__module__ and not issubclass(base, Extension)
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
