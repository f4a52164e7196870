"""The services of lists of events of files."""

from functools import cached_property

from strongroom.content.tenants.services import TenantServices
from strongroom.extensions.events.listing import FileEventListing
from strongroom.identity.users.services import UserServices
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class FileEventServices(ServiceGroup):
    """Lists of events of files."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._tenants = group(TenantServices)
        self._users = group(UserServices).users

    @cached_property
    def file_event_listing(self) -> FileEventListing:
        return FileEventListing(self._database, self._tenants.memberships, self._users)
