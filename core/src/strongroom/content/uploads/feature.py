"""Uploads that can be resumed."""

from collections.abc import Iterable

from strongroom.content.uploads.service import UploadService
from strongroom.web.feature import Feature, ServiceLookup, TenantEraser


class UploadsFeature(Feature):
    """Resumable uploads."""

    blueprints = ("views:blueprint",)
    services = "services:UploadServices"

    def register_tenant_erasers(self, services: ServiceLookup) -> Iterable[TenantEraser]:
        return [services(UploadService).drop_all]
