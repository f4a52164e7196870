"""The list of what happened to a tenant's files."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class FileEventsFeature(Feature):
    """The list of file events."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.files.events.views import blueprint

        return [blueprint]
