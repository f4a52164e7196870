"""The trash, from which deleted files come back."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class TrashFeature(Feature):
    """The trash."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.files.trash.views import blueprint

        return [blueprint]
