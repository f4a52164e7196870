"""The quarantine: infected and rejected files, which no user can read until an administrator decides."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, FromClause, bindparam, func, select, update

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.content.scanning.models import SCAN, Scan, scans
from strongroom.content.scanning.owners import ContentOwners, OwnedContent
from strongroom.content.scanning.states import QUARANTINED, ScanState
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotFound

_IS_QUARANTINED: Final = scans.c.state.in_([state.value for state in QUARANTINED])
_SELECT: Final = select(scans).where(scans.c.id == bindparam("of_id"), _IS_QUARANTINED)
_FIND: Final = Statement(_SELECT, SCAN)
# Locked, so that the content is still in quarantine when it is released.
_FIND_LOCKED: Final = Statement(_SELECT.with_for_update(), SCAN)
_RELEASE: Final = Statement(
    update(scans)
    .where(scans.c.id == bindparam("of_id"))
    .values(state=ScanState.CLEAN.value, released_at=bindparam("now"), due_at=None, lease=None)
)


@dataclass(frozen=True, slots=True)
class QuarantinedFile:
    """A file in quarantine, and the scan that put it there."""

    scan: Scan
    file: OwnedContent


@dataclass(slots=True, eq=False, repr=False)
class QuarantineService:
    """Lists, releases and deletes files in quarantine.

    Args:
        stored: a subquery with the ``key`` of each blob that is not discarded.
    """

    _database: Database
    _clock: Clock
    _owners: ContentOwners
    _audit: AuditService
    _stored: FromClause

    def page(self, paging: Paging) -> Page[QuarantinedFile]:
        """Return a page of the files in quarantine, the newest first."""
        # A deleted file's scan remains until its blob is removed, and is not listed.
        is_stored = scans.c.blob_key.in_(select(self._stored.c.key))
        query = select(scans).where(_IS_QUARANTINED, is_stored)
        count = query.with_only_columns(func.count())
        newest_first = query.order_by(scans.c.scanned_at.desc(), scans.c.id.desc())
        with self._database.read() as connection:
            page = select_page(connection, newest_first, count, paging, SCAN)
            files = self._owners.find(connection, [scan.blob_key for scan in page.items])
        # A file may have been deleted since the query, on PostgreSQL.
        listed = [scan for scan in page.items if scan.blob_key in files]
        items = [QuarantinedFile(scan, files[scan.blob_key]) for scan in listed]
        return page.with_items(items)

    def release(self, admin: Identity, scan_id: str, reason: str, origin: Origin) -> QuarantinedFile:
        """Permit reading a file again. It is not scanned again.

        Raises:
            NotFound: no such file is in quarantine.
        """
        with self._database.write() as connection:
            item = self._find(connection, scan_id)
            owner = self._owners.get(item.file)
            # The state of the file comes first: it locks the tenant, as all changes of files do.
            key = item.scan.blob_key
            is_there = owner.set_state(connection, item.file, key, ScanState.CLEAN)
            if not is_there or _FIND_LOCKED.first(connection, {"of_id": scan_id}) is None:
                raise NotFound
            _RELEASE.execute(connection, {"of_id": scan_id, "now": self._clock.now()})
            self._record(connection, "quarantine.release", admin, item, origin, reason)
        return item

    def delete(self, admin: Identity, scan_id: str, origin: Origin) -> None:
        """Delete a file in quarantine.

        Raises:
            NotFound: no such file is in quarantine.
        """
        with self._database.read() as connection:
            item = self._find(connection, scan_id)
        self._owners.get(item.file).delete(admin, item.file, item.scan.blob_key, origin)
        with self._database.write() as connection:
            self._record(connection, "quarantine.delete", admin, item, origin)

    def _find(self, connection: Connection, scan_id: str) -> QuarantinedFile:
        scan = _FIND.first(connection, {"of_id": scan_id})
        if scan is None:
            raise NotFound
        file = self._owners.find(connection, [scan.blob_key]).get(scan.blob_key)
        if file is None:
            raise NotFound
        return QuarantinedFile(scan, file)

    def _record(
        self,
        connection: Connection,
        action: str,
        admin: Identity,
        item: QuarantinedFile,
        origin: Origin,
        reason: str = "",
    ) -> None:
        details = {**item.file.details, "finding": item.scan.reason}
        event = AuditEvent(
            action,
            actor_id=admin.user_id,
            target_type=item.file.kind,
            target_id=item.file.id,
            origin=origin,
            details=details | ({"reason": reason} if reason else {}),
        )
        self._audit.record(connection, event)
