"""The services of the audit log."""

from collections.abc import Iterable
from functools import cached_property, partial

from strongroom.activity.audit.service import AuditService
from strongroom.activity.audit.user_exports import audit_exports
from strongroom.activity.audit.verifier import AuditRetention, AuditVerifier
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.services import PRUNING, ServiceGroup


class AuditServices(ServiceGroup):
    """The audit log."""

    @cached_property
    def audit(self) -> AuditService:
        metrics = self._base.metrics
        return AuditService(self._clock, metrics.audit_event if metrics else None)

    @cached_property
    def audit_retention(self) -> AuditRetention:
        days = self._settings.audit.retention_days
        return AuditRetention(self._database, self._clock, self.audit, days)

    @cached_property
    def audit_verifier(self) -> AuditVerifier:
        return AuditVerifier(self._database)

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [PruneStep("audit events", partial(self.audit_retention.prune, PRUNING))]

    def register_user_exports(self) -> Iterable[UserExport]:
        return audit_exports(self._database)
