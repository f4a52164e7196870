"""The services of locks."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.content.nodes.services import NodeServices
from strongroom.extensions.locks.service import LockService
from strongroom.identity.users.services import UserServices
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.parts import UserEnding
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class LockServices(ServiceGroup):
    """Locks of files and folders."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._nodes = group(NodeServices)
        self._users = group(UserServices).users

    @cached_property
    def locks(self) -> LockService:
        return LockService(
            self._database,
            self._clock,
            self._nodes.access,
            self._nodes.locks,
            self._users,
            self._nodes.removals,
        )

    def register_deactivations(self) -> Iterable[UserEnding]:
        return [self.locks.deactivate]

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [PruneStep("locks", self.locks.prune)]
