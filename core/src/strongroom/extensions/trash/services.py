"""The services of the trash."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.content.files.services import FileServices
from strongroom.content.nodes.services import NodeServices
from strongroom.content.storage.services import StorageServices
from strongroom.content.tenants.services import TenantServices
from strongroom.extensions.trash.access import TrashAccess
from strongroom.extensions.trash.removal import EntryRemoval, TrashRemoval
from strongroom.extensions.trash.service import TrashService
from strongroom.identity.users.services import UserServices
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class TrashServices(ServiceGroup):
    """The trash."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._nodes = group(NodeServices)
        self._file_services = group(FileServices)
        self._storage = group(StorageServices)
        self._users = group(UserServices).users
        self._tenants = group(TenantServices)

    @cached_property
    def _entries(self) -> TrashAccess:
        return TrashAccess(self._nodes.access, self._nodes.trash_entries)

    @cached_property
    def trash(self) -> TrashService:
        return TrashService(
            self._database,
            self._nodes.access,
            self._entries,
            self._nodes.trash_entries,
            self._nodes.expiry,
            self._file_services.moving,
            self._nodes.file_events,
            self._users,
            self._nodes.guard,
        )

    @cached_property
    def removal(self) -> TrashRemoval:
        return TrashRemoval(
            self._database,
            self._clock,
            self._tenants.memberships,
            self._entries,
            self._nodes.trash_entries,
            self._nodes.guard,
            self._nodes.removals,
            self._nodes.file_events,
            self._entry_removal,
        )

    @cached_property
    def _entry_removal(self) -> EntryRemoval:
        return EntryRemoval(
            self._database,
            self._tenants.memberships,
            self._nodes.trash_entries,
            self._tenants.tenants.quota,
            self._storage.blobs,
            self._nodes.file_erasers,
        )

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [PruneStep("files in the trash", self.removal.purge)]
