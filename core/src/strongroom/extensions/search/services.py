"""The services of search."""

from functools import cached_property

from strongroom.content.nodes.services import NodeServices
from strongroom.extensions.search.service import FileSearch
from strongroom.identity.users.services import UserServices
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class SearchServices(ServiceGroup):
    """Search."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._nodes = group(NodeServices)
        self._users = group(UserServices).users

    @cached_property
    def search(self) -> FileSearch:
        return FileSearch(self._database, self._clock, self._nodes.access, self._users)
