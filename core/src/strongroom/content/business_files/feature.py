"""Business files: pictures and documents of products, which belong to no tenant."""

from typing import ClassVar

from strongroom.activity.audit.models import SUCCESS
from strongroom.content.business_files.scan_states import BusinessFileContent
from strongroom.content.scanning.owners import ContentOwners
from strongroom.web.feature import Feature, ServiceLookup


class BusinessFilesFeature(Feature):
    """Business files."""

    blueprints = ("views:blueprint",)
    services = "services:BusinessFileServices"

    def connect(self, services: ServiceLookup) -> None:
        services(ContentOwners).add(services(BusinessFileContent))

    silent_actions: ClassVar = {("business-file.delete", SUCCESS): "business files belong to no tenant"}
