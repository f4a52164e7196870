"""The desired state of a server, which ``strongroom apply`` reads from a file."""

from typing import ClassVar

from strongroom.activity.audit.outcomes import SUCCESS
from strongroom.web.feature import Feature


class DesiredStateFeature(Feature):
    """What files declare."""

    services = "services:DesiredStateServices"

    silent_actions: ClassVar = {
        ("declaration.apply", SUCCESS): "each change that follows has its own event",
    }
