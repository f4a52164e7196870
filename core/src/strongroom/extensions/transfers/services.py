"""The services of transfers."""

from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.content.nodes.services import NodeServices
from strongroom.content.tenants.services import TenantServices
from strongroom.extensions.transfers.service import TransferService
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class TransferServices(ServiceGroup):
    """Transfers of files."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._nodes = group(NodeServices)
        self._tenants = group(TenantServices)
        self._audit = group(AuditServices).audit

    @cached_property
    def transfers(self) -> TransferService:
        return TransferService(
            self._database,
            self._clock,
            self._tenants.memberships,
            self._nodes.visibility,
            self._audit,
        )
