"""Files and folders: lists, uploads and downloads."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.content.files.service import FilePurge
from strongroom.web.feature import Feature, ServiceLookup, TenantEraser

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class FilesFeature(Feature):
    """Files and folders."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.files.views import blueprint

        return [blueprint]

    def register_tenant_erasers(self, services: ServiceLookup) -> Iterable[TenantEraser]:
        return [services(FilePurge).remove_all]
