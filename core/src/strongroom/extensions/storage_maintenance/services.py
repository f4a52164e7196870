"""The services of the maintenance of storages."""

from functools import cached_property

from strongroom.content.files.service import tenant_of_blob
from strongroom.content.storage.services import StorageServices
from strongroom.extensions.storage_maintenance.fsck import StorageCheck
from strongroom.extensions.storage_maintenance.migration import Migration
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class StorageMaintenanceServices(ServiceGroup):
    """Maintenance of storages."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._blobs = group(StorageServices).blobs

    @cached_property
    def storage_check(self) -> StorageCheck:
        return StorageCheck(self._database, self._clock, self._blobs)

    @cached_property
    def migration(self) -> Migration:
        return Migration(self._database, self._clock, self._blobs, scope_of=tenant_of_blob)
