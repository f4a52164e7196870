"""Scans content that was not scanned during its upload: large files, failed scans and repeated scans.

Every process has a few threads that claim due scans from the database. A claim is a lease, so a scan
whose process is killed is repeated by another one.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Final

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.content.scanning.inspection import INFECTED, scan_details
from strongroom.content.scanning.models import Scan
from strongroom.content.scanning.owners import ContentOwners, OwnedContent
from strongroom.content.scanning.repository import LEASE, ScanRepository
from strongroom.content.scanning.scanners import Scanners, ScanResult, ScanSubject
from strongroom.content.scanning.states import QUARANTINED
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.streams import BandwidthLimiter, ChunkSource, ReadingFailed
from strongroom.foundation.database import Database
from strongroom.foundation.errors import NotFound, StrongroomError
from strongroom.plugin_api.scanning import ScannerUnavailable
from strongroom.plugin_api.storage import ByteSource, StorageError

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 1.0
"""Seconds between two searches for due scans."""

_RETRY_SECONDS: Final = 5


class ClaimLost(Exception):
    """The claim of a scan expired while it was running, because its process stalled."""


@dataclass(slots=True, eq=False, repr=False)
class LeasedSource:
    """The content of a claimed scan; reading it renews the claim.

    Args:
        renew: called before each read.
    """

    _source: ByteSource
    _renew: Callable[[], None]

    def read(self, size: int, /) -> bytes:
        self._renew()
        try:
            return self._source.read(size)
        except ReadingFailed as failure:
            raise failure.error from failure


class ScanWorker:
    """Scans due content.

    Args:
        withhold_unavailable: whether content is held back while a scanner is unavailable.
        threads: the number of threads that :meth:`start` creates.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        blobs: BlobService,
        scanners: Scanners,
        repository: ScanRepository,
        owners: ContentOwners,
        audit: AuditService,
        *,
        withhold_unavailable: bool = True,
        threads: int = 1,
    ) -> None:
        self._database = database
        self._clock = clock
        self._blobs = blobs
        self._scanners = scanners
        self._repository = repository
        self._owners = owners
        self._audit = audit
        self._withhold_unavailable = withhold_unavailable
        self._count = threads
        self._stopping = Event()
        self._threads: list[Thread] = []

    def start(self) -> None:
        """Start the threads, if a scanner is configured. Call it after the process has forked."""
        if self._scanners.scanners and not self._threads:
            self._threads = [
                Thread(target=self._run, name=f"scan-{number}", daemon=True)
                for number in range(self._count)
            ]
            for thread in self._threads:
                thread.start()

    def close(self) -> None:
        """Stop the threads. A running scan is repeated by another process after its claim expires."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(timeout=POLL_SECONDS)

    def run_due(self) -> int:
        """Scan all content that is due now, and return how many scans were attempted."""
        count = 0
        while not self._stopping.is_set() and self.run_one():
            count += 1
        return count

    def run_one(self) -> bool:
        """Scan the content that is due for the longest time; return ``False`` if there is none."""
        # Read first, because an idle worker must not take the write lock at each poll.
        with self._database.read_one() as connection:
            if not self._repository.any_due(connection):
                return False
        # Non-durable: a claim that is lost in a power failure is made again, and the scan repeated.
        with self._database.write(durable=False) as connection:
            scan = self._repository.claim(connection)
        if scan is None:
            return False
        self._process(scan)
        return True

    def _run(self) -> None:
        while not self._stopping.wait(POLL_SECONDS):
            try:
                self.run_due()
            except (StrongroomError, SQLAlchemyError) as error:
                # The database is unavailable, which is logged where it is found.
                logger.debug("Scans are postponed: %s", type(error).__name__)
            except Exception:
                logger.exception("A scan failed")

    def _process(self, scan: Scan) -> None:
        # One snapshot: a concurrent replacement moves content from a file to its version, which two
        # queries could both miss, and the version would stay pending.
        with self._database.snapshot() as connection:
            file = self._owners.find(connection, [scan.blob_key]).get(scan.blob_key)
        if file is None:
            with self._database.write() as connection:
                self._repository.remove(connection, scan)
            return
        try:
            self._attempt(scan, file)
        except ClaimLost:
            logger.warning("The claim of a scan expired; another process repeats it")

    def _attempt(self, scan: Scan, file: OwnedContent) -> None:
        try:
            self._finish(scan, file, self._scan(scan, file))
        except NotFound:
            # Deleted meanwhile; the next attempt finds no file.
            self._postpone(scan, file, 0)
        except ScannerUnavailable as error:
            logger.warning("Content scanner unavailable, attempt %d: %s", scan.attempts, error)
            self._postpone(scan, file, error.retry_after, was_unavailable=True)
        except (StorageError, StrongroomError) as error:
            logger.warning("Content cannot be read for a scan, attempt %d: %s", scan.attempts, error)
            self._postpone(scan, file, _RETRY_SECONDS)

    def _scan(self, scan: Scan, file: OwnedContent) -> ScanResult:
        renew = self._renewal(scan)

        @contextmanager
        def open_() -> Iterator[ByteSource]:
            with self._blobs.open(scan.blob_key, 0, file.size) as chunks:
                yield LeasedSource(ChunkSource(chunks, BandwidthLimiter(None)), renew)

        return self._scanners.scan(ScanSubject(file.name, file.size, file.content_type), open_)

    def _renewal(self, scan: Scan) -> Callable[[], None]:
        """Return a function that renews the claim when due; it must be called regularly."""
        # A third of the lease, so that a renewal that is late or fails once does not lose the claim.
        due = self._clock.now() + LEASE // 3

        def renew() -> None:
            nonlocal due
            if self._clock.now() >= due:
                # Non-durable: a lost renewal only ends the claim earlier.
                with self._database.write(durable=False) as connection:
                    if not self._repository.renew(connection, scan):
                        raise ClaimLost
                due = self._clock.now() + LEASE // 3

        return renew

    def _postpone(
        self, scan: Scan, file: OwnedContent, retry_after: int, *, was_unavailable: bool = False
    ) -> None:
        with self._database.write() as connection:
            # Only content without any result: an earlier one remains valid. First, as in _finish().
            if was_unavailable and not self._withhold_unavailable and scan.scanned_at is None:
                self._owners.get(file).set_state(connection, file, scan.blob_key, None)
            if not self._repository.postpone(connection, scan, retry_after=retry_after):
                # Another process may have found the content infected meanwhile.
                raise ClaimLost

    def _finish(self, scan: Scan, file: OwnedContent, result: ScanResult) -> None:
        with self._database.write() as connection:
            # The state of the file comes first: it locks the tenant, as all changes of files do.
            has_changed = self._owners.get(file).set_state(connection, file, scan.blob_key, result.state)
            if not self._repository.finish(connection, scan, result):
                raise ClaimLost
            if has_changed and result.state in QUARANTINED:
                self._report(connection, file, result)

    def _report(self, connection: Connection, file: OwnedContent, result: ScanResult) -> None:
        details = {"outcome": "quarantined", **file.details, **scan_details(result)}
        event = AuditEvent(INFECTED, target_type=file.kind, target_id=file.id, details=details)
        self._audit.record(connection, event)
