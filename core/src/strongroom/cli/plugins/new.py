"""``strongroom plugins new``: creates the package of a new plugin from a template."""

import keyword
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any, Final

import click

from strongroom.cli.output import echo
from strongroom.cli.plugins.one_file import joined
from strongroom.foundation.config.plugin_discovery import installed_plugins
from strongroom.foundation.plugins.kinds import KINDS, Kind, extension_kind
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.selection import BUILTIN
from strongroom.plugin_api import API_VERSION
from strongroom.plugin_api.factors import member_name
from strongroom.version import __version__

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_MAX_LENGTH: Final = 24
_SUFFIX: Final = ".template"
_IMPORTS_MODULE: Final = "from $package import "


class PluginName(click.ParamType[str]):
    """A name that is valid in packages, classes and configuration files."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if not _NAME.fullmatch(text) or len(text) > _MAX_LENGTH or keyword.iskeyword(text):
            rule = f"at most {_MAX_LENGTH} lowercase letters, digits and single underscores"
            self.fail(f'"{text}" is not a valid plugin name: {rule}, such as tape_robot', param, ctx)
        return text


@click.command("new")
@click.argument("kind", type=click.Choice([kind.name for kind in KINDS]))
@click.argument("name", type=PluginName())
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    help="The folder of the package. Default: strongroom-KIND-NAME in the current folder.",
)
@click.option(
    "--one-file",
    "plugins_folder",
    type=click.Path(path_type=Path),
    help="Write one file to this folder of one-file plugins instead of a package.",
)
def new_command(kind: str, name: str, folder: Path | None, plugins_folder: Path | None) -> None:
    """Create a plugin from a template: an installable package with passing tests.

    NAME is the name of the extension in the configuration. No network access is needed, neither now nor
    for the installation.
    """
    chosen = next(item for item in KINDS if item.name == kind)
    _refuse_taken_name(chosen, name)
    values = _values(chosen, name)
    if plugins_folder is not None:
        path = write_plugin_file(chosen, name, plugins_folder)
        echo(f"{path} was created. Next:")
        echo(f'  set folder = "{plugins_folder}" in the section [plugins] of the configuration')
        return
    target = folder or Path(values["distribution"])
    write_plugin(chosen, name, target)
    echo(f"{target} was created. Next:")
    echo(f"  pip install --no-build-isolation -e {target}")
    echo(f"  strongroom plugins check {values['plugin']}")


def write_plugin(kind: Kind, name: str, target: Path) -> None:
    """Write the package of a new plugin.

    Raises:
        click.ClickException: the folder is not empty, or cannot be written to.
    """
    values = _values(kind, name)
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise click.ClickException(f"{target} already exists and is not empty")
        for place, source in _templates(kind).items():
            path = target.joinpath(*_place(place, values["package"]))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(Template(source.read_text()).substitute(values))
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror}") from error


def write_plugin_file(kind: Kind, name: str, folder: Path) -> Path:
    """Write a one-file plugin, and return its path.

    Raises:
        click.ClickException: the kind needs a package, the file exists, or it cannot be written.
    """
    values, sources = _values(kind, name), _templates(kind)
    modules = _modules(kind, sources)
    path = folder / f"{values['plugin']}.py"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x") as file:
            texts = {
                module: Template(source.read_text()).substitute(values)
                for module, source in modules.items()
            }
            file.write(joined(values["package"], texts))
    except FileExistsError as error:
        raise click.ClickException(f"{path} already exists") from error
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from error
    return path


def _modules(kind: Kind, sources: Mapping[tuple[str, ...], Traversable]) -> dict[str, Traversable]:
    """Return the modules of a kind's package by name."""
    inside = {place[1:]: source for place, source in sources.items() if place[0] == "package"}
    del inside["py.typed",], inside["__init__.py",]
    is_plain = all(len(place) == 1 and place[0].endswith(".py") for place in inside)
    if not is_plain or any(_IMPORTS_MODULE in source.read_text() for source in inside.values()):
        raise click.ClickException(f"{kind.name} plugins need a package; omit --one-file")
    return {place[0].removesuffix(".py"): source for place, source in inside.items()}


def _refuse_taken_name(kind: Kind, name: str) -> None:
    if f"{kind.name}_{name}" in installed_plugins():
        raise click.ClickException(
            f"a plugin {kind.name}_{name} is installed already; choose another name"
        )
    builtin = PluginManager(BUILTIN, ())
    for plugin in builtin.plugins:
        for extension in builtin.get_extensions(plugin):
            if extension_kind(extension) is kind and extension.name == name:
                raise click.ClickException(f'"{name}" is built in; choose another name')


def _values(kind: Kind, name: str) -> dict[str, str]:
    camel = "".join(part.capitalize() for part in name.split("_"))
    plugin = f"{kind.name}_{name}"
    return {
        "name": name,
        "Name": camel,
        "NAME": name.upper(),
        "member": member_name(name),
        "slug": name.replace("_", "-"),
        "Class": camel + kind.suffix,
        "plugin": plugin,
        "package": f"strongroom_{plugin}",
        "distribution": f"strongroom-{plugin}".replace("_", "-"),
        "description": kind.description,
        "module": kind.module,
        "base": kind.base.__name__ if kind.base else "",
        "behaviour": kind.behaviour,
        "hook": kind.hook,
        "api_version": API_VERSION,
        "dependencies": ", ".join(
            f'"{distribution}>={__version__},<1"' for distribution in ("strongroom", *kind.requires)
        ),
    }


def _place(parts: tuple[str, ...], package: str) -> tuple[str, ...]:
    return ("src", package, *parts[1:]) if parts[0] == "package" else parts


def _templates(kind: Kind) -> dict[tuple[str, ...], Traversable]:
    """Return the templates of a kind by the parts of their target paths.

    A template of the kind replaces the one of all kinds with the same path.
    """
    root = files("strongroom.cli.plugins") / "templates"
    return {**dict(_walk(root / "every", ())), **dict(_walk(root / kind.name, ()))}


def _walk(folder: Traversable, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Traversable]]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _walk(item, (*place, item.name))
        elif item.name.endswith(_SUFFIX):
            yield (*place, item.name.removesuffix(_SUFFIX)), item
