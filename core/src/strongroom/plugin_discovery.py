"""Finds the installed plugins by their entry points, without importing any."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from strongroom.plugin_api import ENTRY_POINT_GROUP

InstalledPlugins = Mapping[str, list[EntryPoint]]


def installed_plugins() -> InstalledPlugins:
    """Return the entry points of installed plugins by name; a name may be installed twice."""
    return _scan(tuple(_folders()))


# A scan reads a file of each installed distribution. The workers inherit the result of the process that
# forks them. The arguments change when a distribution is installed or removed.
@lru_cache(maxsize=1)
def _scan(_folders: tuple[tuple[str, int], ...]) -> InstalledPlugins:
    found: dict[str, list[EntryPoint]] = {}
    for entry_point in entry_points(group=ENTRY_POINT_GROUP):
        found.setdefault(entry_point.name, []).append(entry_point)
    return found


def _folders() -> Iterator[tuple[str, int]]:
    """Yield each folder of ``sys.path`` with its time of modification in nanoseconds."""
    for path in sys.path:
        with suppress(OSError):
            yield path, Path(path).stat().st_mtime_ns
