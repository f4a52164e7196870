"""The services of the trash."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.content.files.services import FileServices
from strongroom.content.nodes.services import NodeServices
from strongroom.content.storage.services import StorageServices
from strongroom.content.tenants.services import TenantServices
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
    def trash(self) -> TrashService:
        return TrashService(
            self._database,
            self._clock,
            self._nodes.access,
            self._nodes.expiry,
            self._nodes.trash_entries,
            self._file_services.moving,
            self._nodes.file_writer,
            self._storage.blobs,
            self._users,
            self._tenants.tenants.quota,
            self._nodes.guard,
            self._nodes.removals,
            self._nodes.file_erasers,
        )

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [PruneStep("files in the trash", self.trash.purge)]
