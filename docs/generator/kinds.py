"""The kinds of extensions, and the plugins of this repository."""

from pathlib import Path
from typing import Any

from strongroom.foundation.plugins import kinds
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.selection import BUILTIN
from strongroom.plugin_api import Extension

KINDS: tuple[type[Extension[Any]], ...] = tuple(kind.base for kind in kinds.KINDS if kind.base)

_ROOT = Path(__file__).parents[2]


def shipped(*more: str) -> PluginManager:
    """Return a plugin manager with every plugin of the folder ``plugins`` enabled, and ``more``."""
    projects = _ROOT.glob("plugins/*/pyproject.toml")
    # A library for plugins has no entry point.
    names = sorted(path.parent.name for path in projects if "strongroom.plugins" in path.read_text())
    return PluginManager(BUILTIN, [*names, *more])
