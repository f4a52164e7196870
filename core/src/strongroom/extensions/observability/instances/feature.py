"""The instances of a cluster."""

from strongroom.web.feature import Feature


class InstancesFeature(Feature):
    """Which instances serve."""

    services = "services:InstanceServices"
