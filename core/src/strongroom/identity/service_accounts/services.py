"""The services of the service accounts of the server."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.identity.accounts.services import AccountServices
from strongroom.identity.service_accounts.service import ServerAccountService
from strongroom.identity.service_accounts.store import ServerAccountStore
from strongroom.identity.users.services import UserServices
from strongroom.web.parts import UserEnding
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class ServerAccountServices(ServiceGroup):
    """Service accounts of the server."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._users = group(UserServices).users
        self._accounts = group(AccountServices)
        self._audit = group(AuditServices).audit

    @cached_property
    def store(self) -> ServerAccountStore:
        return ServerAccountStore()

    @cached_property
    def server_accounts(self) -> ServerAccountService:
        return ServerAccountService(
            self._database,
            self._clock,
            self._users,
            self.store,
            self._accounts.deletion,
            self._audit,
        )

    def register_deactivations(self) -> Iterable[UserEnding]:
        return [self.store.deactivate]
