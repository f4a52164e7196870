"""The services of versions of files."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.content.nodes.services import NodeServices
from strongroom.content.storage.services import StorageServices
from strongroom.extensions.versions.service import VersionService
from strongroom.identity.users.services import UserServices
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class VersionServices(ServiceGroup):
    """Versions of files."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._nodes = group(NodeServices)
        self._storage = group(StorageServices)
        self._users = group(UserServices).users

    @cached_property
    def versions(self) -> VersionService:
        return VersionService(
            self._database,
            self._nodes.access,
            self._nodes.version_repository,
            self._nodes.file_writer,
            self._nodes.version_changes,
            self._storage.blobs,
            self._users,
            self._nodes.guard,
            self._nodes.removals,
        )

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [PruneStep("versions of files", self.versions.purge)]
