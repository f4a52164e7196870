"""The services of logins by the credentials of platforms."""

from functools import cached_property

from strongroom.extensions.platform_logins.service import PlatformLogins
from strongroom.identity.accounts.services import AccountServices
from strongroom.identity.sessions.login_sources import LoginSources
from strongroom.identity.sessions.services import SessionServices
from strongroom.identity.users.services import UserServices
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class PlatformLoginServices(ServiceGroup):
    """Logins by the credentials of platforms."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._credentials = group(UserServices).credentials
        self._authorizations = group(SessionServices).authorizations
        self._accounts = group(AccountServices)

    @cached_property
    def platform_logins(self) -> PlatformLogins:
        return PlatformLogins(
            self._database,
            self._clock,
            self._credentials,
            self._authorizations,
            self._accounts.suspensions,
            LoginSources(self._base.keys),
        )
