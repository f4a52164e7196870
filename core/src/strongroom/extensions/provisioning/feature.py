"""Directories of companies create and change users and groups, through plugins."""

from typing import ClassVar

from strongroom.activity.audit.outcomes import SUCCESS
from strongroom.web.feature import Feature


class ProvisioningFeature(Feature):
    """Provisioning by directories."""

    silent_actions: ClassVar = {
        (f"directory.{verb}", SUCCESS): "only administrators read which directories there are"
        for verb in ("register", "change", "remove")
    }
    services = "services:ProvisioningServices"
