"""The services of stored bytes."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from strongroom.clock import DAY
from strongroom.content.storage.delivery import Delivery, DeliveryRoute
from strongroom.content.storage.namespaces import Namespace
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import Inventory
from strongroom.foundation.config.file_settings import StorageSettings
from strongroom.plugin_api.erasers import TenantEraser
from strongroom.plugin_api.storage import (
    Capability,
    InnerStorage,
    LocalPaths,
    SignedDownloads,
    SignedUploads,
    StorageBackend,
)
from strongroom.web.services import BaseServices, ServiceGroup


class StorageServices(ServiceGroup):
    """Stored bytes."""

    @cached_property
    def blobs(self) -> BlobService:
        base, has_scans = self._base, bool(self._base.selection.scanners)
        blobs = BlobService(
            base.database,
            base.clock,
            _open_storages(base),
            base.settings.files.storage,
            # Scans during an upload need its content.
            kept_bytes=base.settings.advanced.scan_inline_max_bytes if has_scans else 0,
            removal_delay=base.settings.files.removal_delay_days * DAY,
        )
        self._base.resources.callback(blobs.close)
        return blobs

    @cached_property
    def inventory(self) -> Inventory:
        return Inventory(self._database, self.blobs.storages)

    @cached_property
    def delivery(self) -> Delivery:
        return Delivery(self.blobs, _routes(self._base))

    def register_tenant_erasers(self) -> Iterable[TenantEraser]:
        return [self.blobs.drop_scope]


def _open_storages(base: BaseServices) -> Mapping[str, StorageBackend[Any]]:
    """Open all configured storages."""
    storages: dict[str, StorageBackend[Any]] = {}
    for name, choice in base.selection.storages.items():
        settings, services = base.settings.storages[name], []
        if settings.over is not None:
            inner = Namespace(storages[settings.over], name)
            services.append(InnerStorage(name, inner, lambda: base.key_provider))
        storages[name] = base.construct(choice, ("storages", name), *services)
        _require_capabilities(base, name, storages[name], settings)
    return storages


def _routes(base: BaseServices) -> dict[str, DeliveryRoute]:
    """Return the download routes of the storages whose downloads the server does not send itself."""
    return {
        name: DeliveryRoute(
            storage.x_accel_location.rstrip("/") if storage.downloads == "x_accel" else "",
            storage.signed_url_seconds,
        )
        for name, storage in base.settings.storages.items()
        if storage.downloads != "server"
    }


def _require_capabilities(
    base: BaseServices, name: str, backend: StorageBackend[Any], storage: StorageSettings
) -> None:
    capabilities: dict[str, type[Capability]] = {"redirect": SignedDownloads, "x_accel": LocalPaths}
    capability = capabilities.get(storage.downloads)
    path = ("storages", name)
    if capability is not None and backend.capability(capability) is None:
        message = f'{storage.backend} does not support "{storage.downloads}"; use "server"'
        base.refuse((*path, "downloads"), message)
    if not storage.direct_uploads:
        return
    if (signing := backend.capability(SignedUploads)) is None:
        base.refuse((*path, "direct_uploads"), f"is not supported by {storage.backend}")
    # Otherwise a client could replace a file by its signed URL after the server has checked it.
    if not signing.write_once:
        message = "needs a store that refuses to replace an object; see its option write_once"
        base.refuse((*path, "direct_uploads"), message)
