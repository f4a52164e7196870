"""The services of the delivery of events."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.activity.events.positions import Positions
from strongroom.clock import DAY
from strongroom.plugin_api.erasers import TenantEraser
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.services import ServiceGroup


class PositionServices(ServiceGroup):
    """How far events are delivered."""

    @cached_property
    def positions(self) -> Positions:
        return Positions(self._database, self._clock)

    def register_prune_steps(self) -> Iterable[PruneStep]:
        age = self._settings.events.retention_days * DAY
        return [
            PruneStep("dead letters of events", lambda: self.positions.prune(self._clock.now() - age))
        ]

    def register_tenant_erasers(self) -> Iterable[TenantEraser]:
        return [self.positions.forget]
