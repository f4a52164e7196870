"""Batches: many changes of files in one request."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class BatchesFeature(Feature):
    """Batches of changes."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.files.batches.views import blueprint

        return [blueprint]
