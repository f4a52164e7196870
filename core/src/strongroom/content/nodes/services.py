"""The services of what a change of a node does."""

from collections.abc import Iterable
from datetime import timedelta
from functools import cached_property, partial

from strongroom.activity.audit.services import AuditServices
from strongroom.clock import Clock
from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.destinations import Destinations
from strongroom.content.nodes.events import DownloadRecorder, FileEvents
from strongroom.content.nodes.expiry import ExpiryRules
from strongroom.content.nodes.file_erasers import FileErasers
from strongroom.content.nodes.file_writer import FileWriter
from strongroom.content.nodes.hidden_names import HiddenNames
from strongroom.content.nodes.locks import NodeLocks
from strongroom.content.nodes.node_removal import NodeRemoval
from strongroom.content.nodes.removal_guard import RemovalGuard, held_bytes
from strongroom.content.nodes.removals import RemovalRecords
from strongroom.content.nodes.retention_clock import RetentionClock
from strongroom.content.nodes.retention_models import RetentionMode, RetentionSettings
from strongroom.content.nodes.trash import Trash, trash_bytes
from strongroom.content.nodes.tree import Tree
from strongroom.content.nodes.upload_rules import UploadRules
from strongroom.content.nodes.user_exports import file_exports
from strongroom.content.nodes.version_changes import VersionChanges
from strongroom.content.nodes.versions import VersionRepository, version_bytes
from strongroom.content.nodes.visibility import Visibility
from strongroom.content.scanning.services import ScanningServices
from strongroom.content.storage.services import StorageServices
from strongroom.content.tenants.services import TenantServices
from strongroom.content.tenants.tenant_deletions import TenantDeletion
from strongroom.identity.access_keys.services import AccessKeyServices
from strongroom.identity.users.services import UserServices
from strongroom.plugin_api.erasers import TenantEraser
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.http.request import request_locks, request_origin
from strongroom.web.services import PRUNING, BaseServices, Groups, ServiceGroup


class NodeServices(ServiceGroup):
    """What a change of a node does."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._access_keys = group(AccessKeyServices)
        self._tenants = group(TenantServices)
        self._users = group(UserServices).users
        self._audit = group(AuditServices).audit
        self._storage = group(StorageServices)
        self._scanning = group(ScanningServices)

    @cached_property
    def visibility(self) -> Visibility:
        return Visibility()

    @cached_property
    def access(self) -> AccessControl:
        return AccessControl(self._clock, self._tenants.memberships)

    @cached_property
    def expiry(self) -> ExpiryRules:
        return ExpiryRules(self.access)

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
        return RemovalGuard(self._retention_defaults, self._tenants.memberships, self._audit)

    @cached_property
    def retention_clock(self) -> RetentionClock:
        return RetentionClock(self._database, self._clock, self._retention_defaults)

    @cached_property
    def _node_clock(self) -> Clock:
        """The time of changes of nodes: one in a transaction, so that nodes equal their events."""
        return self._database.transaction_clock(self.retention_clock)

    @cached_property
    def tree(self) -> Tree:
        return Tree(self._node_clock, self.visibility, self.locks)

    @cached_property
    def locks(self) -> NodeLocks:
        return NodeLocks(self._clock, self._users, request_locks)

    @cached_property
    def file_events(self) -> FileEvents:
        return FileEvents(
            self._database,
            self._node_clock,
            self._settings.files.events_kept_days,
            change_days=self._settings.events.retention_days,
        )

    @cached_property
    def removals(self) -> RemovalRecords:
        return RemovalRecords(self.file_events, self._audit, request_origin)

    @cached_property
    def file_erasers(self) -> FileErasers:
        return FileErasers(self._database, self._clock)

    @cached_property
    def downloads(self) -> DownloadRecorder:
        downloads = DownloadRecorder(self.file_events)
        self._base.resources.callback(downloads.close)
        return downloads

    @cached_property
    def trash_entries(self) -> Trash:
        return Trash(self._clock, self.tree, self.guard)

    @cached_property
    def version_repository(self) -> VersionRepository:
        return VersionRepository(self._node_clock, thin=self._settings.files.versions.thin)

    @cached_property
    def version_changes(self) -> VersionChanges:
        return VersionChanges(
            self.version_repository,
            self.guard,
            self._tenants.tenants.quota,
            self._storage.blobs,
            self.removals,
        )

    @cached_property
    def removal(self) -> NodeRemoval:
        return NodeRemoval(
            self.tree,
            self.trash_entries,
            self.guard,
            self._tenants.tenants.quota,
            self._storage.blobs,
            self.file_events,
            self.removals,
            self.file_erasers,
            keeps_deleted=self._settings.files.trash.enabled,
        )

    @cached_property
    def file_writer(self) -> FileWriter:
        destinations = Destinations(self.access, self.tree, HiddenNames(self.access, self.tree))
        quota, settings = self._tenants.tenants.quota, self._settings.files
        rules = UploadRules(
            destinations,
            self.tree,
            quota,
            self.version_changes,
            max_file_bytes=settings.max_file_bytes,
            allowed_types=settings.allowed_types,
        )
        return FileWriter(
            self.access,
            destinations,
            rules,
            self.file_events,
            self.tree,
            self._storage.blobs,
            quota,
            self._scanning.inspection,
            self.version_changes,
            self.guard,
        )

    @cached_property
    def tenant_deletion(self) -> TenantDeletion:
        """The deletion of tenants, which is here because files may be held."""
        return TenantDeletion(
            self._database,
            self._clock,
            self._tenants.memberships,
            self._audit,
            grace_days=self._settings.tenants.purge_after_days,
            guard=self.guard,
        )

    def connect(self) -> None:
        self._access_keys.access_keys.check_targets(self.access.require_key_target)
        self._tenants.group_members.observe(self.visibility)
        self._tenants.tenants.measure(
            trash_bytes=trash_bytes, version_bytes=version_bytes, held_bytes=held_bytes
        )

    def register_jobs(self) -> Iterable[Job]:
        clock = self.retention_clock
        return [Job("advance_retention_clock", timedelta(minutes=1), lambda _: clock.tick())]

    def register_prune_steps(self) -> Iterable[PruneStep]:
        deleted = partial(self.tenant_deletion.purge, PRUNING)
        return [
            PruneStep("file events", self.file_events.prune),
            PruneStep("deleted tenants", deleted),
            PruneStep("failed erasures of plugins", self.file_erasers.retry),
        ]

    def register_tenant_erasers(self) -> Iterable[TenantEraser]:
        return [self.file_events.remove_all]

    def register_user_exports(self) -> Iterable[UserExport]:
        return file_exports(self._database)
