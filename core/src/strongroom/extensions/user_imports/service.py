"""Receives, lists and cancels imports of users."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.extensions.user_imports.lines import split_lines
from strongroom.extensions.user_imports.models import LineError, UserImport
from strongroom.extensions.user_imports.store import Chunk, ImportOptions, ImportStore, split_chunks
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging
from strongroom.foundation.errors import NotFound, PayloadTooLarge
from strongroom.plugin_api.storage import ByteSource

_ERRORS_AT_ONCE = 500


@dataclass(slots=True, eq=False, repr=False)
class UserImports:
    """Imports of users.

    Args:
        max_lines: the maximum number of lines of an import.
    """

    _database: Database
    _store: ImportStore
    _audit: AuditService
    _max_lines: int

    def create(
        self, source: ByteSource, options: ImportOptions, caller: Identity | None, origin: Origin
    ) -> UserImport:
        """Receive the lines of an import, which waits for :class:`ImportWorker` afterwards.

        Args:
            caller: the administrator, whose right is checked again at each chunk; ``None`` for the
                command line.

        Raises:
            PayloadTooLarge: it has too many lines.
            StrongroomError: the lines did not arrive completely.
        """
        actor_id = caller.user_id if caller else None
        key_id = caller.key.key_id if caller and caller.key else None
        with self._database.write() as connection:
            job = self._store.add(connection, options, actor_id, key_id)
        try:
            count = self._receive(job, split_chunks(split_lines(source)))
        except BaseException:
            with self._database.write() as connection:
                self._store.remove(connection, job.id)
            raise
        with self._database.write() as connection:
            self._store.accept(connection, job.id, count)
            self._audit.record(connection, _event("user-import.create", job, actor_id, origin))
        return self.get(job.id)

    def get(self, import_id: str) -> UserImport:
        """Return an import.

        Raises:
            NotFound: there is no such import.
        """
        with self._database.read() as connection:
            job = self._store.get(connection, import_id)
        if job is None:
            raise NotFound
        return job

    def page(self, paging: Paging) -> Page[UserImport]:
        """Return a page of the imports, newest first."""
        with self._database.read() as connection:
            return self._store.page(connection, paging)

    def unfinished(self) -> list[UserImport]:
        """Return the imports with lines that are not processed yet, oldest first."""
        with self._database.read() as connection:
            return self._store.unfinished(connection)

    def errors(self, import_id: str) -> Iterator[LineError]:
        """Yield why lines were refused, in the order of lines; few are in memory.

        Raises:
            NotFound: there is no such import.
        """
        self.get(import_id)
        return self._errors(import_id)

    def cancel(self, import_id: str, actor_id: str | None, origin: Origin) -> UserImport:
        """Cancel an import that has not ended. What was imported stays.

        Raises:
            NotFound: there is no such import.
        """
        job = self.get(import_id)
        with self._database.write() as connection:
            if self._store.cancel(connection, import_id):
                self._audit.record(connection, _event("user-import.cancel", job, actor_id, origin))
        return self.get(import_id)

    def prune(self) -> int:
        """Delete old imports; return their number."""
        with self._database.write() as connection:
            return self._store.prune(connection)

    def _receive(self, job: UserImport, chunks: Iterable[Chunk]) -> int:
        """Store chunks, and return the number of lines."""
        count = 0
        for chunk in chunks:
            count += len(chunk.lines)
            if count > self._max_lines:
                raise PayloadTooLarge(f"An import may have at most {self._max_lines} lines.")
            # Non-durable: the acceptance of the import makes all of them durable.
            with self._database.write(durable=False) as connection:
                self._store.add_chunk(connection, job.id, chunk)
        return count

    def _errors(self, import_id: str) -> Iterator[LineError]:
        last = (0, -1)
        while True:
            with self._database.read() as connection:
                errors = self._store.errors(connection, import_id, last, _ERRORS_AT_ONCE)
            yield from errors
            if len(errors) < _ERRORS_AT_ONCE:
                return
            last = errors[-1].line, errors[-1].position


def _event(action: str, job: UserImport, actor_id: str | None, origin: Origin) -> AuditEvent:
    details = {"dryRun": str(job.dry_run).lower(), "onConflict": job.on_conflict}
    return AuditEvent(
        action,
        actor_id=actor_id,
        target_type="user-import",
        target_id=job.id,
        origin=origin,
        details=details,
    )
