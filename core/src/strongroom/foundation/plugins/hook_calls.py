"""Faults of plugins' code while it runs: it is slow, it raises, or it returns something else.

Each is reported in one line with the plugin, the place and the remedy.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from types import ModuleType, TracebackType
from typing import Any, Final, Protocol, TypeVar
from weakref import WeakKeyDictionary

logger = logging.getLogger(__name__)

T = TypeVar("T")

SLOW_SECONDS: Final = 1.0
"""The duration from which on a call of a hook is reported."""

STOP_PATIENCE: Final = 3.0
"""Seconds after which a plugin that does not stop or close is named."""

_BUILTIN: Final = "strongroom.builtin"

_owners: Final[WeakKeyDictionary[type[Any], str]] = WeakKeyDictionary()


class PluginLike(Protocol):
    """A loaded plugin; ``str`` gives its name for messages."""

    @property
    def name(self) -> str: ...

    @property
    def module(self) -> ModuleType: ...


class SlowHooks:
    """Measures calls of hooks: each slow one is logged once, and counted each time."""

    def __init__(self) -> None:
        self._logged: set[tuple[str, str]] = set()
        self._early: list[tuple[str, str]] = []
        self._count: Callable[[str, str], None] | None = None

    def count_by(self, count: Callable[[str, str], None]) -> None:
        """Count slow calls, earlier ones included, by the names of the plugin and the hook."""
        self._count = count
        while self._early:
            count(*self._early.pop())

    def timed(self, plugin: PluginLike, hook: str, call: Callable[..., T], *arguments: Any) -> T:
        """Call a hook, and report it if it is slow."""
        began = perf_counter()
        try:
            return call(*arguments)
        finally:
            seconds = perf_counter() - began
            if seconds >= SLOW_SECONDS:
                self._report(plugin, hook, seconds)

    def _report(self, plugin: PluginLike, hook: str, seconds: float) -> None:
        key = (plugin.name, hook)
        if self._count is None:
            self._early.append(key)
        else:
            self._count(*key)
        if key not in self._logged:
            self._logged.add(key)
            remedy = "move the work to a job, or to a thread that start() begins"
            logger.warning("%s is slow: %s took %.1f s; %s", plugin, hook, seconds, remedy)


def failure(plugin: PluginLike, hook: str, error: BaseException) -> str:
    """Return the line of a hook that raised, with the line of the plugin's code."""
    place = find_place(plugin.module, error.__traceback__)
    return f"{plugin} failed in {hook}: {one_line(error)}{f' ({place})' if place else ''}"


def one_line(error: BaseException) -> str:
    """Return the type and the text of an error."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def find_place(module: ModuleType, traceback: TracebackType | None) -> str | None:
    """Return the innermost file and line of a traceback within a plugin's code."""
    return find_line(traceback, lambda file: is_plugin_code(module, file))


def find_import_place(module: str, error: Exception) -> str:
    """Return where the import of a plugin's module failed, in brackets; empty outside of its package."""
    package = module.partition(".")[0]
    place = find_line(error.__traceback__, lambda file: package in Path(file).with_suffix("").parts)
    return f" ({place})" if place else ""


def find_line(traceback: TracebackType | None, is_own: Callable[[str], bool]) -> str | None:
    """Return the innermost file and line of a traceback whose file is the plugin's."""
    place = None
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if is_own(name):
            place = f"{name}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place


def is_plugin_code(module: ModuleType, file: str) -> bool:
    """Return whether a file is a plugin's module, or a module of its package."""
    module_file = getattr(module, "__file__", None)
    if module_file is None:
        return False
    # A built-in plugin and a one-file plugin are one module, next to others.
    is_package = bool(module.__package__) and module.__package__ != _BUILTIN
    return file == module_file or (is_package and Path(module_file).parent in Path(file).parents)


def own(extension: type[Any], plugin: PluginLike) -> None:
    """Remember which plugin has registered an extension, for messages."""
    _owners[extension] = str(plugin)


@contextmanager
def named_if_stuck(state: str, remedy: str) -> Iterator[None]:
    """Log a plugin that does not end in time, while it has not ended.

    Args:
        state: the plugin and what it has not done, such as ``plugin "x" has not stopped``.
        remedy: what its author must do.
    """
    message = ("%s for %g s; %s", state, STOP_PATIENCE, remedy)
    timer = threading.Timer(STOP_PATIENCE, logger.warning, message)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        # Otherwise the thread ends a moment later, and looks like one that the plugin has left running.
        timer.join()


def get_owner(extension: object) -> str:
    """Return the plugin that has registered the class of an extension, for messages."""
    kind = type(extension)
    return f"{_owners.get(kind, kind.__module__)}: {kind.__name__}"


class WrongResult(TypeError):
    """The code of a plugin returned something else than it must; the message is one line."""


def require_result(extension: object, method: str, result: T, kind: type[Any]) -> T:
    """Return the result of an extension's method.

    Raises:
        WrongResult: it is of another type.
    """
    if not isinstance(result, kind):
        rule = f"return a {kind.__name__} of {kind.__module__}"
        raise WrongResult(f"{get_owner(extension)}.{method} returned {result!r}; {rule}")
    return result
