"""Versions: content that was replaced."""

from collections.abc import Mapping

from strongroom.content.files.versions.service import VersionService
from strongroom.web.feature import Feature, PruneStep, ServiceLookup


class VersionsFeature(Feature):
    """Versions of files."""

    blueprints = ("views:blueprint",)
    services = "services:VersionServices"

    def register_prune_steps(self, services: ServiceLookup) -> Mapping[str, PruneStep]:
        return {"versions of files": services(VersionService).purge}
