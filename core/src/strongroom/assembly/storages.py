"""The named storages, opened, and how their bytes travel where the server is not between."""

from collections.abc import Mapping
from typing import Any

from strongroom.assembly.infrastructure import Infrastructure
from strongroom.config.files import StorageSettings
from strongroom.plugin_api.storage import (
    LocalPaths,
    SignedDownloads,
    SignedUploads,
    StorageBackend,
)
from strongroom.storage.delivery import Route


def open_storages(base: Infrastructure) -> Mapping[str, StorageBackend[Any]]:
    """Open each storage that is configured.

    Raises:
        ConfigurationError: one cannot be opened, or cannot do what it is configured to.
    """
    storages: dict[str, StorageBackend[Any]] = {}
    for name, choice in base.selection.storages.items():
        storages[name] = base.construct(choice, ("storages", name))
        _require_faces(base, name, storages[name], base.settings.storages[name])
    return storages


def routes(base: Infrastructure) -> dict[str, Route]:
    """Return how bytes are given out, by the storages whose bytes the server does not give out."""
    return {
        name: Route(
            storage.x_accel_location.rstrip("/") if storage.downloads == "x_accel" else "",
            storage.signed_url_seconds,
        )
        for name, storage in base.settings.storages.items()
        if storage.downloads != "server"
    }


def _require_faces(
    base: Infrastructure, name: str, backend: StorageBackend[Any], storage: StorageSettings
) -> None:
    faces = {"redirect": SignedDownloads, "x_accel": LocalPaths}
    wanted = faces.get(storage.downloads)
    path = ("storages", name)
    if wanted is not None and not isinstance(backend, wanted):
        message = f'"{storage.downloads}" is not what {storage.backend} can do; "server" is'
        base.refuse((*path, "downloads"), message)
    if not storage.direct_uploads:
        return
    if not isinstance(backend, SignedUploads):
        base.refuse((*path, "direct_uploads"), f"is not what {storage.backend} can do")
    if not backend.write_once:
        message = "needs a store that refuses to replace an object; see its option write_once"
        base.refuse((*path, "direct_uploads"), message)
