"""Files and folders: lists, uploads and downloads."""

from collections.abc import Iterable

from strongroom.content.files.scan_states import NodeContent
from strongroom.content.files.service import FilePurge
from strongroom.content.scanning.owners import ContentOwners
from strongroom.web.feature import Feature, ServiceLookup, TenantEraser


class FilesFeature(Feature):
    """Files and folders."""

    blueprints = ("views:blueprint",)
    services = "services:FileServices"

    def connect(self, services: ServiceLookup) -> None:
        services(ContentOwners).add(services(NodeContent))

    def register_tenant_erasers(self, services: ServiceLookup) -> Iterable[TenantEraser]:
        return [services(FilePurge).remove_all]
