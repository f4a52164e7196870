"""Reads and changes scans within the caller's transaction; claims those that are due."""

from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection, bindparam, delete, func, select, update

from strongroom.clock import Clock
from strongroom.content.scanning.models import SCAN, Scan, scans
from strongroom.content.scanning.scanners import PENDING, ScanResult
from strongroom.content.scanning.states import ScanState
from strongroom.foundation.database.leases import RowLease
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.ids import new_id
from strongroom.plugin_api.backoff import Backoff

LEASE: Final = 5 * 60 * 1000
"""Milliseconds after which a claimed scan is repeated, because its process is taken for dead."""

RETRIES: Final = Backoff.exponential(5 * 1000, maximum=5 * 60 * 1000)
"""When a scan without a result is repeated."""

# A claimed scan is due again when its lease ends, so the scan of a killed process needs no clean-up.
_ROW: Final = RowLease(scans.c.id, owner=scans.c.lease, until=scans.c.due_at, milliseconds=LEASE)
# Content that is already known is not added again, for example by two commands at the same time.
_ADD: Final = Statement(for_each_dialect(scans, lambda insert: insert.on_conflict_do_nothing()))
_ANY_DUE: Final = Statement(select(scans.c.id).where(_ROW.is_over).limit(1))
_CLAIMABLE: Final = Statement(
    _ROW.claimable().where(_ROW.is_over).order_by(scans.c.due_at).limit(1), SCAN
)
_CLAIM: Final = Statement(_ROW.claim().values(attempts=scans.c.attempts + 1))
_RENEW: Final = Statement(_ROW.renew())
_POSTPONE: Final = Statement(_ROW.end().values(due_at=bindparam("until")))
_FINISH: Final = Statement(
    _ROW.end().values(
        state=bindparam("new_state"),
        scanner=bindparam("new_scanner"),
        engine=bindparam("new_engine"),
        database_version=bindparam("new_database"),
        reason=bindparam("new_reason"),
        scanned_at=bindparam("now"),
        attempts=0,
    )
)
_REMOVE: Final = Statement(delete(scans).where(_ROW.is_owned))
_VERSIONS: Final = Statement(
    select(scans.c.database_version).where(scans.c.scanned_at.is_not(None)).distinct()
)
# Released content is not scanned again: an administrator has decided.
_REPEAT: Final = Statement(
    update(scans)
    .where(
        scans.c.database_version.in_(bindparam("versions", expanding=True)),
        scans.c.due_at.is_(None),
        scans.c.released_at.is_(None),
    )
    .values(due_at=bindparam("now"), attempts=0)
)
_DUE: Final = Statement(
    select(func.count(), func.min(scans.c.created_at)).where(scans.c.due_at.is_not(None))
)


@dataclass(slots=True, eq=False, repr=False)
class ScanRepository:
    """Repository of scans."""

    _clock: Clock

    def add(self, connection: Connection, blob_key: str, result: ScanResult = PENDING) -> None:
        """Insert the scan of a blob. A pending one is due at once."""
        now, is_pending = self._clock.now(), result.state is ScanState.PENDING
        scan = Scan(
            id=new_id(),
            blob_key=blob_key,
            state=result.state.value,
            scanner=result.scanner,
            engine=result.version.engine,
            database_version=result.version.database,
            reason=result.reason,
            created_at=now,
            scanned_at=None if is_pending else now,
            due_at=now if is_pending else None,
            attempts=0,
            lease=None,
            released_at=None,
        )
        _ADD.execute(connection, SCAN.values(scan))

    def any_due(self, connection: Connection) -> bool:
        """Return whether a scan is due."""
        return _ANY_DUE.first(connection, {"now": self._clock.now()}) is not None

    def claim(self, connection: Connection) -> Scan | None:
        """Claim the scan that is due for the longest time, for one process of the cluster.

        The claim expires after :data:`LEASE` unless renewed, so that the scan of a process that was
        killed is repeated. A claim also increases ``attempts``.
        """
        term = _ROW.term(self._clock.now())
        scan = _CLAIMABLE.first(connection, term)
        if scan is None:
            return None
        claimed = replace(scan, lease=new_id(), attempts=scan.attempts + 1)
        _CLAIM.execute(connection, {**_key(claimed), **term})
        return claimed

    def renew(self, connection: Connection, scan: Scan) -> bool:
        """Extend a claim, and return ``False`` if it is lost."""
        return _RENEW.execute(connection, {**_key(scan), **_ROW.term(self._clock.now())}) == 1

    def postpone(self, connection: Connection, scan: Scan, *, retry_after: int) -> bool:
        """End a claim without a result; the scan is repeated later, after growing delays.

        Returns ``False`` if the claim is lost.

        Args:
            connection: the caller's transaction.
            retry_after: the shortest delay in seconds.
        """
        delay = RETRIES.delay(scan.attempts, at_least=retry_after * 1000)
        return _POSTPONE.execute(connection, {**_key(scan), "until": self._clock.now() + delay}) == 1

    def finish(self, connection: Connection, scan: Scan, result: ScanResult) -> bool:
        """Store the result of a claimed scan, and return ``False`` if the claim is lost."""
        values = {
            **_key(scan),
            "new_state": result.state.value,
            "new_scanner": result.scanner,
            "new_engine": result.version.engine,
            "new_database": result.version.database,
            "new_reason": result.reason,
            "now": self._clock.now(),
        }
        return _FINISH.execute(connection, values) == 1

    def remove(self, connection: Connection, scan: Scan) -> None:
        """Delete a claimed scan whose content nothing refers to any more."""
        _REMOVE.execute(connection, _key(scan))

    def versions(self, connection: Connection) -> list[str]:
        """Return the database versions of all results."""
        return _VERSIONS.scalars(connection)

    def repeat(self, connection: Connection, versions: list[str]) -> int:
        """Plan the scans again whose result has one of the database versions; return their number.

        The content can be read until then as before.
        """
        return _REPEAT.execute(connection, {"versions": versions, "now": self._clock.now()})

    def due(self, connection: Connection) -> tuple[int, int | None]:
        """Return how many scans are planned, and when the oldest of their contents was received."""
        ((count, oldest),) = _DUE.all(connection)
        return count, oldest


def _key(scan: Scan) -> dict[str, str | None]:
    return {"of_id": scan.id, "owner": scan.lease}
