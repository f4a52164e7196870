"""Health checks."""

from typing import ClassVar

from strongroom.activity.audit.outcomes import SUCCESS
from strongroom.web.feature import Feature


class HealthFeature(Feature):
    """Health checks."""

    blueprints = ("views:blueprint",)

    silent_actions: ClassVar = {("backup.restore", SUCCESS): "maintenance"}
