"""Health checks."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from strongroom.activity.audit.models import SUCCESS
from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class HealthFeature(Feature):
    """Health checks."""

    silent_actions: ClassVar = {("backup.restore", SUCCESS): "maintenance"}

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.ops.observability.views import blueprint

        return [blueprint]
