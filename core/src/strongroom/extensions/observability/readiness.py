"""Readiness: runs the probes of all parts concurrently, with a timeout.

An instance is ready unless a part of its own has a fault: another instance could serve its requests. A
part that all instances share fails for all of them, so its fault is only a note. Requests that need the
part are refused, and all others are served.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final, Protocol

from limits.storage import Storage
from sqlalchemy import Connection, func, literal, select, text
from sqlalchemy.exc import SQLAlchemyError

from strongroom.clock import Clock
from strongroom.extensions.observability.bounded_calls import PATIENCE_SECONDS, BoundedCalls
from strongroom.foundation.database import Database
from strongroom.foundation.database.failures import is_read_only
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.upgrade import read_schema
from strongroom.foundation.errors import StorageFull, StrongroomError, Unavailable
from strongroom.foundation.limits.backends import storage_fault
from strongroom.plugin_api.storage import LocalPaths, ObjectNotFound, ObjectStat, StorageError

SHARED_PATIENCE_SECONDS: Final = 1.0

FRESH: Final = 1000
"""Milliseconds for which a report is cached, so that frequent health checks are cheap."""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark about a part that works. It is public, so it must not contain secrets."""

    text: str


@dataclass(frozen=True, slots=True)
class OwnFault:
    """A fault of this instance that the probe of a shared part has seen."""

    text: str


Outcome = str | Note | OwnFault | None
"""The fault of a part, a remark, or ``None``. The texts are public."""

Probe = Callable[[], Outcome]
"""Examines a part."""


@dataclass(frozen=True, slots=True)
class Probes:
    """The probes by the names of their parts.

    Args:
        own: the probes of parts that only this instance has.
        shared: the probes of parts that all instances share.
    """

    own: Mapping[str, Probe] = field(default_factory=dict)
    shared: Mapping[str, Probe] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadinessReport:
    """The state of all parts.

    Args:
        parts: the fault of each part by its name; ``None`` if there is none.
        faults: the faults of this instance by the names of the parts.
        notes: remarks about parts that work, and the faults of shared parts, by name.
    """

    parts: Mapping[str, str | None]
    faults: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        """Whether this instance has no fault."""
        return not self.faults


_ONE: Final = Statement(select(literal(1)))
_IN_RECOVERY: Final = Statement(select(func.pg_is_in_recovery()))
# The state of a standby is NULL without the role pg_read_all_stats; then each connected one counts.
_LACKS_STANDBY: Final = Statement(
    text(
        "SELECT current_setting('synchronous_standby_names') <> '' AND ("
        "SELECT count(*) FROM pg_stat_replication "
        "WHERE coalesce(sync_state, 'sync') IN ('sync', 'quorum')"
        ") < coalesce(substring(current_setting('synchronous_standby_names') "
        "FROM '([0-9]+) *[(]')::int, 1)"
    )
)
_SMALL_MEMORY: Final = Statement(text("SET LOCAL work_mem = '64kB'"))
_COUNT_SERIES: Final = Statement(select(func.count()).select_from(func.generate_series(1, 20_000)))


class Readiness:
    """Runs the probes of all parts concurrently, and caches the report.

    Args:
        patience: the timeout of the probes of own parts in seconds.
        shared_patience: the timeout for shared parts. It is shorter than a load balancer waits
            for its health check.
    """

    def __init__(
        self,
        probes: Probes,
        clock: Clock,
        *,
        patience: float = PATIENCE_SECONDS,
        shared_patience: float = SHARED_PATIENCE_SECONDS,
    ) -> None:
        self._clock = clock
        self._own = BoundedCalls(probes.own, patience, "readiness")
        self._shared = BoundedCalls(probes.shared, shared_patience, "readiness-shared")
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
        self._own.close()
        self._shared.close()

    def _run_probes(self) -> ReadinessReport:
        own, shared = _outcomes(self._own), _outcomes(self._shared)
        outcomes = {**own, **shared}
        parts = {name: _fault(outcome) for name, outcome in outcomes.items()}
        faults, notes = dict[str, str](), dict[str, str]()
        for name, outcome in outcomes.items():
            if isinstance(outcome, Note):
                notes[name] = outcome.text
            elif fault := parts[name]:
                is_own = name in own or isinstance(outcome, OwnFault)
                (faults if is_own else notes)[name] = fault
        return ReadinessReport(parts, faults, notes)


def _outcomes(calls: BoundedCalls[Outcome]) -> dict[str, Outcome]:
    return {name: _outcome(call) for name, call in calls.results().items()}


def _outcome(future: "Future[Outcome] | None") -> Outcome:
    if future is None:
        return AWAY
    # Only the class of an unexpected error is reported, because its text may contain secrets.
    error = future.exception()
    return future.result() if error is None else f"It failed: {type(error).__name__}."


def _fault(outcome: Outcome) -> str | None:
    if isinstance(outcome, OwnFault):
        return outcome.text
    return None if isinstance(outcome, Note) else outcome


ABSENT_KEY: Final = "00/00/" + 32 * "0"
"""The key that probes look up; generated keys practically never equal it."""

AWAY: Final = "It does not answer."
DISK_FULL: Final = "Its disk is full."
IN_RECOVERY: Final = "It is in recovery: a standby, which refuses writes."
NO_ACCESS: Final = "Its folder cannot be read and written."

_PRIMARY_ANSWERS: Final = "The primary answers its reads."

STANDBY_UNAVAILABLE: Final = Note("A synchronous standby is unavailable: writes wait for it.")

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

    def capability(self, kind: type[LocalPaths]) -> LocalPaths | None:
        """Return the object that implements a capability, or ``None``."""


def probes(
    data_dir: Path, database: Database, limits_store: Storage, storages: Mapping[str, ProbedStore]
) -> Probes:
    """Return the probes of an instance.

    A database in a file and a storage in a folder are on the disk of the instance. A folder may also be
    a network share; then the fault of one instance is its mount's.
    """
    own: dict[str, Probe] = {"disk": lambda: _disk(data_dir)}
    shared: dict[str, Probe] = {"schema": lambda: _schema(database)}
    is_file = database.engine.dialect.name == "sqlite"
    (own if is_file else shared)["database"] = lambda: _database(database)
    if database.replica is not None:
        shared["replica"] = lambda: _replica(database)
    shared["limits"] = lambda: storage_fault(limits_store)
    for name, store in storages.items():
        is_local = store.capability(LocalPaths) is not None
        (own if is_local else shared)[f"storages.{name}"] = _storage(store)
    return Probes(own, shared)


def _disk(folder: Path) -> str | None:
    return None if os.access(folder, os.R_OK | os.W_OK | os.X_OK) else NO_ACCESS


def _database(database: Database) -> Outcome:
    return database_fault(database) or (STANDBY_UNAVAILABLE if _lacks_standby(database) else None)


def _replica(database: Database) -> Outcome:
    try:
        state = database.examine_replica()
    except SQLAlchemyError:
        return f"{AWAY} {_PRIMARY_ANSWERS}"
    except StrongroomError:
        # The primary is unavailable; its own probe reports that.
        return None
    if state is None or database.replica is None:
        return None
    if state.fault is not None:
        return f"It {state.fault}. {_PRIMARY_ANSWERS}"
    if state.age > database.replica.max_age:
        return f"It is {state.age:.0f} s behind. {_PRIMARY_ANSWERS}"
    return None


def _lacks_standby(database: Database) -> bool:
    """Return whether commits wait for a synchronous standby that is not connected."""
    if database.engine.dialect.name != "postgresql":
        return False
    try:
        with database.read() as connection:
            return bool(_LACKS_STANDBY.scalar(connection))
    except StrongroomError:
        return False


def database_fault(database: Database) -> str | None:
    """Return the fault of the database (unavailable, a standby, or its disk is full), or ``None``."""
    try:
        # A transaction, because the change of work_mem ends with it.
        with database.snapshot() as connection:
            if connection.dialect.name != "postgresql":
                _ONE.execute(connection)
            # A pooler may have connected to another server since.
            elif _IN_RECOVERY.scalar(connection):
                return IN_RECOVERY
            else:
                _write_temporary_file(connection)
    except StorageFull:
        return DISK_FULL
    except StrongroomError as error:
        return IN_RECOVERY if is_read_only(error.__cause__) else AWAY
    return None


def _write_temporary_file(connection: Connection) -> None:
    """Make PostgreSQL write a temporary file of about 500 kB, which it deletes immediately.

    Reads succeed on a full disk, so only a write detects it. The low ``work_mem`` makes the function
    scan spill to disk.
    """
    _SMALL_MEMORY.execute(connection)
    _COUNT_SERIES.execute(connection)


def _schema(database: Database) -> Outcome:
    schema = read_schema(database.engine)
    if not schema.is_served:
        return OwnFault(f"It is {schema}; {schema.remedy}")
    return Note(f"It is {schema}, and compatible.") if schema.is_newer else None


def _storage(store: ProbedStore) -> Probe:
    def probe() -> Outcome:
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
