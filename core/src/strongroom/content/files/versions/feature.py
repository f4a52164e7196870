"""Versions: content that was replaced."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class VersionsFeature(Feature):
    """Versions of files."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.files.versions.views import blueprint

        return [blueprint]
