"""Business files: pictures and documents of products, which belong to no tenant."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from strongroom.activity.audit.models import SUCCESS
from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class BusinessFilesFeature(Feature):
    """Business files."""

    silent_actions: ClassVar = {("business-file.delete", SUCCESS): "business files belong to no tenant"}

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.business_files.views import blueprint

        return [blueprint]
