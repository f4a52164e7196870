"""Stored bytes of all features."""

from collections.abc import Iterable

from strongroom.content.storage.service import BlobService
from strongroom.web.feature import Feature, ServiceLookup, TenantEraser


class StorageFeature(Feature):
    """Stored bytes."""

    services = "services:StorageServices"

    def register_tenant_erasers(self, services: ServiceLookup) -> Iterable[TenantEraser]:
        return [services(BlobService).drop_scope]
