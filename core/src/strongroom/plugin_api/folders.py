"""Folders of the server and of storages: whether one can be used, without creating it."""

import os
from errno import EACCES, ENOTDIR
from pathlib import Path


def require_possible_folder(path: Path) -> None:
    """Check that a folder can be written to, or that a missing one can be created.

    ``strongroom config check`` constructs extensions without a change of the file system, so a
    constructor that needs a folder checks it by this function, and creates it with the first write.

    Args:
        path: an absolute path.

    Raises:
        OSError: the folder cannot be used; ``filename`` is the path that is the reason.
    """
    existing = next(place for place in (path, *path.parents) if place.exists())
    if not existing.is_dir():
        raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), str(existing))
    if not os.access(existing, os.W_OK | os.X_OK, effective_ids=True):
        raise PermissionError(EACCES, os.strerror(EACCES), str(existing))
