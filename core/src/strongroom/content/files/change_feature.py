"""Changes of files: rename, move, copy, replace."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class FileChangesFeature(Feature):
    """Changes of files."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.files.change_views import blueprint

        return [blueprint]
