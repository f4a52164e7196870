"""The services of holds and retention."""

from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.content.nodes.services import NodeServices
from strongroom.content.tenants.services import TenantServices
from strongroom.extensions.retention.service import HoldService, RetentionService
from strongroom.identity.users.services import UserServices
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class RetentionServices(ServiceGroup):
    """Holds and retention."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._nodes = group(NodeServices)
        self._tenants = group(TenantServices)
        self._users = group(UserServices).users
        self._audit = group(AuditServices).audit

    @cached_property
    def holds(self) -> HoldService:
        return HoldService(
            self._database,
            self._clock,
            self._nodes.retention_clock,
            self._tenants.memberships,
            self._nodes.guard,
            self._nodes.tree,
            self._users,
            self._audit,
        )

    @cached_property
    def retention(self) -> RetentionService:
        return RetentionService(
            self._database,
            self._nodes.retention_clock,
            self._tenants.memberships,
            self._nodes.guard,
            self._audit,
        )
