"""What a deployer may set."""

from dataclasses import dataclass
from pathlib import Path

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class DrawerOptions:
    """The keys of a section ``[storages.NAME]`` with ``backend = "drawer"``."""

    root: Path = option(help="The folder that holds the bytes; made if it is missing.")
