"""Imports the lines that were received: one import at a time, chunk by chunk.

Each server process has a thread that continues the oldest import, unless another process has claimed
one. The transaction of a chunk creates its users, counts its lines and deletes it. So after a crash,
the next process continues with the first line that is not imported.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import Final

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from strongroom.activity.audit.service import FAILURE, SUCCESS, AuditEvent, AuditService
from strongroom.extensions.user_imports.caller_rights import CallerRights
from strongroom.extensions.user_imports.lines import Line, LineParser, UserLine
from strongroom.extensions.user_imports.models import UserImport
from strongroom.extensions.user_imports.plan import Plan, Planner
from strongroom.extensions.user_imports.store import LEASE, Chunk, ImportStore
from strongroom.extensions.user_imports.writer import ORIGIN, ImportWriter
from strongroom.extensions.user_management.administration import ManagedUsersLimit
from strongroom.foundation.database import Database
from strongroom.foundation.errors import (
    Detail,
    StrongroomError,
    TooManyRequests,
    Unavailable,
    ValidationFailed,
)

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 1.0
"""Seconds between two searches for imports."""

_RENEW_SECONDS: Final = LEASE / 1000 / 3
_ATTEMPTS: Final = 5

OnProgress = Callable[[int], object]
"""Receives the number of lines of each chunk that was imported."""


class ImportClaimLost(Exception):
    """The import was cancelled, or its claim has expired and another process continues."""


@dataclass(frozen=True, slots=True)
class _Parsed:
    """The lines of a chunk: the valid ones, and the faults of the others by number."""

    valid: Sequence[UserLine]
    refused: Mapping[int, Sequence[Detail]]


class ImportWorker:
    """Processes imports."""

    def __init__(
        self,
        database: Database,
        store: ImportStore,
        parser: LineParser,
        planner: Planner,
        writer: ImportWriter,
        rights: CallerRights,
        limit: ManagedUsersLimit,
        audit: AuditService,
    ) -> None:
        self._database = database
        self._store = store
        self._parser = parser
        self._planner = planner
        self._writer = writer
        self._rights = rights
        self._limit = limit
        self._audit = audit
        self._stopping = Event()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Start the thread. Call it after the process has forked."""
        if self._thread is None:
            self._thread = Thread(target=self._run, name="user-imports", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop the thread after the current line; the import continues with its next process."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(timeout=POLL_SECONDS)

    def run_due(self) -> None:
        """Process all imports that wait, unless another process is processing one."""
        while not self._stopping.is_set():
            # Read first, because an idle process must not take the write lock at each poll.
            with self._database.read_one() as connection:
                import_id = self._store.next_id(connection)
            if import_id is None or not self.run(import_id):
                return

    def run(self, import_id: str, on_progress: OnProgress = lambda _lines: None) -> bool:
        """Process an import until its end; return ``False`` if another process has claimed it."""
        with self._database.write() as connection:
            owner = self._store.claim(connection, import_id)
            job = self._store.get(connection, import_id)
        if owner is None or job is None:
            return False
        try:
            while self._import_next(job, owner, on_progress):
                pass
        except ImportClaimLost:
            logger.info("The import %s was cancelled, or another process continues it", import_id)
        finally:
            with self._database.write() as connection:
                self._store.release(connection, import_id, owner)
        return True

    def _run(self) -> None:
        while not self._stopping.wait(POLL_SECONDS):
            try:
                self.run_due()
            except (StrongroomError, SQLAlchemyError) as error:
                # The database is unavailable, which is logged where it is noticed.
                logger.debug("Imports are postponed: %s", type(error).__name__)
            except Exception:
                logger.exception("An import failed; it is repeated")

    def _import_next(self, job: UserImport, owner: str, on_progress: OnProgress) -> bool:
        """Import the next chunk; return whether there may be another one."""
        with self._database.read() as connection:
            chunk = self._store.next_chunk(connection, job.id)
        if chunk is None:
            self._finish(job, owner)
            return False
        parsed = self._within_limit(job, self._parse(job, owner, chunk))
        for attempt in range(_ATTEMPTS):
            try:
                if not self._import(job, owner, chunk, parsed):
                    return False
                break
            except IntegrityError:
                # A user has registered since the plan was made; the next plan sees that user.
                if attempt == _ATTEMPTS - 1:
                    raise
        on_progress(len(chunk.lines))
        return True

    def _parse(self, job: UserImport, owner: str, chunk: Chunk) -> _Parsed:
        """Parse lines outside of a transaction, because hashing may take minutes."""
        valid: list[UserLine] = []
        refused: dict[int, Sequence[Detail]] = {}
        renewed = monotonic()
        for line in chunk.lines:
            if monotonic() - renewed > _RENEW_SECONDS:
                self._renew(job, owner)
                renewed = monotonic()
            if line.content.strip():
                try:
                    valid.append(self._parse_line(line))
                except ValidationFailed as error:
                    refused[line.number] = error.details
        return _Parsed(valid, refused)

    def _within_limit(self, job: UserImport, parsed: _Parsed) -> _Parsed:
        """Refuse lines that change the logins of more users than the caller may change.

        Outside of a transaction, because the count of the limit has its own.
        """
        if job.created_by is None or job.dry_run:
            return parsed
        with self._database.read() as connection:
            changed = self._planner.changed_logins(connection, job, parsed.valid)
        refused: dict[int, Sequence[Detail]] = {}
        for number in changed:
            try:
                self._limit.spend(job.created_by)
            except TooManyRequests as error:
                refused[number] = [Detail("", "too-many-requests", error.message)]
        valid = [line for line in parsed.valid if line.number not in refused]
        return _Parsed(valid, {**parsed.refused, **refused})

    def _parse_line(self, line: Line) -> UserLine:
        while not self._stopping.is_set():
            try:
                return self._parser.parse(line)
            except Unavailable as error:
                # The queue of hashes is full of requests, which go first.
                self._stopping.wait(error.retry_after or POLL_SECONDS)
        raise ImportClaimLost

    def _renew(self, job: UserImport, owner: str) -> None:
        with self._database.write(durable=False) as connection:
            if not self._store.renew(connection, job.id, owner):
                raise ImportClaimLost

    def _import(self, job: UserImport, owner: str, chunk: Chunk, parsed: _Parsed) -> bool:
        """Import a chunk; return ``False`` if the caller has lost the right, and the import ends."""
        with self._database.write() as connection:
            # First: locks the row, so that a cancellation waits or is noticed.
            if not self._store.renew(connection, job.id, owner):
                raise ImportClaimLost
            if not self._rights.has_right(connection, job):
                self._revoke(connection, job, owner)
                return False
            plan = self._planner.plan(connection, job, parsed.valid)
            refused = {**parsed.refused, **plan.refused}
            self._store.add_keys(connection, job.id, plan.keys)
            self._store.add_errors(connection, job.id, refused)
            self._store.count(connection, job.id, owner, _counts(plan, len(refused)))
            self._store.remove_chunk(connection, job.id, chunk)
            if not job.dry_run:
                self._writer.apply(connection, job, plan)
        return True

    def _revoke(self, connection: Connection, job: UserImport, owner: str) -> None:
        self._store.revoke(connection, job.id, owner)
        ended = self._store.get(connection, job.id) or job
        self._audit.record(connection, _end_event("user-import.revoke", FAILURE, ended))

    def _finish(self, job: UserImport, owner: str) -> None:
        with self._database.write() as connection:
            if not self._store.finish(connection, job.id, owner):
                return
            ended = self._store.get(connection, job.id) or job
            self._audit.record(connection, _end_event("user-import.finish", SUCCESS, ended))


def _counts(plan: Plan, failed: int) -> dict[str, int]:
    counts = {
        "created": len(plan.created),
        "updated": len(plan.updated),
        "skipped": len(plan.skipped),
        "failed": failed,
    }
    return {**counts, "read": sum(counts.values())}


def _end_event(action: str, outcome: str, job: UserImport) -> AuditEvent:
    """Return the audit event of the end of an import."""
    names = ("read", "created", "updated", "skipped", "failed")
    details = {name: str(getattr(job, name)) for name in names}
    return AuditEvent(
        action,
        outcome,
        actor_id=job.created_by,
        target_type="user-import",
        target_id=job.id,
        origin=ORIGIN,
        details={**details, "dryRun": str(job.dry_run).lower(), "state": job.state},
    )
