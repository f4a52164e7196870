"""Opens the named storages and configures their direct downloads and uploads."""

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
    """Open all configured storages.

    Raises:
        ConfigurationError: a storage cannot be opened, or lacks a capability that its configuration
            requires.
    """
    storages: dict[str, StorageBackend[Any]] = {}
    for name, choice in base.selection.storages.items():
        storages[name] = base.construct(choice, ("storages", name))
        _require_capabilities(base, name, storages[name], base.settings.storages[name])
    return storages


def routes(base: Infrastructure) -> dict[str, Route]:
    """Return the download routes of the storages whose downloads the server does not send itself."""
    return {
        name: Route(
            storage.x_accel_location.rstrip("/") if storage.downloads == "x_accel" else "",
            storage.signed_url_seconds,
        )
        for name, storage in base.settings.storages.items()
        if storage.downloads != "server"
    }


def _require_capabilities(
    base: Infrastructure, name: str, backend: StorageBackend[Any], storage: StorageSettings
) -> None:
    capabilities = {"redirect": SignedDownloads, "x_accel": LocalPaths}
    wanted = capabilities.get(storage.downloads)
    path = ("storages", name)
    if wanted is not None and not isinstance(backend, wanted):
        message = f'{storage.backend} does not support "{storage.downloads}"; use "server"'
        base.refuse((*path, "downloads"), message)
    if not storage.direct_uploads:
        return
    if not isinstance(backend, SignedUploads):
        base.refuse((*path, "direct_uploads"), f"is not supported by {storage.backend}")
    # Otherwise a client could replace a file by its signed URL after the server has checked it.
    if not backend.write_once:
        message = "needs a store that refuses to replace an object; see its option write_once"
        base.refuse((*path, "direct_uploads"), message)
