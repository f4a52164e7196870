"""The services of files and folders."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.content.files.access_explanation import AccessExplainer
from strongroom.content.files.attributes import AttributeService
from strongroom.content.files.copying import CopyingService
from strongroom.content.files.grants import GrantService
from strongroom.content.files.group_grants import GroupGrantService
from strongroom.content.files.listing import FileListing
from strongroom.content.files.moving import MovingService
from strongroom.content.files.node_marks import NodeMarks
from strongroom.content.files.node_paths import NodePaths
from strongroom.content.files.paths import PathLookup
from strongroom.content.files.reindexing import NameReindexing, OrderRecount
from strongroom.content.files.replacing import ReplacingService
from strongroom.content.files.scan_states import NodeContent
from strongroom.content.files.service import FilePurge, FileService
from strongroom.content.nodes.services import NodeServices
from strongroom.content.scanning.services import ScanningServices
from strongroom.content.storage.services import StorageServices
from strongroom.content.tenants.services import TenantServices
from strongroom.identity.users.services import UserServices
from strongroom.plugin_api.erasers import TenantEraser
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class FileServices(ServiceGroup):
    """Files and folders."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._scanning = group(ScanningServices)
        self._storage = group(StorageServices)
        self._nodes = group(NodeServices)
        self._tenants = group(TenantServices)
        self._users = group(UserServices).users
        self._audit = group(AuditServices).audit

    @cached_property
    def file_purge(self) -> FilePurge:
        return FilePurge(
            self._database, self._storage.blobs, self._nodes.guard, self._nodes.file_erasers
        )

    @cached_property
    def files(self) -> FileService:
        return FileService(
            self._database,
            self._nodes.access,
            self._nodes.tree,
            self._storage.blobs,
            self._nodes.file_writer,
            self._nodes.removal,
        )

    @cached_property
    def moving(self) -> MovingService:
        return MovingService(
            self._database,
            self._nodes.access,
            self._nodes.expiry,
            self._nodes.tree,
            self._nodes.file_writer,
            self._nodes.removal,
            self._nodes.guard,
        )

    @cached_property
    def copying(self) -> CopyingService:
        return CopyingService(
            self._database,
            self._nodes.access,
            self._nodes.tree,
            self._nodes.file_writer,
            self._tenants.tenants.quota,
        )

    @cached_property
    def replacing(self) -> ReplacingService:
        return ReplacingService(
            self._database, self._nodes.access, self._nodes.file_writer, self._storage.blobs
        )

    @cached_property
    def listing(self) -> FileListing:
        return FileListing(self._database, self._clock, self._nodes.access, self._users)

    @cached_property
    def reindexing(self) -> NameReindexing:
        return NameReindexing(self._database)

    @cached_property
    def order_recount(self) -> OrderRecount:
        return OrderRecount(self._database, self._tenants.memberships)

    @cached_property
    def paths(self) -> PathLookup:
        return PathLookup(self._database, self._clock, self._nodes.access)

    @cached_property
    def node_paths(self) -> NodePaths:
        return NodePaths(self._database, self._clock, self._nodes.access)

    @cached_property
    def node_marks(self) -> NodeMarks:
        return NodeMarks(self._database, self._clock, self._tenants.memberships)

    @cached_property
    def attributes(self) -> AttributeService:
        return AttributeService(self._database, self._nodes.access, self._nodes.tree)

    @cached_property
    def explainer(self) -> AccessExplainer:
        return AccessExplainer(self._database, self._nodes.access)

    @cached_property
    def grants(self) -> GrantService:
        return GrantService(
            self._database,
            self._clock,
            self._nodes.access,
            self._nodes.expiry,
            self._nodes.visibility,
            self._users,
            self._audit,
        )

    @cached_property
    def group_grants(self) -> GroupGrantService:
        return GroupGrantService(
            self._database,
            self._clock,
            self._nodes.access,
            self._nodes.expiry,
            self._nodes.visibility,
            self._tenants.group_members,
            self._users,
            self._audit,
        )

    @cached_property
    def _scanned_content(self) -> NodeContent:
        return NodeContent(
            self._database,
            self._clock,
            self._nodes.access,
            self._nodes.tree,
            self._nodes.version_repository,
            self._nodes.removal,
            self._storage.blobs,
        )

    def connect(self) -> None:
        self._scanning.content_owners.add(self._scanned_content)

    def register_tenant_erasers(self) -> Iterable[TenantEraser]:
        return [self.file_purge.remove_all]
