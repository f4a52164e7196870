"""The services of batches of changes."""

from functools import cached_property

from strongroom.content.files.services import FileServices
from strongroom.content.nodes.services import NodeServices
from strongroom.extensions.batches.service import BatchService
from strongroom.extensions.trash.services import TrashServices
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class BatchServices(ServiceGroup):
    """Batches of changes."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._nodes = group(NodeServices)
        self._file_services = group(FileServices)
        self._trash_services = group(TrashServices)

    @cached_property
    def batches(self) -> BatchService:
        return BatchService(
            self._database,
            self._nodes.access,
            self._file_services.files,
            self._file_services.moving,
            self._file_services.copying,
            self._trash_services.trash,
            self._file_services.grants,
            self._file_services.group_grants,
            self._nodes.file_events,
        )
