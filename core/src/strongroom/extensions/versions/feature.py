"""Versions: content that was replaced."""

from strongroom.web.feature import Feature


class VersionsFeature(Feature):
    """Versions of files."""

    blueprints = ("views:blueprint",)
    services = "services:VersionServices"
