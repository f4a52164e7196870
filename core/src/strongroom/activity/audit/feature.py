"""The audit log: what happened, who did it, and from where."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from strongroom.activity.audit.models import SUCCESS
from strongroom.activity.audit.verifier import AuditRetention
from strongroom.web.feature import PRUNING, Feature, PruneStep, ServiceLookup


class AuditFeature(Feature):
    """The audit log and its routes."""

    blueprints = ("views:blueprint",)
    services = "services:AuditServices"

    silent_actions: ClassVar = {("audit.prune", SUCCESS): "maintenance"}

    def register_prune_steps(self, services: ServiceLookup) -> Mapping[str, PruneStep]:
        return {"audit events": partial(services(AuditRetention).prune, PRUNING)}
