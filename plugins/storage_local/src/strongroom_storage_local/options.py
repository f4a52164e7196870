"""Configuration options."""

from dataclasses import dataclass
from pathlib import Path

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """The keys of a section ``[storages.NAME]`` with ``backend = "local"``."""

    root: Path = option(help="The folder for the files; created if it is missing.")
    reserve_bytes: int = option(
        64 * 1024 * 1024,
        minimum=0,
        help="Free space in bytes below which uploads get 507.",
        advanced=True,
    )
