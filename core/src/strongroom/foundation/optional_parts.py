"""Parts of the interface that a server may lack, from ``optional_parts.toml``: routes and commands."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

_FILE: Final = Path(__file__).with_suffix(".toml")


@cache
def _parts() -> Mapping[str, Mapping[str, Any]]:
    tables: Mapping[str, Mapping[str, Any]] = tomllib.loads(_FILE.read_text())
    return tables


def reserved_routes() -> Iterator[tuple[str, str]]:
    """Yield the method and the path of each route that answers 501 if nothing provides it."""
    for kind in _parts().values():
        for part in kind.values():
            for route in part.get("routes", ()):
                method, path = route.split()
                yield method, path


def plugin_of_extension(extension: str) -> str | None:
    """Return the plugin of the tree whose name does not end with its extension's, or ``None``."""
    for plugin, part in _parts()["plugins"].items():
        if extension in part.get("extensions", ()):
            return str(plugin)
    return None


def plugin_of_command(command: str) -> str | None:
    """Return the plugin of the tree that provides a command, or ``None``."""
    for plugin, part in _parts()["plugins"].items():
        if command in part.get("commands", ()):
            return str(plugin)
    return None
