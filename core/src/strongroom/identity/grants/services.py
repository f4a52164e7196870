"""The services of grants."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.identity.access_keys.services import AccessKeyServices
from strongroom.identity.grants.service import ClientGrantService
from strongroom.identity.grants.store import GrantStore
from strongroom.identity.sessions.services import SessionServices
from strongroom.identity.users.services import UserServices
from strongroom.web.parts import UserEnding
from strongroom.web.services import BaseServices, Groups, ServiceGroup

_PURPOSE = "grant-refresh-token"
"""Other than a login's, so that neither is accepted where the other one is, in any version."""


class GrantServices(ServiceGroup):
    """Grants of clients."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._sessions = group(SessionServices)
        self._audit = group(AuditServices).audit

    @cached_property
    def grants(self) -> ClientGrantService:
        return ClientGrantService(
            self._database,
            self._clock,
            self._sessions.statements.issuer,
            self._sessions.authorization_store,
            self._sessions.signer,
            self._sessions.make_refresh_tokens(_PURPOSE),
            GrantStore(self._clock),
            self._group(AccessKeyServices).access_keys,
            self._group(UserServices).suspension_ends,
            self._audit,
        )

    def register_deactivations(self) -> Iterable[UserEnding]:
        return [self.grants.deactivate]
