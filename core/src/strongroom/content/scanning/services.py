"""The services of scans of content."""

from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.content.scanning.inspection import ContentInspection, InspectionPolicy
from strongroom.content.scanning.owners import ContentOwners
from strongroom.content.scanning.quarantine import QuarantineService
from strongroom.content.scanning.repository import ScanRepository
from strongroom.content.scanning.rescans import Rescans
from strongroom.content.scanning.scanners import Scanners
from strongroom.content.scanning.worker import ScanWorker
from strongroom.content.storage.services import StorageServices
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class ScanningServices(ServiceGroup):
    """Scans of content."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._audit = group(AuditServices).audit
        self._storage = group(StorageServices)

    @cached_property
    def scans(self) -> ScanRepository:
        return ScanRepository(self._clock)

    @cached_property
    def scanners(self) -> Scanners:
        base = self._base
        scanners = [
            base.construct(choice, ("scanning", choice.extension.name))
            for choice in base.selection.scanners
        ]
        return Scanners(
            scanners,
            base.selection.plugins.errors,
            refuse_unscannable=self._settings.scanning.on_unscannable == "refuse",
            observe=base.metrics.scan if base.metrics else None,
        )

    @cached_property
    def inspection(self) -> ContentInspection:
        holds = self._settings.scanning.on_unavailable == "hold"
        policy = InspectionPolicy(self._settings.advanced.scan_inline_max_bytes, holds)
        return ContentInspection(self._database, self.scanners, self.scans, self._audit, policy)

    @cached_property
    def content_owners(self) -> ContentOwners:
        return ContentOwners()

    @cached_property
    def scan_worker(self) -> ScanWorker:
        settings = self._settings.scanning
        worker = ScanWorker(
            self._database,
            self._clock,
            self._storage.blobs,
            self.scanners,
            self.scans,
            self.content_owners,
            self._audit,
            withhold_unavailable=settings.on_unavailable == "hold",
            threads=self._settings.advanced.scan_threads,
        )
        self._base.resources.callback(worker.close)
        return worker

    @cached_property
    def rescans(self) -> Rescans:
        return Rescans(self._database, self.scans, self.content_owners)

    @cached_property
    def quarantine(self) -> QuarantineService:
        return QuarantineService(
            self._database,
            self._clock,
            self.content_owners,
            self._audit,
            self._storage.blobs.location_query(),
        )

    def start(self) -> None:
        self.scan_worker.start()
