"""Files and folders: lists, uploads and downloads."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class FilesFeature(Feature):
    """Files and folders."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.files.views import blueprint

        return [blueprint]
