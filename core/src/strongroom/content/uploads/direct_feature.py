"""Direct uploads: clients send the content to the store."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class DirectUploadsFeature(Feature):
    """Direct uploads."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.uploads.direct_views import blueprint

        return [blueprint]
