"""The delivery of events to plugins."""

from strongroom.web.feature import Feature


class EventsFeature(Feature):
    """The delivery of events."""

    services = "services:PositionServices"
