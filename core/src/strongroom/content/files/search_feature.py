"""Search by name and other properties."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class SearchFeature(Feature):
    """Search."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.files.search_views import blueprint

        return [blueprint]
