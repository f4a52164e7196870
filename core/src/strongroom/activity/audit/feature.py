"""The audit log: what happened, who did it, and from where."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from strongroom.activity.audit.models import SUCCESS
from strongroom.activity.audit.verifier import AuditRetention
from strongroom.web.feature import PRUNING, Feature, PruneStep, ServiceLookup

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class AuditFeature(Feature):
    """The audit log and its routes."""

    silent_actions: ClassVar = {("audit.prune", SUCCESS): "maintenance"}

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.activity.audit.views import blueprint

        return [blueprint]

    def register_prune_steps(self, services: ServiceLookup) -> Mapping[str, PruneStep]:
        return {"audit events": partial(services(AuditRetention).prune, PRUNING)}
