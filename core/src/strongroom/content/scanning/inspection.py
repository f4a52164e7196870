"""Inspects received content before it is committed, and records its scan state with it."""

import io
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import BinaryIO, Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.content.scanning.repository import ScanRepository
from strongroom.content.scanning.scanners import PENDING, Scanners, ScanResult, ScanSubject
from strongroom.content.scanning.states import QUARANTINED, ScanState
from strongroom.content.storage.service import ReceivedBlob
from strongroom.foundation.caller import AnyCaller, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import ContentInfected, ContentUnscannable
from strongroom.plugin_api.scanning import ScannerUnavailable
from strongroom.plugin_api.storage import ByteSource
from strongroom.plugin_api.web import ApiError

logger = logging.getLogger(__name__)

INFECTED: Final = "scan.infected"
"""The action of audit events of infected and rejected content."""


@dataclass(frozen=True, slots=True)
class InspectedBlob(ReceivedBlob):
    """A received blob with the result of its inspection."""

    result: ScanResult = PENDING


@dataclass(frozen=True, slots=True)
class InspectionPolicy:
    """The settings of inspections.

    Args:
        inline_max_bytes: the maximum size of files that are scanned during the upload.
        withhold_unavailable: whether new files are held back while a scanner is unavailable.
    """

    inline_max_bytes: int
    withhold_unavailable: bool = True


class ContentInspection:
    """Inspects uploads. Without scanners, it does nothing and executes no statements."""

    def __init__(
        self,
        database: Database,
        scanners: Scanners,
        repository: ScanRepository,
        audit: AuditService,
        policy: InspectionPolicy,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._scanners = scanners
        self._repository = repository
        self._audit = audit
        self._policy = policy
        self._now = now
        self._unavailable_until = 0.0

    @property
    def is_enabled(self) -> bool:
        """Whether a scanner is configured."""
        return bool(self._scanners.scanners)

    def inspect(
        self, caller: AnyCaller, received: ReceivedBlob, name: str, media_type: str
    ) -> ReceivedBlob:
        """Scan small content now, and the head of all other content; return the blob with the result.

        Must be called outside of transactions, because a scan may take seconds. Content that is never
        passed to this method is held back by :meth:`get_state`.

        Raises:
            ContentInfected: the content is malicious.
            ContentUnscannable: the content cannot be scanned, and the configuration refuses that.
            ApiError: a scanner rejects the content.
        """
        if not self.is_enabled:
            return received
        subject = ScanSubject(name, received.blob.size, media_type)
        result = self._attempt(lambda: self._scan_received(subject, received))
        if result.state in QUARANTINED:
            self._refuse(caller, subject, result)
        return inspected(received, result)

    def inspect_file(self, caller: AnyCaller, file: BinaryIO, subject: ScanSubject) -> ScanResult | None:
        """Scan a whole local file now, before it is processed; leaves it at its position.

        Return ``None`` without scanners; the result is pending if a scanner is unavailable.

        Raises:
            ContentInfected: the content is malicious.
            ContentUnscannable: the content cannot be scanned, and the configuration refuses that.
            ApiError: a scanner rejects the content.
        """
        if not self.is_enabled:
            return None

        @contextmanager
        def open_() -> Iterator[ByteSource]:
            position = file.tell()
            yield file
            file.seek(position)

        result = self._attempt(lambda: self._scanners.scan(subject, open_))
        if result.state in QUARANTINED:
            self._refuse(caller, subject, result)
        return result

    def get_state(self, received: ReceivedBlob) -> str | None:
        """Return the scan state of content that is about to be committed.

        Content that was not inspected is pending, so that an upload that forgets the inspection is held
        back and scanned later.
        """
        if not self.is_enabled:
            return None
        state = _result(received).state
        if state is ScanState.PENDING and self._is_allowed_unscanned(received):
            return None
        return state.value

    def record(self, connection: Connection, received: ReceivedBlob) -> None:
        """Insert the scan of content in the transaction that commits it."""
        if self.is_enabled:
            self._repository.add(connection, received.blob.key, _result(received))

    def _is_allowed_unscanned(self, received: ReceivedBlob) -> bool:
        # Large files are always held back until their first scan.
        was_attempted = received.content is not None and isinstance(received, InspectedBlob)
        return was_attempted and not self._policy.withhold_unavailable

    def _scan_received(self, subject: ScanSubject, received: ReceivedBlob) -> ScanResult:
        content = received.content
        if content is None:
            return self._scanners.scan_head(subject, received.head)

        @contextmanager
        def open_() -> Iterator[ByteSource]:
            yield io.BytesIO(content)

        return self._scanners.scan(subject, open_)

    def _attempt(self, scan: Callable[[], ScanResult]) -> ScanResult:
        # Uploads do not wait for a scanner that was unavailable a moment ago.
        if self._now() < self._unavailable_until:
            return PENDING
        try:
            return scan()
        except ScannerUnavailable as error:
            logger.warning("Content scanner unavailable, new files are held back: %s", error)
            self._unavailable_until = self._now() + error.retry_after
            return PENDING

    def _refuse(self, caller: AnyCaller, subject: ScanSubject, result: ScanResult) -> None:
        details = {"outcome": "refused", "name": subject.name, **scan_details(result)}
        origin = Origin(address=caller.address, impersonator_id=caller.impersonator_id)
        event = AuditEvent(INFECTED, actor_id=caller.user_id, origin=origin, details=details)
        with self._database.write() as connection:
            self._audit.record(connection, event)
        if result.kind is not None:
            raise ApiError(result.kind)
        error = ContentInfected if result.state is ScanState.INFECTED else ContentUnscannable
        raise error


def inspected(received: ReceivedBlob, result: ScanResult | None) -> ReceivedBlob:
    """Return a blob with the result of its inspection, or the blob itself without one."""
    if result is None:
        return received
    values = {item.name: getattr(received, item.name) for item in fields(ReceivedBlob)}
    return InspectedBlob(**values, result=result)


def scan_details(result: ScanResult) -> Mapping[str, str]:
    """Return the details of a result for audit events."""
    version = f"{result.version.engine} {result.version.database}".strip()
    return {"state": result.state.value, "scanner": result.scanner, "reason": result.reason} | (
        {"version": version} if version else {}
    )


def _result(received: ReceivedBlob) -> ScanResult:
    return received.result if isinstance(received, InspectedBlob) else PENDING
