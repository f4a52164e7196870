"""Assembles the services of files."""

from functools import cached_property

from strongroom.assembly.storage import StorageServices
from strongroom.assembly.tenants import TenantServices
from strongroom.clock import Clock
from strongroom.content.bundles.contents import Contents
from strongroom.content.bundles.service import BundleService
from strongroom.content.business_files.pictures import PictureProcessor, PictureSlots
from strongroom.content.business_files.scan_states import BusinessFileContent
from strongroom.content.business_files.service import BusinessFileService
from strongroom.content.business_files.variants import VariantService, profiles_of
from strongroom.content.files.batches.service import BatchService
from strongroom.content.files.changes.feed import ChangeFeed
from strongroom.content.files.changes.waiting import ChangeWaiters
from strongroom.content.files.copying import CopyingService
from strongroom.content.files.events.listing import FileEventListing
from strongroom.content.files.grants import AccessExplainer, GrantService
from strongroom.content.files.group_grants import GroupGrantService
from strongroom.content.files.listing import FileListing
from strongroom.content.files.moving import MovingService
from strongroom.content.files.node_paths import NodePaths
from strongroom.content.files.paths import PathLookup
from strongroom.content.files.reindexing import NameReindexing, OrderRecount
from strongroom.content.files.replacing import ReplacingService
from strongroom.content.files.retention.service import HoldService, RetentionService
from strongroom.content.files.scan_states import NodeContent
from strongroom.content.files.search import FileSearch
from strongroom.content.files.service import FilePurge, FileService
from strongroom.content.files.transfer import TransferService
from strongroom.content.files.trash.service import TrashService
from strongroom.content.files.versions.service import VersionService
from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.events import DownloadRecorder, FileEvents
from strongroom.content.nodes.expiry import ExpiryRules
from strongroom.content.nodes.file_writer import FileWriter
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.retention_clock import RetentionClock
from strongroom.content.nodes.retention_models import RetentionMode, RetentionSettings
from strongroom.content.nodes.trash import Trash
from strongroom.content.nodes.tree import Tree
from strongroom.content.nodes.versions import VersionRepository
from strongroom.content.scanning.owners import ContentOwners
from strongroom.content.scanning.quarantine import QuarantineService
from strongroom.content.scanning.rescans import Rescans
from strongroom.content.scanning.worker import ScanWorker
from strongroom.content.tenants.deletion import TenantDeletion
from strongroom.content.tenants.memberships import administers_a_tenant
from strongroom.content.uploads.chunk_writer import ChunkWriter
from strongroom.content.uploads.direct import DirectUploads, Reservations
from strongroom.content.uploads.repository import UploadRepository
from strongroom.content.uploads.service import UploadService
from strongroom.identity.users.factor_policy import TENANT_ADMIN


class FileServices(StorageServices, TenantServices):
    """The services of files, with those of tenants and storages."""

    @cached_property
    def _access(self) -> AccessControl:
        return AccessControl(self._clock, self._memberships)

    @cached_property
    def _expiry(self) -> ExpiryRules:
        return ExpiryRules(self._access)

    # The rules of each change of a node.

    @cached_property
    def _retention_defaults(self) -> RetentionSettings:
        files = self._settings.files
        return RetentionSettings(
            files.trash.days,
            files.versions.keep,
            files.versions.days,
            files.retention.minimum_days,
            RetentionMode(files.retention.mode),
        )

    @cached_property
    def guard(self) -> RemovalGuard:
        return RemovalGuard(self._retention_defaults, self._memberships, self._audit)

    @cached_property
    def retention_clock(self) -> RetentionClock:
        return RetentionClock(self._database, self._clock, self._retention_defaults)

    @cached_property
    def _node_clock(self) -> Clock:
        """The time of changes of nodes: one in a transaction, so that nodes equal their events."""
        return self._database.transaction_clock(self.retention_clock)

    @cached_property
    def _tree(self) -> Tree:
        return Tree(self._node_clock, self._visibility)

    @cached_property
    def file_events(self) -> FileEvents:
        return FileEvents(
            self._database,
            self._node_clock,
            self._settings.files.events_kept_days,
            change_days=self._settings.events.retention_days,
        )

    @cached_property
    def downloads(self) -> DownloadRecorder:
        downloads = DownloadRecorder(self.file_events)
        self._base.resources.callback(downloads.close)
        return downloads

    @cached_property
    def _trash_entries(self) -> Trash:
        return Trash(self._clock, self._tree, self.guard)

    @cached_property
    def _version_repository(self) -> VersionRepository:
        return VersionRepository(self._node_clock, thin=self._settings.files.versions.thin)

    @cached_property
    def _file_writer(self) -> FileWriter:
        settings = self._settings.files
        return FileWriter(
            self._access,
            self._tree,
            self.blobs,
            self.tenants.space,
            self.file_events,
            self._inspection,
            self._trash_entries,
            self._version_repository,
            self.guard,
            keeps_deleted=settings.trash.enabled,
            max_file_bytes=settings.max_file_bytes,
            allowed_types=settings.allowed_types,
        )

    # Changes of nodes.

    @cached_property
    def file_purge(self) -> FilePurge:
        return FilePurge(self._database, self.blobs, self.guard)

    @cached_property
    def files(self) -> FileService:
        return FileService(self._database, self._access, self._tree, self.blobs, self._file_writer)

    @cached_property
    def moving(self) -> MovingService:
        return MovingService(
            self._database, self._access, self._expiry, self._tree, self._file_writer, self.guard
        )

    @cached_property
    def copying(self) -> CopyingService:
        return CopyingService(
            self._database, self._access, self._tree, self._file_writer, self.tenants.space
        )

    @cached_property
    def replacing(self) -> ReplacingService:
        return ReplacingService(self._database, self._access, self._file_writer, self.blobs)

    @cached_property
    def trash(self) -> TrashService:
        return TrashService(
            self._database,
            self._clock,
            self._access,
            self._expiry,
            self._trash_entries,
            self.moving,
            self._file_writer,
            self.blobs,
            self._users,
            self.tenants.space,
            self.guard,
        )

    @cached_property
    def versions(self) -> VersionService:
        return VersionService(
            self._database,
            self._access,
            self._version_repository,
            self._file_writer,
            self.blobs,
            self._users,
            self.guard,
        )

    @cached_property
    def holds(self) -> HoldService:
        return HoldService(
            self._database,
            self._clock,
            self.retention_clock,
            self._memberships,
            self.guard,
            self._tree,
            self._users,
            self._audit,
        )

    @cached_property
    def retention(self) -> RetentionService:
        return RetentionService(
            self._database, self.retention_clock, self._memberships, self.guard, self._audit
        )

    @cached_property
    def grants(self) -> GrantService:
        return GrantService(
            self._database,
            self._clock,
            self._access,
            self._expiry,
            self._visibility,
            self._users,
            self._audit,
        )

    @cached_property
    def group_grants(self) -> GroupGrantService:
        return GroupGrantService(
            self._database,
            self._clock,
            self._access,
            self._expiry,
            self._visibility,
            self._group_members,
            self._users,
            self._audit,
        )

    @cached_property
    def transfers(self) -> TransferService:
        return TransferService(
            self._database, self._clock, self._memberships, self._visibility, self._audit
        )

    @cached_property
    def batches(self) -> BatchService:
        return BatchService(
            self._database,
            self._access,
            self.files,
            self.moving,
            self.copying,
            self.trash,
            self.grants,
            self.group_grants,
            self.file_events,
        )

    # Reading.

    @cached_property
    def listing(self) -> FileListing:
        return FileListing(self._database, self._clock, self._access, self._users)

    @cached_property
    def search(self) -> FileSearch:
        return FileSearch(self._database, self._clock, self._access, self._users)

    @cached_property
    def reindexing(self) -> NameReindexing:
        return NameReindexing(self._database)

    @cached_property
    def order_recount(self) -> OrderRecount:
        return OrderRecount(self._database, self._memberships)

    @cached_property
    def paths(self) -> PathLookup:
        return PathLookup(self._database, self._clock, self._access)

    @cached_property
    def node_paths(self) -> NodePaths:
        return NodePaths(self._database, self._clock, self._access)

    @cached_property
    def explainer(self) -> AccessExplainer:
        return AccessExplainer(self._database, self._access)

    @cached_property
    def bundles(self) -> BundleService:
        return BundleService(
            self._database,
            self._clock,
            Contents(self._access, self.blobs),
            self.blobs,
            lifetime=self._settings.advanced.bundle_lifetime_seconds * 1000,
        )

    @cached_property
    def file_event_listing(self) -> FileEventListing:
        return FileEventListing(self._database, self._memberships, self._users)

    @cached_property
    def changes(self) -> ChangeFeed:
        return ChangeFeed(self._database, self._access, self._users)

    @cached_property
    def change_waiters(self) -> ChangeWaiters:
        return ChangeWaiters(self._database, self._settings.advanced.waiting_per_process)

    # Further ways in for content.

    @cached_property
    def uploads(self) -> UploadService:
        database, clock, writer, blobs = self._database, self._clock, self._file_writer, self.blobs
        repository = UploadRepository(clock, self._settings.advanced.upload_lifetime_seconds * 1000)
        chunks = ChunkWriter(database, clock, repository, writer, blobs)
        return UploadService(database, clock, repository, writer, blobs, self.tenants.space, chunks)

    @cached_property
    def direct_uploads(self) -> DirectUploads:
        reservations = Reservations(
            self._clock, self.tenants.space, self._settings.advanced.open_direct_uploads_per_user
        )
        return DirectUploads(
            self._database,
            self._clock,
            self._base.keys,
            self.files,
            self._file_writer,
            self.blobs,
            reservations,
            lifetimes={
                name: storage.signed_url_seconds
                for name, storage in self._settings.storages.items()
                if storage.direct_uploads
            },
        )

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
            self.blobs,
            self.pictures,
            VariantService(self._database, self._clock, self.blobs, self.pictures),
            self._audit,
            self._inspection,
            profiles_of(self._settings.business_files),
        )

    # What concerns the content of all features, and a whole tenant.

    @cached_property
    def _content_owners(self) -> ContentOwners:
        nodes = NodeContent(
            self._database,
            self._clock,
            self._access,
            self._tree,
            self._version_repository,
            self._file_writer,
            self.blobs,
        )
        return ContentOwners([nodes, BusinessFileContent(self.business_files)])

    @cached_property
    def scan_worker(self) -> ScanWorker:
        settings = self._settings.scanning
        worker = ScanWorker(
            self._database,
            self._clock,
            self.blobs,
            self.scanners,
            self._scans,
            self._content_owners,
            self._audit,
            hold_unavailable=settings.on_unavailable == "hold",
            threads=self._settings.advanced.scan_threads,
        )
        self._base.resources.callback(worker.close)
        return worker

    @cached_property
    def rescans(self) -> Rescans:
        return Rescans(self._database, self._scans, self._content_owners)

    @cached_property
    def quarantine(self) -> QuarantineService:
        return QuarantineService(
            self._database,
            self._clock,
            self._content_owners,
            self._audit,
            self.blobs.location_query(),
        )

    @cached_property
    def tenant_deletion(self) -> TenantDeletion:
        return TenantDeletion(
            self._database,
            self._clock,
            self._memberships,
            self._audit,
            grace_days=self._settings.tenants.purge_after_days,
            guard=self.guard,
        )

    def register(self) -> None:
        """Register with identity, which knows neither tenants nor files, the rules that need them."""
        identity = self._identity
        identity.access_keys.check_targets(self._access.require_key_target)
        identity.factor_policy.define(TENANT_ADMIN, administers_a_tenant)
        identity.deletion.guard(self._memberships.require_dispensable)
        identity.credentials.on_bound(self._invitation_acceptance.bound)
        identity.registration.admit_invited(self.invitations.is_invited)
        identity.code_sending.admit_invited(self.invitations.is_invited)
