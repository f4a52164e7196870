"""The services of the feed of changes."""

from functools import cached_property

from strongroom.content.nodes.services import NodeServices
from strongroom.extensions.changes.feed import ChangeFeed
from strongroom.extensions.changes.waiting import ChangeWaiters
from strongroom.identity.users.services import UserServices
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class ChangeServices(ServiceGroup):
    """The feed of changes."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._nodes = group(NodeServices)
        self._users = group(UserServices).users

    @cached_property
    def changes(self) -> ChangeFeed:
        return ChangeFeed(self._database, self._nodes.access, self._users)

    @cached_property
    def change_waiters(self) -> ChangeWaiters:
        return ChangeWaiters(self._database, self._settings.advanced.waiting_per_process)
