"""Assembles the services of tenants, files and storages."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from strongroom.business_files.pictures import PictureProcessor, PictureSlots
from strongroom.business_files.scan_states import BusinessFileContent
from strongroom.business_files.service import BusinessFileService
from strongroom.business_files.variants import VariantService, profiles_of
from strongroom.clock import DAY
from strongroom.config import Settings
from strongroom.container.identity import IdentityServices
from strongroom.container.infrastructure import PRUNING, Infrastructure, Step, open_storages, routes
from strongroom.direct_uploads.service import DirectUploads, Reservations
from strongroom.events.positions import Positions
from strongroom.files.access import AccessControl
from strongroom.files.batches.service import BatchService
from strongroom.files.bundles.contents import Contents
from strongroom.files.bundles.service import BundleService
from strongroom.files.changes.feed import ChangeFeed
from strongroom.files.changes.waiting import ChangeWaiters
from strongroom.files.copying import CopyingService
from strongroom.files.events.listing import FileEventListing
from strongroom.files.events.recorder import DownloadRecorder, FileEvents
from strongroom.files.expiry import ExpiryRules
from strongroom.files.file_writer import FileWriter
from strongroom.files.grants import AccessExplainer, GrantService
from strongroom.files.group_grants import GroupGrantService
from strongroom.files.listing import FileListing
from strongroom.files.moving import MovingService
from strongroom.files.paths import PathLookup
from strongroom.files.reindexing import NameReindexing
from strongroom.files.replacing import ReplacingService
from strongroom.files.retention.clock import RetentionClock
from strongroom.files.retention.guard import RemovalGuard, held_bytes
from strongroom.files.retention.models import RetentionMode, RetentionSettings
from strongroom.files.retention.service import HoldService, RetentionService
from strongroom.files.scan_states import NodeContent
from strongroom.files.search import FileSearch
from strongroom.files.service import FilePurge, FileService, tenant_of_blob
from strongroom.files.transfer import TransferService
from strongroom.files.trash.entries import Trash, trash_bytes
from strongroom.files.trash.service import TrashService
from strongroom.files.tree import Tree
from strongroom.files.versions.repository import VersionRepository, version_bytes
from strongroom.files.versions.service import VersionService
from strongroom.files.visibility import Visibility
from strongroom.scanning.inspection import ContentInspection, InspectionPolicy
from strongroom.scanning.owners import ContentOwners
from strongroom.scanning.quarantine import QuarantineService
from strongroom.scanning.repository import ScanRepository
from strongroom.scanning.rescans import Rescans
from strongroom.scanning.scanners import Scanners
from strongroom.scanning.worker import ScanWorker
from strongroom.storage.delivery import Delivery
from strongroom.storage.fsck import StorageCheck
from strongroom.storage.migration import Migration
from strongroom.storage.service import BlobService
from strongroom.storage.stores import Inventory
from strongroom.tenants.deletion import TenantDeletion
from strongroom.tenants.groups import GroupMemberships, GroupService
from strongroom.tenants.invitations import (
    InvitationAcceptance,
    InvitationPolicy,
    InvitationService,
)
from strongroom.tenants.memberships import Memberships, administers_a_tenant
from strongroom.tenants.quota import Quota
from strongroom.tenants.quota_alerts import QuotaAlerts
from strongroom.tenants.service import TenantService
from strongroom.tenants.service_accounts import ServiceAccountService
from strongroom.uploads.chunk_writer import ChunkWriter
from strongroom.uploads.repository import UploadRepository
from strongroom.uploads.service import UploadService
from strongroom.users.factor_policy import TENANT_ADMIN


@dataclass(frozen=True, slots=True)
class FileServices:
    """The services of tenants, files and storages."""

    tenants: TenantService
    tenant_deletion: TenantDeletion
    service_accounts: ServiceAccountService
    groups: GroupService
    invitations: InvitationService
    blobs: BlobService
    inventory: Inventory
    migration: Migration
    storage_check: StorageCheck
    delivery: Delivery
    direct_uploads: DirectUploads
    files: FileService
    file_events: FileEvents
    file_event_listing: FileEventListing
    changes: ChangeFeed
    change_waiters: ChangeWaiters
    downloads: DownloadRecorder
    moving: MovingService
    copying: CopyingService
    trash: TrashService
    versions: VersionService
    holds: HoldService
    retention: RetentionService
    retention_clock: RetentionClock
    guard: RemovalGuard
    replacing: ReplacingService
    grants: GrantService
    group_grants: GroupGrantService
    transfers: TransferService
    explainer: AccessExplainer
    listing: FileListing
    search: FileSearch
    reindexing: NameReindexing
    paths: PathLookup
    batches: BatchService
    bundles: BundleService
    business_files: BusinessFileService
    pictures: PictureProcessor
    uploads: UploadService
    scanners: Scanners
    scan_worker: ScanWorker
    rescans: Rescans
    quarantine: QuarantineService


def assemble_files(base: Infrastructure, identity: IdentityServices) -> FileServices:
    """Create the services in the order of their dependencies."""
    database, settings = base.database, base.settings
    memberships = Memberships(base.clock)
    access = AccessControl(base.clock, memberships)
    alerts = QuotaAlerts(database, base.clock, base.audit)
    base.resources.callback(alerts.close)
    tenants = TenantService(
        database,
        base.clock,
        memberships,
        Quota(settings.files.default_quota_bytes or None, alerts.note),
        base.users,
        base.audit,
        any_user_creates=settings.tenants.allow_user_creation,
        trash_bytes=trash_bytes,
        version_bytes=version_bytes,
        held_bytes=held_bytes,
    )
    defaults = _retention(settings)
    guard = RemovalGuard(defaults, memberships, base.audit)
    retention_clock = RetentionClock(database, base.clock, defaults)
    # Identity does not know files, so the check of a key's folder is registered here.
    identity.access_keys.check_targets(access.require_key_target)
    identity.factor_policy.define(TENANT_ADMIN, administers_a_tenant)
    expiry, visibility = ExpiryRules(access), Visibility()
    tree = Tree(retention_clock, visibility)
    group_members = GroupMemberships(
        base.clock, memberships, visibility, max_per_user=settings.tenants.max_groups_per_user
    )
    scans = ScanRepository(base.clock)
    scanners = _scanners(base)
    inspection = _inspection(base, scanners, scans)
    blobs = BlobService(
        database,
        base.clock,
        open_storages(base),
        settings.files.storage,
        kept_bytes=inspection.kept_bytes,
    )
    base.resources.callback(blobs.close)
    events = FileEvents(
        database,
        base.clock,
        settings.files.events_kept_days,
        change_days=settings.events.retention_days,
    )
    downloads = DownloadRecorder(events)
    base.resources.callback(downloads.close)
    trash = Trash(base.clock, tree, guard)
    versions = VersionRepository(retention_clock, thin=settings.files.versions.thin)
    file_writer = FileWriter(
        access,
        tree,
        blobs,
        tenants.space,
        events,
        inspection,
        trash,
        versions,
        guard,
        keeps_deleted=settings.files.trash.enabled,
        max_file_bytes=settings.files.max_file_bytes,
        allowed_types=settings.files.allowed_types,
    )
    files = FileService(database, access, tree, blobs, file_writer)
    moving = MovingService(database, access, expiry, tree, file_writer, guard)
    copying = CopyingService(database, access, tree, file_writer, tenants.space)
    trash_service = TrashService(
        database,
        base.clock,
        access,
        expiry,
        trash,
        moving,
        file_writer,
        blobs,
        base.users,
        tenants.space,
        guard,
    )
    grants = GrantService(database, base.clock, access, expiry, visibility, base.users, base.audit)
    group_grants = GroupGrantService(
        database,
        base.clock,
        access,
        expiry,
        visibility,
        group_members,
        base.users,
        base.audit,
    )
    batches = BatchService(
        database, access, files, moving, copying, trash_service, grants, group_grants, events
    )
    bundles = BundleService(
        database,
        base.clock,
        Contents(access, blobs),
        blobs,
        lifetime=settings.files.bundle_lifetime_seconds * 1000,
    )
    uploads = _uploads(base, file_writer, blobs, tenants)
    pictures = _pictures(base)
    business_files = _business_files(base, blobs, inspection, pictures)
    owners = ContentOwners(
        [
            NodeContent(database, base.clock, access, tree, versions, file_writer, blobs),
            BusinessFileContent(business_files),
        ]
    )
    return FileServices(
        tenants=tenants,
        tenant_deletion=TenantDeletion(
            database,
            base.clock,
            memberships,
            base.audit,
            grace_days=settings.tenants.purge_after_days,
            guard=guard,
            erasers=[
                uploads.drop_all,
                FilePurge(database, blobs, guard).remove_all,
                events.remove_all,
                blobs.drop_scope,
                Positions(database, base.clock).forget,
            ],
        ),
        service_accounts=ServiceAccountService(
            database, base.clock, memberships, base.users, identity.access_keys, base.audit
        ),
        groups=GroupService(
            database,
            base.clock,
            memberships,
            group_members,
            base.users,
            base.audit,
            max_groups=settings.tenants.max_groups,
        ),
        invitations=_invitations(base, identity, memberships, group_members),
        blobs=blobs,
        inventory=Inventory(database, blobs.storages),
        migration=Migration(database, base.clock, blobs, scope_of=tenant_of_blob),
        storage_check=StorageCheck(database, base.clock, blobs),
        delivery=Delivery(blobs, routes(base)),
        direct_uploads=DirectUploads(
            database,
            base.clock,
            base.keys,
            files,
            file_writer,
            blobs,
            Reservations(base.clock, tenants.space, settings.files.open_direct_uploads_per_user),
            lifetimes=_direct_lifetimes(settings),
        ),
        files=files,
        file_events=events,
        file_event_listing=FileEventListing(database, memberships, base.users),
        changes=ChangeFeed(database, access, base.users),
        change_waiters=ChangeWaiters(database, settings.events.waiting_per_process),
        downloads=downloads,
        copying=copying,
        moving=moving,
        versions=VersionService(database, access, versions, file_writer, blobs, base.users, guard),
        trash=trash_service,
        holds=HoldService(
            database, base.clock, retention_clock, memberships, guard, tree, base.users, base.audit
        ),
        retention=RetentionService(database, retention_clock, memberships, guard, base.audit),
        retention_clock=retention_clock,
        guard=guard,
        replacing=ReplacingService(database, access, file_writer, blobs),
        grants=grants,
        group_grants=group_grants,
        transfers=TransferService(database, base.clock, memberships, visibility, base.audit),
        explainer=AccessExplainer(database, access),
        listing=FileListing(database, base.clock, access, base.users),
        search=FileSearch(database, base.clock, access, base.users),
        reindexing=NameReindexing(database),
        paths=PathLookup(database, base.clock, access),
        batches=batches,
        bundles=bundles,
        business_files=business_files,
        pictures=pictures,
        uploads=uploads,
        scanners=scanners,
        scan_worker=_scan_worker(base, blobs, scanners, scans, owners),
        rescans=Rescans(database, scans, owners),
        quarantine=QuarantineService(database, base.clock, owners, base.audit, blobs.location_query()),
    )


def _retention(settings: Settings) -> RetentionSettings:
    files = settings.files
    return RetentionSettings(
        files.trash.days,
        files.versions.keep,
        files.versions.days,
        files.retention.minimum_days,
        RetentionMode(files.retention.mode),
    )


def _invitations(
    base: Infrastructure,
    identity: IdentityServices,
    memberships: Memberships,
    groups: GroupMemberships,
) -> InvitationService:
    settings = base.settings
    acceptance = InvitationAcceptance(base.clock, base.keys, memberships, groups, base.audit)
    service = InvitationService(
        base.database,
        base.clock,
        memberships,
        groups,
        acceptance,
        identity.credentials,
        base.users,
        identity.messages,
        base.rates,
        base.audit,
        InvitationPolicy(
            lifetime=settings.tenants.invitation_days * DAY,
            max_open=settings.tenants.max_invitations,
            adds_known=settings.tenants.add_known_invitees,
            per_recipient=settings.limits.invitations_per_recipient,
            per_user=settings.limits.invitations_per_user,
        ),
    )
    # Identity does not know tenants, so what a new credential means to them is registered here.
    identity.credentials.on_bound(acceptance.bound)
    identity.registration.admit_invited(service.is_invited)
    identity.code_sending.admit_invited(service.is_invited)
    return service


def prune_steps(keeping: FileServices) -> Mapping[str, Step]:
    """Return the steps of `strongroom prune` for tenants and their files."""
    return {
        "invitations": keeping.invitations.prune,
        "deleted tenants": partial(keeping.tenant_deletion.purge, PRUNING),
        "files in the trash": keeping.trash.purge,
        "versions of files": keeping.versions.purge,
        "file events": keeping.file_events.prune,
    }


def _scanners(base: Infrastructure) -> Scanners:
    scanners = []
    for choice in base.selection.scanners:
        scanners.append(base.construct(choice, ("scanning", choice.extension.name)))
        base.close_at_end(scanners[-1])
    return Scanners(
        scanners,
        base.selection.plugins.errors,
        refuse_unscannable=base.settings.scanning.on_unscannable == "refuse",
        observe=base.metrics.scan if base.metrics else None,
    )


def _inspection(base: Infrastructure, scanners: Scanners, scans: ScanRepository) -> ContentInspection:
    settings = base.settings.scanning
    policy = InspectionPolicy(settings.inline_max_bytes, settings.on_unavailable == "hold")
    return ContentInspection(base.database, scanners, scans, base.audit, policy)


def _scan_worker(
    base: Infrastructure,
    blobs: BlobService,
    scanners: Scanners,
    scans: ScanRepository,
    owners: ContentOwners,
) -> ScanWorker:
    settings = base.settings.scanning
    worker = ScanWorker(
        base.database,
        base.clock,
        blobs,
        scanners,
        scans,
        owners,
        base.audit,
        hold_unavailable=settings.on_unavailable == "hold",
        threads=settings.threads,
    )
    base.resources.callback(worker.close)
    return worker


def _pictures(base: Infrastructure) -> PictureProcessor:
    settings = base.settings.business_files
    return PictureProcessor(
        PictureSlots(settings.max_concurrent_images, base.on_wait("images")),
        memory_bytes=settings.picture_memory_bytes,
        seconds=settings.picture_seconds,
    )


def _business_files(
    base: Infrastructure,
    blobs: BlobService,
    inspection: ContentInspection,
    processor: PictureProcessor,
) -> BusinessFileService:
    return BusinessFileService(
        base.database,
        base.clock,
        blobs,
        processor,
        VariantService(base.database, base.clock, blobs, processor),
        base.audit,
        inspection,
        profiles_of(base.settings.business_files),
    )


def _uploads(
    base: Infrastructure, file_writer: FileWriter, blobs: BlobService, tenants: TenantService
) -> UploadService:
    database, clock = base.database, base.clock
    repository = UploadRepository(clock, base.settings.files.upload_lifetime_seconds * 1000)
    writer = ChunkWriter(database, clock, repository, file_writer, blobs)
    return UploadService(database, clock, repository, file_writer, blobs, tenants.space, writer)


def _direct_lifetimes(settings: Settings) -> dict[str, int]:
    return {
        name: storage.signed_url_seconds
        for name, storage in settings.storages.items()
        if storage.direct_uploads
    }
