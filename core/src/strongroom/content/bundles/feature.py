"""ZIP archives of files and folders."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class BundlesFeature(Feature):
    """ZIP archives."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.bundles.views import blueprint

        return [blueprint]
