"""The services of zIP archives."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.content.nodes.services import NodeServices
from strongroom.content.storage.services import StorageServices
from strongroom.extensions.bundles.contents import Contents
from strongroom.extensions.bundles.service import BundleService
from strongroom.web.parts import UserEnding
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class BundleServices(ServiceGroup):
    """ZIP archives."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._nodes = group(NodeServices)
        self._storage = group(StorageServices)

    @cached_property
    def bundles(self) -> BundleService:
        return BundleService(
            self._database,
            self._clock,
            Contents(self._nodes.access, self._storage.blobs),
            self._storage.blobs,
            lifetime=self._settings.advanced.bundle_lifetime_seconds * 1000,
        )

    def register_deactivations(self) -> Iterable[UserEnding]:
        return [self.bundles.deactivate]
