"""Configuration options."""

from dataclasses import dataclass
from typing import Any

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class FsspecOptions:
    """The keys of a section ``[storages.NAME]`` with ``backend = "fsspec"``."""

    url: str = option(
        secret=True,
        help="The folder as a URL of fsspec, such as ssh://host/srv/strongroom; other schemes need "
        "their own packages.",
    )
    publish: str = option(
        "rename",
        choices=("rename", "direct"),
        help="How an object becomes visible when it is complete: by renaming a temporary file, or by "
        "the commit of the filesystem's own upload, as object stores have it.",
    )
    options: dict[str, Any] = option(
        default_factory=dict,
        secret=True,
        help="The arguments of the filesystem, as its documentation describes them.",
    )

    def __post_init__(self) -> None:
        if "://" not in self.url:
            raise ValueError("url: must be like ssh://host/folder or file:///srv/files")
