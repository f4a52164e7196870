"""Metrics of the disks that an instance writes to: its folder, SQLite's and local storages'."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from strongroom.content.storage.stores import Store
from strongroom.extensions.observability.bounded_calls import PATIENCE_SECONDS, BoundedCalls
from strongroom.extensions.observability.families import Family, Sample
from strongroom.plugin_api.storage import LocalPaths

FREE: Final = Family(
    "strongroom_disk_free_bytes",
    "Bytes that the server may still write to the file system of `data_dir`, of SQLite's file "
    "(`database`) or of a local storage.",
    ("disk",),
)
SIZE: Final = Family("strongroom_disk_size_bytes", "Size of these file systems.", ("disk",))
DISK_FAMILIES: Final = (FREE, SIZE)

_Space = tuple[int, int]
"""The free bytes and the size of a file system."""


class Disks:
    """Reads the free space of folders. One that cannot be read, or hangs, is missing.

    Args:
        folders: the folders by the name of the disk.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        reads: dict[str, Callable[[], _Space]] = {
            name: partial(_space, folder) for name, folder in folders.items()
        }
        self._calls = BoundedCalls(reads, PATIENCE_SECONDS, "disks")

    def __call__(self) -> Iterator[tuple[Family, list[Sample]]]:
        """Yield the metrics."""
        calls = self._calls.results()
        spaces = {
            name: call.result()
            for name, call in calls.items()
            if call is not None and call.exception() is None
        }
        yield FREE, [((name,), free) for name, (free, _) in spaces.items()]
        yield SIZE, [((name,), size) for name, (_, size) in spaces.items()]


def disk_folders(data_dir: Path, engine: Engine, storages: Mapping[str, Store]) -> dict[str, Path]:
    """Return the folders that an instance writes to, by the label of their metrics."""
    folders = {"data_dir": data_dir.absolute()}
    if engine.dialect.name == "sqlite" and engine.url.database:
        folders["database"] = Path(engine.url.database).absolute().parent
    for name, store in storages.items():
        if (local := store.capability(LocalPaths)) is not None:
            folders[f"storages.{name}"] = local.local_path("any").parent
    return folders


def _space(folder: Path) -> _Space:
    # A storage creates its folder with the first object.
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    disk = os.statvfs(existing)
    return disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
