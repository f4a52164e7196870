"""Uploads that can be resumed."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.content.uploads.service import UploadService
from strongroom.web.feature import Feature, ServiceLookup, TenantEraser

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class UploadsFeature(Feature):
    """Resumable uploads."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.uploads.views import blueprint

        return [blueprint]

    def register_tenant_erasers(self, services: ServiceLookup) -> Iterable[TenantEraser]:
        return [services(UploadService).drop_all]
