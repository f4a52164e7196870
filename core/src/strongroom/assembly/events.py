"""Assembles the services of events."""

from dataclasses import dataclass

from strongroom.activity.events.catalogue import EventCatalogue
from strongroom.activity.events.delivery import EventDelivery
from strongroom.activity.events.positions import Positions
from strongroom.activity.events.services import PositionServices
from strongroom.activity.events.streams import CommittedEvents
from strongroom.assembly.infrastructure import Infrastructure
from strongroom.extensions.events.server_stream import ServerStream
from strongroom.extensions.events.stream import TenantStreams
from strongroom.web.services import Groups


@dataclass(frozen=True, slots=True)
class EventServices:
    """The services of events."""

    log: CommittedEvents
    positions: Positions
    delivery: EventDelivery


def assemble_events(base: Infrastructure, group: Groups, catalogue: EventCatalogue) -> EventServices:
    """Create the services of events, without sinks."""
    server = ServerStream(catalogue.sources)
    log = CommittedEvents(base.database, server, TenantStreams(), catalogue.types)
    positions = group(PositionServices).positions
    delivery = EventDelivery(base.database, log, positions, base.clock)
    return EventServices(log, positions, delivery)
