"""Assembles the services of events."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from strongroom.activity.events.delivery import EventDelivery
from strongroom.activity.events.positions import Positions
from strongroom.activity.events.server_stream import ServerStream
from strongroom.activity.events.services import PositionServices
from strongroom.activity.events.streams import CommittedEvents
from strongroom.assembly.features import core_events
from strongroom.assembly.infrastructure import Infrastructure
from strongroom.extensions.events.stream import TenantStreams
from strongroom.foundation.plugins.plugin import PluginError
from strongroom.plugin_api.events import EventType
from strongroom.web.feature import Feature
from strongroom.web.services import Groups


@dataclass(frozen=True, slots=True)
class EventServices:
    """The services of events."""

    log: CommittedEvents
    positions: Positions
    delivery: EventDelivery


def assemble_events(base: Infrastructure, group: Groups, features: Iterable[Feature]) -> EventServices:
    """Create the services of events, without sinks."""
    added, core = base.selection.plugins.event_types, core_events(features)
    server = ServerStream(core.sources, added)
    types = _all_event_types(core.types, added.values())
    log = CommittedEvents(base.database, server, TenantStreams(), types)
    positions = group(PositionServices).positions
    delivery = EventDelivery(base.database, log, positions, base.clock)
    return EventServices(log, positions, delivery)


def _all_event_types(
    core: Mapping[str, EventType], added: Iterable[EventType]
) -> Mapping[str, EventType]:
    """Return the types of the core and of plugins by name."""
    types = {item.name: item for item in added}
    if taken := types.keys() & core.keys():
        raise PluginError(f"plugins register types of events of the core: {', '.join(sorted(taken))}")
    return {**core, **types}
