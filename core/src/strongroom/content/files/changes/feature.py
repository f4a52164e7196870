"""The feed of changes, which clients wait for."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class ChangeFeedFeature(Feature):
    """The feed of changes."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.files.changes.views import blueprint

        return [blueprint]
