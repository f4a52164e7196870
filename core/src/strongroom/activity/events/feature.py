"""The delivery of events to plugins."""

from collections.abc import Iterable, Mapping

from strongroom.activity.events.positions import Positions
from strongroom.clock import DAY, Clock
from strongroom.foundation.config import Settings
from strongroom.web.feature import Feature, PruneStep, ServiceLookup, TenantEraser


class EventsFeature(Feature):
    """The delivery of events."""

    def register_prune_steps(self, services: ServiceLookup) -> Mapping[str, PruneStep]:
        positions, clock = services(Positions), services(Clock)
        age = services(Settings).events.retention_days * DAY
        return {"dead letters of events": lambda: positions.prune(clock.now() - age)}

    def register_tenant_erasers(self, services: ServiceLookup) -> Iterable[TenantEraser]:
        return [services(Positions).forget]
