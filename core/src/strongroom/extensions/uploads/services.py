"""The services of resumable uploads."""

from collections.abc import Iterable
from datetime import timedelta
from functools import cached_property

from strongroom.content.files.services import FileServices
from strongroom.content.nodes.services import NodeServices
from strongroom.content.storage.services import StorageServices
from strongroom.content.tenants.services import TenantServices
from strongroom.extensions.uploads.chunk_writer import ChunkWriter
from strongroom.extensions.uploads.direct import DirectUploads, Reservations
from strongroom.extensions.uploads.repository import UploadRepository
from strongroom.extensions.uploads.service import UploadService
from strongroom.extensions.uploads.visitors import VisitorUploads
from strongroom.plugin_api.erasers import TenantEraser
from strongroom.plugin_api.jobs import Job
from strongroom.web.parts import UserEnding
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class UploadServices(ServiceGroup):
    """Resumable uploads."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._nodes = group(NodeServices)
        self._storage = group(StorageServices)
        self._tenants = group(TenantServices)

    @cached_property
    def _repository(self) -> UploadRepository:
        lifetime = self._settings.advanced.upload_lifetime_seconds * 1000
        return UploadRepository(self._clock, lifetime)

    @cached_property
    def uploads(self) -> UploadService:
        database, clock, writer, blobs = (
            self._database,
            self._clock,
            self._nodes.file_writer,
            self._storage.blobs,
        )
        repository, quota = self._repository, self._tenants.tenants.quota
        visitors = VisitorUploads(
            clock, self._base.keys, quota, writer.access.memberships, repository.lifetime
        )
        chunks = ChunkWriter(database, clock, repository, writer, blobs, visitors)
        return UploadService(database, clock, repository, writer, blobs, quota, chunks, visitors)

    def register_jobs(self) -> Iterable[Job]:
        # More often than pruning, because expired uploads of visitors reserve quota.
        uploads = self.uploads
        return [Job("expire_uploads", timedelta(minutes=10), lambda _: uploads.collect())]

    def register_tenant_erasers(self) -> Iterable[TenantEraser]:
        return [self.uploads.drop_all]

    def register_deactivations(self) -> Iterable[UserEnding]:
        return [self._repository.deactivate]


class DirectUploadServices(ServiceGroup):
    """Direct uploads."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._tenants = group(TenantServices)
        self._file_services = group(FileServices)
        self._nodes = group(NodeServices)
        self._storage = group(StorageServices)

    @cached_property
    def _reservations(self) -> Reservations:
        return Reservations(
            self._clock,
            self._tenants.tenants.quota,
            self._settings.advanced.open_direct_uploads_per_user,
        )

    @cached_property
    def direct_uploads(self) -> DirectUploads:
        return DirectUploads(
            self._database,
            self._clock,
            self._base.keys,
            self._file_services.files,
            self._nodes.file_writer,
            self._storage.blobs,
            self._reservations,
            lifetimes={
                name: storage.signed_url_seconds
                for name, storage in self._settings.storages.items()
                if storage.direct_uploads
            },
        )

    def register_deactivations(self) -> Iterable[UserEnding]:
        return [self._reservations.deactivate]
