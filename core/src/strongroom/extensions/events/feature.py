"""The list of what happened to a tenant's files."""

from strongroom.web.feature import Feature


class FileEventsFeature(Feature):
    """The list of file events."""

    blueprints = ("views:blueprint",)
    services = "services:FileEventServices"
