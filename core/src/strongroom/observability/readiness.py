"""Readiness: runs the probes of all parts concurrently, with a timeout."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import field
from threading import Lock
from typing import Final, Protocol

from limits.storage import Storage
from sqlalchemy import Connection, func, literal, select, text
from sqlalchemy.exc import SQLAlchemyError

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.database.statements import Statement
from strongroom.database.upgrade import read_schema
from strongroom.dataclasses import dataclass
from strongroom.errors import StorageFull, StrongroomError, Unavailable
from strongroom.observability.bounded_calls import PATIENCE_SECONDS, BoundedCalls
from strongroom.plugin_api.storage import ObjectNotFound, ObjectStat, StorageError

FRESH: Final = 1000
"""Milliseconds for which a report is cached, so that frequent health checks are cheap."""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark about a part that works. It is public, so it must not contain secrets."""

    text: str


Probe = Callable[[], str | Note | None]
"""Returns the fault of a part, or ``None``. The text is public, so it must not contain secrets."""


@dataclass(frozen=True, slots=True)
class ReadinessReport:
    """The state of all parts.

    Args:
        parts: the fault of each part by its name; ``None`` if there is none.
        notes: remarks about parts that work, by name.
    """

    parts: Mapping[str, str | None]
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        """Whether no part has a fault."""
        return not any(self.parts.values())


_ONE: Final = Statement(select(literal(1)))
_SMALL_MEMORY: Final = Statement(text("SET LOCAL work_mem = '64kB'"))
_COUNT_SERIES: Final = Statement(select(func.count()).select_from(func.generate_series(1, 20_000)))


class Readiness:
    """Runs the probes of all parts concurrently, and caches the report.

    Args:
        probes: the probes by the name of their part.
        patience: the timeout of the probes in seconds.
    """

    def __init__(
        self, probes: Mapping[str, Probe], clock: Clock, *, patience: float = PATIENCE_SECONDS
    ) -> None:
        self._clock = clock
        self._probes = BoundedCalls(probes, patience, "readiness")
        self._lock = Lock()
        self._last: tuple[int, ReadinessReport] | None = None

    def report(self) -> ReadinessReport:
        """Return the current report; it is at most ``FRESH`` milliseconds old."""
        with self._lock:
            now = self._clock.now()
            # If the clock was set back, the cached report counts as expired.
            if self._last is None or not 0 <= now - self._last[0] < FRESH:
                self._last = (now, self._run_probes())
            return self._last[1]

    def close(self) -> None:
        """Stop the threads, without waiting for probes that hang."""
        self._probes.close()

    def _run_probes(self) -> ReadinessReport:
        parts = {name: _outcome(call) for name, call in self._probes.results().items()}
        return ReadinessReport(
            {name: _fault(part) for name, part in parts.items()},
            {name: part.text for name, part in parts.items() if isinstance(part, Note)},
        )


def _fault(outcome: str | Note | None) -> str | None:
    return None if isinstance(outcome, Note) else outcome


def _outcome(future: "Future[str | Note | None] | None") -> str | Note | None:
    if future is None:
        return AWAY
    # Only the class of an unexpected error is reported, because its text may contain secrets.
    error = future.exception()
    return future.result() if error is None else f"It failed: {type(error).__name__}."


ABSENT_KEY: Final = "00/00/" + 32 * "0"
"""The key that probes look up; generated keys practically never equal it."""

AWAY: Final = "It does not answer."
DISK_FULL: Final = "Its disk is full."

FULL: Final = Note("It is full: uploads are refused.")

NOT_OWNED: Final = "It belongs to another database, or is not the original store; see the doctor."


class ProbedStore(Protocol):
    """The interface of a storage that the probes use."""

    @property
    def is_full(self) -> bool:
        """Whether the last write was refused because the store is full."""

    def stat(self, key: str) -> ObjectStat:
        """Return the metadata of an object."""

    def ownership_fault(self, *, claim: bool) -> str | None:
        """Return why the database may not use the store, or ``None``."""


def probes(
    database: Database, limits_store: Storage, storages: Mapping[str, ProbedStore]
) -> dict[str, Probe]:
    """Return the probes by the names of their parts."""
    return {
        "database": lambda: database_fault(database),
        "schema": lambda: _schema(database),
        "limits": lambda: None if limits_store.check() else AWAY,
        **{f"storages.{name}": _storage(store) for name, store in storages.items()},
    }


def database_fault(database: Database) -> str | None:
    """Return the fault of the database (unavailable, or its disk is full), or ``None``."""
    try:
        # A transaction, because the change of work_mem ends with it.
        with database.snapshot() as connection:
            _ONE.execute(connection)
            if connection.dialect.name == "postgresql":
                _write_temporary_file(connection)
    except StorageFull:
        return DISK_FULL
    except StrongroomError:
        return AWAY
    return None


def _write_temporary_file(connection: Connection) -> None:
    """Make PostgreSQL write a temporary file of about 500 kB, which it deletes immediately.

    Reads succeed on a full disk, so only a write detects it. The low ``work_mem`` makes the function
    scan spill to disk.
    """
    _SMALL_MEMORY.execute(connection)
    _COUNT_SERIES.execute(connection)


def _schema(database: Database) -> str | Note | None:
    schema = read_schema(database.engine)
    if not schema.is_served:
        return f"It is {schema}; {schema.remedy}"
    return Note(f"It is {schema}, and compatible.") if schema.is_newer else None


def _storage(store: ProbedStore) -> Probe:
    def probe() -> str | Note | None:
        try:
            store.stat(ABSENT_KEY)
        except ObjectNotFound:
            pass
        except StorageError:
            return AWAY
        return _ownership(store) or (FULL if store.is_full else None)

    return probe


def _ownership(store: ProbedStore) -> str | None:
    try:
        return NOT_OWNED if store.ownership_fault(claim=False) else None
    except StorageError:
        return AWAY
    except (Unavailable, SQLAlchemyError, OSError):
        # The database is unavailable; its own probe reports that.
        return None
