"""Versions: content that was replaced."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from strongroom.content.files.versions.service import VersionService
from strongroom.web.feature import Feature, PruneStep, ServiceLookup

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class VersionsFeature(Feature):
    """Versions of files."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.files.versions.views import blueprint

        return [blueprint]

    def register_prune_steps(self, services: ServiceLookup) -> Mapping[str, PruneStep]:
        return {"versions of files": services(VersionService).purge}
