"""The feed of changes, which clients wait for."""

from strongroom.web.feature import Feature


class ChangeFeedFeature(Feature):
    """The feed of changes."""

    blueprints = ("views:blueprint",)
    services = "services:ChangeServices"
