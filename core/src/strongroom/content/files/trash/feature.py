"""The trash, from which deleted files come back."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from strongroom.content.files.trash.service import TrashService
from strongroom.web.feature import Feature, PruneStep, ServiceLookup

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class TrashFeature(Feature):
    """The trash."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.files.trash.views import blueprint

        return [blueprint]

    def register_prune_steps(self, services: ServiceLookup) -> Mapping[str, PruneStep]:
        return {"files in the trash": services(TrashService).purge}
