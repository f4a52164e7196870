"""The types of events of the core, and the audit records that they are made from."""

from collections.abc import Iterable, Mapping

from strongroom.plugin_api.events import EventType
from strongroom.web.core_events import Convert, CoreEvent, Outcome


class EventCatalogue:
    """The events that features declare.

    Args:
        events: the declarations; several may add sources to one type.
    """

    def __init__(self, events: Iterable[CoreEvent]) -> None:
        declared = sorted(events, key=lambda event: event.type.name)
        self.types: Mapping[str, EventType] = {event.type.name: event.type for event in declared}
        """All types by name."""
        self.sources: Mapping[Outcome, tuple[str, Convert]] = {
            outcome: (event.type.name, convert)
            for event in declared
            for outcome, convert in event.sources.items()
        }
        """The type and the data of events, by the action and outcome of audit records."""
