"""The services of business files."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.content.scanning.services import ScanningServices
from strongroom.content.storage.services import StorageServices
from strongroom.extensions.business_files.pictures import PictureProcessor, PictureSlots
from strongroom.extensions.business_files.scan_states import BusinessFileContent
from strongroom.extensions.business_files.service import BusinessFileService
from strongroom.extensions.business_files.user_exports import business_file_exports
from strongroom.extensions.business_files.variants import VariantService, get_profiles
from strongroom.plugin_api.exports import UserExport
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class BusinessFileServices(ServiceGroup):
    """Business files."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._storage = group(StorageServices)
        self._audit = group(AuditServices).audit
        self._scanning = group(ScanningServices)

    @cached_property
    def pictures(self) -> PictureProcessor:
        settings = self._settings.advanced
        return PictureProcessor(
            PictureSlots(settings.max_concurrent_images, self._base.on_wait("images")),
            memory_bytes=settings.picture_memory_bytes,
            seconds=settings.picture_seconds,
        )

    @cached_property
    def business_files(self) -> BusinessFileService:
        return BusinessFileService(
            self._database,
            self._clock,
            self._storage.blobs,
            self.pictures,
            VariantService(self._database, self._clock, self._storage.blobs, self.pictures),
            self._audit,
            self._scanning.inspection,
            get_profiles(self._settings.business_files),
        )

    def connect(self) -> None:
        self._scanning.content_owners.add(BusinessFileContent(self.business_files))

    def register_user_exports(self) -> Iterable[UserExport]:
        return business_file_exports(self._database)
