"""Finds the installed plugins by their entry points, without importing any, and one-file plugins."""

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

from strongroom.plugin_api import ENTRY_POINT_GROUP

InstalledPlugins = Mapping[str, list[EntryPoint]]


def installed_plugins() -> InstalledPlugins:
    """Return the entry points of installed plugins by name; a name may be installed twice."""
    return _scan(tuple(_folders()))


# A scan reads a file of each installed distribution. The workers inherit the result of the process that
# forks them. The arguments change when a distribution is installed or removed.
@lru_cache(maxsize=1)
def _scan(_folders: tuple[tuple[str, int], ...]) -> InstalledPlugins:
    by_name: dict[str, list[EntryPoint]] = {}
    for entry_point in entry_points(group=ENTRY_POINT_GROUP):
        by_name.setdefault(entry_point.name, []).append(entry_point)
    return by_name


def installed_version(plugin: str) -> str:
    """Return the version of the distribution of an installed plugin; ``?`` if it has none."""
    distributions = (entry_point.dist for entry_point in installed_plugins().get(plugin, ()))
    return next((distribution.version for distribution in distributions if distribution), "?")


def _folders() -> Iterator[tuple[str, int]]:
    """Yield each folder of ``sys.path`` with its time of modification in nanoseconds."""
    for path in sys.path:
        with suppress(OSError):
            yield path, Path(path).stat().st_mtime_ns


PluginFiles = Mapping[str, Path]
"""The files of one-file plugins, by the names of the plugins."""

_PREFIX: Final = "strongroom_plugin_file_"
_STAMP: Final = "__strongroom_stamp__"


def plugin_files(folder: Path | None) -> PluginFiles:
    """Return the one-file plugins of a folder. Files whose names begin with ``_`` or ``.`` are ignored.

    Raises:
        OSError: the folder cannot be read.
    """
    if folder is None:
        return {}
    files = sorted(path for path in folder.absolute().iterdir() if path.suffix == ".py")
    return {path.stem: path for path in files if path.name[0] not in "._" and path.is_file()}


def writable_by_others(folder: Path | None) -> list[Path]:
    """Return the folder of one-file plugins and its files, as far as users outside its group may write.

    What they write would run as the server. A mount that is read-only cannot be written by its mode.
    """
    if folder is None:
        return []
    paths = [folder.absolute(), *plugin_files(folder).values()]
    return [path for path in paths if path.stat().st_mode & stat.S_IWOTH and not _is_read_only(path)]


def _is_read_only(path: Path) -> bool:
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


class _UncachedLoader(SourceFileLoader):
    """Compiles the file at each import.

    The bytecode cache compares whole seconds and the size, so an edit right after
    a start could be missed.
    """

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002  the signature of importlib
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def load_plugin_file(name: str, path: Path) -> ModuleType:
    """Import a one-file plugin, unless this process has imported it since its last change.

    Raises:
        Exception: what the file raises.
    """
    loaded, status = sys.modules.get(_PREFIX + name), path.stat()
    stamp = (str(path), status.st_mtime_ns, status.st_size)
    if loaded is not None and getattr(loaded, _STAMP, None) == stamp:
        return loaded
    loader = _UncachedLoader(_PREFIX + name, str(path))
    spec = spec_from_file_location(_PREFIX + name, path, loader=loader)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = module_from_spec(spec)
    # Before it is executed, because dataclasses look their module up by its name.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    setattr(module, _STAMP, stamp)
    return module
