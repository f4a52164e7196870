"""Search by name and other properties."""

from strongroom.web.feature import Feature


class SearchFeature(Feature):
    """Search."""

    blueprints = ("views:blueprint",)
    services = "services:SearchServices"
