"""A loaded plugin, and the error of one that cannot be used."""

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType


class PluginError(Exception):
    """A plugin cannot be used. The message is one line with its name and the reason."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A loaded plugin."""

    name: str
    module: ModuleType
    version: str
    file: Path | None = None
    """The file of a one-file plugin."""

    def __str__(self) -> str:
        place = f" ({self.file})" if self.file else ""
        return f'plugin "{self.name}"{place}'
