"""The audit log: what happened, who did it, and from where."""

from typing import ClassVar

from strongroom.activity.audit.outcomes import SUCCESS
from strongroom.web.feature import Feature


class AuditFeature(Feature):
    """The audit log and its routes."""

    blueprints = ("views:blueprint", "views:client_actions")
    services = "services:AuditServices"

    silent_actions: ClassVar = {("audit.prune", SUCCESS): "maintenance"}
