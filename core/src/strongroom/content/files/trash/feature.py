"""The trash, from which deleted files come back."""

from collections.abc import Mapping

from strongroom.content.files.trash.service import TrashService
from strongroom.web.feature import Feature, PruneStep, ServiceLookup


class TrashFeature(Feature):
    """The trash."""

    blueprints = ("views:blueprint",)
    services = "services:TrashServices"

    def register_prune_steps(self, services: ServiceLookup) -> Mapping[str, PruneStep]:
        return {"files in the trash": services(TrashService).purge}
