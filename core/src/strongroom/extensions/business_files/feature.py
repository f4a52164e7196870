"""Business files: pictures and documents of products, which belong to no tenant."""

from typing import ClassVar

from strongroom.activity.audit.outcomes import SUCCESS
from strongroom.web.feature import Feature


class BusinessFilesFeature(Feature):
    """Business files."""

    blueprints = ("views:blueprint",)
    services = "services:BusinessFileServices"

    silent_actions: ClassVar = {("business-file.delete", SUCCESS): "business files belong to no tenant"}
