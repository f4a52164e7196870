"""The start page, and the setup of the first administrator."""

from typing import ClassVar

from strongroom.activity.audit.outcomes import FAILURE, SUCCESS
from strongroom.web.feature import Feature


class FirstStartFeature(Feature):
    """The start page, and the setup of the first administrator."""

    blueprints = ("start_views:blueprint", "setup_views:blueprint")
    services = "services:FirstStartServices"

    silent_actions: ClassVar = {
        ("setup-link.issue", SUCCESS): "before the first user exists",
        ("setup-link.redeem", FAILURE): "before the first user exists",
    }
