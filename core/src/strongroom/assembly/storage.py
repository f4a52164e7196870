"""Assembles the services of stored bytes: storages, and the scans of content."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from strongroom.assembly.infrastructure import Infrastructure, ServiceGroup
from strongroom.content.files.service import tenant_of_blob
from strongroom.content.scanning.inspection import ContentInspection, InspectionPolicy
from strongroom.content.scanning.repository import ScanRepository
from strongroom.content.scanning.scanners import Scanners
from strongroom.content.storage.delivery import Delivery, Route
from strongroom.content.storage.fsck import StorageCheck
from strongroom.content.storage.migration import Migration
from strongroom.content.storage.namespaces import Namespace
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import Inventory
from strongroom.foundation.config.files import StorageSettings
from strongroom.plugin_api.storage import (
    Capability,
    InnerStorage,
    LocalPaths,
    SignedDownloads,
    SignedUploads,
    StorageBackend,
)


class StorageServices(ServiceGroup):
    """The services of stored bytes."""

    @cached_property
    def _scans(self) -> ScanRepository:
        return ScanRepository(self._clock)

    @cached_property
    def scanners(self) -> Scanners:
        base = self._base
        scanners = [
            base.construct(choice, ("scanning", choice.extension.name))
            for choice in base.selection.scanners
        ]
        return Scanners(
            scanners,
            base.selection.plugins.errors,
            refuse_unscannable=self._settings.scanning.on_unscannable == "refuse",
            observe=base.metrics.scan if base.metrics else None,
        )

    @cached_property
    def _inspection(self) -> ContentInspection:
        holds = self._settings.scanning.on_unavailable == "hold"
        policy = InspectionPolicy(self._settings.advanced.scan_inline_max_bytes, holds)
        return ContentInspection(self._database, self.scanners, self._scans, self._audit, policy)

    @cached_property
    def blobs(self) -> BlobService:
        blobs = BlobService(
            self._database,
            self._clock,
            _open_storages(self._base),
            self._settings.files.storage,
            kept_bytes=self._inspection.kept_bytes,
        )
        self._base.resources.callback(blobs.close)
        return blobs

    @cached_property
    def inventory(self) -> Inventory:
        return Inventory(self._database, self.blobs.storages)

    @cached_property
    def migration(self) -> Migration:
        return Migration(self._database, self._clock, self.blobs, scope_of=tenant_of_blob)

    @cached_property
    def storage_check(self) -> StorageCheck:
        return StorageCheck(self._database, self._clock, self.blobs)

    @cached_property
    def delivery(self) -> Delivery:
        return Delivery(self.blobs, _routes(self._base))


def _open_storages(base: Infrastructure) -> Mapping[str, StorageBackend[Any]]:
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


def _require_capabilities(
    base: Infrastructure, name: str, backend: StorageBackend[Any], storage: StorageSettings
) -> None:
    capabilities: dict[str, type[Capability]] = {"redirect": SignedDownloads, "x_accel": LocalPaths}
    wanted = capabilities.get(storage.downloads)
    path = ("storages", name)
    if wanted is not None and backend.capability(wanted) is None:
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


def _routes(base: Infrastructure) -> dict[str, Route]:
    """Return the download routes of the storages whose downloads the server does not send itself."""
    return {
        name: Route(
            storage.x_accel_location.rstrip("/") if storage.downloads == "x_accel" else "",
            storage.signed_url_seconds,
        )
        for name, storage in base.settings.storages.items()
        if storage.downloads != "server"
    }
