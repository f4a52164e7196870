"""Stores: named storage backends behind circuit breakers, their checks and their contents."""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from threading import Lock
from time import perf_counter
from typing import Any, Final, NoReturn

from sqlalchemy import Connection, bindparam, func, select

from strongroom.clock import Clock
from strongroom.content.storage.models import BlobState, blobs, new_key
from strongroom.content.storage.ownership import StorageNotOwned, StorageOwnership, is_reserved
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.plugin_api.storage import (
    ByteSource,
    ByteStream,
    CapabilityT,
    ObjectLock,
    ObjectStat,
    ScopedWrites,
    StorageBackend,
    StorageError,
    StorageFull,
    StorageUnavailable,
)

_CONTENT = b"written by strongroom to try this storage out"


FAILURES_TO_OPEN: Final = 5
"""Consecutive failures after which the circuit opens."""

OPEN_MILLISECONDS: Final = 3000
"""How long an open circuit refuses all calls; after that, one call at a time probes the storage."""

FIRST_BYTES: Final = 64 * 1024
"""Bytes of an object that must be received before the download starts."""

_OF_STORAGE: Final = blobs.c.storage == bindparam("storage")

_IS_FILE: Final = blobs.c.state == BlobState.STORED.value

_SUMMARY: Final = Statement(
    select(
        func.count().filter(_IS_FILE),
        func.coalesce(func.sum(blobs.c.size).filter(_IS_FILE), 0),
        func.count(),
    ).where(_OF_STORAGE)
)

_NEXT_NAME: Final = Statement(
    select(func.min(blobs.c.storage)).where(blobs.c.storage > bindparam("name"))
)

_FILE: Final = Statement(select(blobs.c.key).where(_OF_STORAGE, _IS_FILE).limit(1))


def find_fault(storage: StorageBackend[Any]) -> str | None:
    """Return the fault of a storage as a phrase, or ``None``.

    Raises:
        StorageUnavailable: the storage is unavailable, which may be temporary.
        StorageFull: the storage is full, which may be temporary.
    """
    key = new_key()
    try:
        storage.put(key, BytesIO(_CONTENT), size=len(_CONTENT))
        try:
            with storage.open(key) as chunks:
                content = b"".join(chunks)
        finally:
            storage.delete(key)
    except (StorageUnavailable, StorageFull):
        raise
    except StorageError as error:
        return f"fails when an object is written, read and deleted: {error}"
    except Exception as error:
        # Drivers raise exceptions of their own, for example for an endpoint that is not a URL.
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return f"fails when an object is written, read and deleted: {reason}"
    return None if content == _CONTENT else "returns different bytes than were written"


class Circuit:
    """Passes calls to a storage while it responds, and refuses them while it is unavailable.

    Shared by the threads of a process; each process has its own.

    Args:
        name: the name of the storage, for messages.
    """

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._lock = Lock()
        self._failures = 0
        self._probe_at = 0
        self.observe: Callable[[bool], None] = lambda _is_open: None
        """Called with whether the circuit is open, each time that it opens or closes."""

    def guard(self) -> "_Guard":
        """Run the block, which calls the storage, unless the circuit is open.

        Only :class:`StorageUnavailable` counts as a failure. Any other :class:`StorageError` is a
        response of the storage and counts as a success. Other exceptions, such as a client that
        disconnects, count as neither.

        Raises:
            StorageUnavailable: the circuit is open; ``retry_after`` is the remaining time in seconds.
        """
        return _Guard(self)

    def failed(self) -> None:
        """Count a failure: the storage did not respond."""
        with self._lock:
            self._failures += 1
            if self._failures == FAILURES_TO_OPEN:
                self.observe(True)
            if self._failures >= FAILURES_TO_OPEN:
                self._probe_at = self._clock.now() + OPEN_MILLISECONDS

    def enter(self) -> None:
        """Begin a call.

        Raises:
            StorageUnavailable: as :meth:`guard`.
        """
        # A closed circuit needs no lock; a failure at the same moment is counted after this call.
        if self._failures < FAILURES_TO_OPEN:
            return
        with self._lock:
            if self._failures < FAILURES_TO_OPEN:
                return
            left = self._probe_at - self._clock.now()
            # The upper bound keeps a clock that was set back from holding the circuit open.
            if 0 < left <= OPEN_MILLISECONDS:
                message = f'the storage "{self._name}" is unavailable; it is retried in a few seconds'
                # Negating twice rounds up to whole seconds.
                raise StorageUnavailable(message, retry_after=-(-left // 1000))
            # This call probes the storage; the others are refused until it ends or takes too long.
            self._probe_at = self._clock.now() + OPEN_MILLISECONDS

    def leave(self, error: BaseException | None) -> None:
        """End a call, which may have raised an error; :meth:`guard` describes which ones count."""
        if isinstance(error, StorageUnavailable):
            self.failed()
        elif error is None or isinstance(error, StorageError):
            self.succeeded()

    def succeeded(self) -> None:
        """Count a response of the storage."""
        if self._failures == 0:
            return
        with self._lock:
            if self._failures >= FAILURES_TO_OPEN:
                self.observe(False)
            self._failures = 0


@dataclass(slots=True, eq=False, repr=False)
class _Guard:
    """The context manager of :meth:`Circuit.guard`. Not a generator, which costs as much as a read."""

    _circuit: Circuit

    def __enter__(self) -> None:
        self._circuit.enter()

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._circuit.leave(error)


StorageObserver = Callable[[str, str, float, BaseException | None], None]
"""Receives the name of a storage, the verb of a call such as ``put``, its duration, and its error."""


class _Call:
    """A call of a store, which its circuit guards."""

    __slots__ = ("_began", "_store", "_verb")

    def __init__(self, store: "Store", verb: str) -> None:
        self._store = store
        self._verb = verb
        self._began = 0.0

    def __enter__(self) -> None:
        self._store.circuit.enter()
        self._began = perf_counter()

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._store.circuit.leave(error)
        if (observe := self._store.observe) is not None:
            observe(self._store.name, self._verb, perf_counter() - self._began, error)


Backends = Mapping[str, StorageBackend[Any]]


class UnknownStorage(StorageError):
    """A row names a storage that is not configured."""


class ObjectLocked(StorageError):
    """The store keeps the object until a time, in milliseconds since the Unix epoch."""

    def __init__(self, until: int) -> None:
        super().__init__("the object is locked")
        self.until = until


class Store:
    """A named storage: calls its backend through a circuit breaker and verifies its owner.

    Args:
        backend: the backend; optional capabilities are used on it directly.
        ownership: verifies the owner before writes and deletions; ``None`` disables the verification.
    """

    def __init__(
        self,
        name: str,
        backend: StorageBackend[Any],
        clock: Clock,
        ownership: StorageOwnership | None = None,
    ) -> None:
        self.name = name
        self.backend = backend
        self.circuit = Circuit(name, clock)
        self.observe: StorageObserver | None = None
        """Called after each call of the backend."""
        self.is_full = False
        """Whether the last ``put`` failed because the storage was full."""
        self._ownership = ownership

    def ownership_fault(self, *, claim: bool = True) -> str | None:
        """Return why the database may not use the store, or ``None``; see :class:`StorageOwnership`.

        Args:
            claim: whether an unowned store is claimed.

        Raises:
            StorageError: the store cannot be used at all.
        """
        if self._ownership is None or self._ownership.is_verified(self.name):
            return None
        check = self._ownership.verify if claim else self._ownership.examine
        with _Call(self, "verify_owner"):
            return check(self.name, self.backend)

    def require_ownership(self) -> None:
        """Raise unless the database owns the store.

        Raises:
            StorageNotOwned: another database owns it, or it cannot be claimed.
            StorageError: the store cannot be used at all.
        """
        if fault := self.ownership_fault():
            raise StorageNotOwned(f'the storage "{self.name}" {fault}')

    def capability(self, kind: type[CapabilityT]) -> CapabilityT | None:
        """Return an optional capability, as :meth:`StorageBackend.capability`."""
        return self.backend.capability(kind)

    def put(
        self, key: str, source: ByteSource, *, size: int | None = None, scope: str | None = None
    ) -> int:
        """Store an object, as :meth:`StorageBackend.put`.

        Args:
            size: the number of bytes, if known in advance.
            scope: the id of the tenant that the object belongs to; stores without
                :class:`ScopedWrites` ignore it.
        """
        self.require_ownership()
        try:
            with _Call(self, "put"):
                scoped = self.capability(ScopedWrites) if scope else None
                if scope and scoped:
                    written = scoped.put_in(scope, key, source, size=size)
                else:
                    written = self.backend.put(key, source, size=size)
        except StorageFull:
            self.is_full = True
            raise
        self.is_full = False
        return written

    def open(self, key: str, *, start: int = 0, length: int | None = None) -> ByteStream:
        """Open an object, as :meth:`StorageBackend.open`.

        Entering the context reads the first :data:`FIRST_BYTES`, so that early failures are raised
        there, before a response has started.
        """
        return _Reader(self, key, start, length)

    def stat(self, key: str) -> ObjectStat:
        """Return the size and time of an object, as :meth:`StorageBackend.stat`."""
        with _Call(self, "stat"):
            return self.backend.stat(key)

    def delete(self, key: str) -> None:
        """Delete an object, as :meth:`StorageBackend.delete`.

        Raises:
            ObjectLocked: the store locks it.
        """
        self.require_ownership()
        if until := self._locked_until(key):
            raise ObjectLocked(until)
        with _Call(self, "delete"):
            self.backend.delete(key)

    def _locked_until(self, key: str) -> int | None:
        lock = self.capability(ObjectLock)
        if lock is None:
            return None
        with _Call(self, "stat"):
            return lock.locked_until(key)

    def drop_scope(self, scope: str) -> None:
        """Make the objects of a tenant unreadable, if the store has :class:`ScopedWrites`."""
        if scoped := self.capability(ScopedWrites):
            self.require_ownership()
            with _Call(self, "drop_scope"):
                scoped.drop_scope(scope)

    def scan(self, prefix: str = "") -> Iterator[ObjectStat]:
        """Iterate over objects, as :meth:`StorageBackend.scan`, without objects of reserved keys."""
        return (item for item in self.backend.scan(prefix) if not is_reserved(item.key))


class _Reader:
    """An open object. A class and not a generator, because a bundle opens thousands of objects."""

    def __init__(self, store: Store, key: str, start: int, length: int | None) -> None:
        self._circuit = store.circuit
        self._call = _Call(store, "open")
        self._open = partial(store.backend.open, key, start=start, length=length)
        self._length = sys.maxsize if length is None else length

    def __enter__(self) -> Iterator[bytes]:
        with self._call:
            self._stream = self._open()
            chunks = iter(self._stream.__enter__())
            try:
                pieces = _begin(chunks, min(FIRST_BYTES, self._length))
            except BaseException:
                # __exit__ is not called when __enter__ raises, so close the stream here.
                self._stream.__exit__(*sys.exc_info())
                raise
        # A completely read object cannot fail any more.
        is_whole = sum(map(len, pieces)) >= self._length
        return iter(pieces) if is_whole else self._watched(pieces, chunks)

    def __exit__(self, *raised: Any) -> None:
        self._stream.__exit__(*raised)

    def _watched(self, begun: list[bytes], chunks: Iterator[bytes]) -> Iterator[bytes]:
        yield from begun
        # The guard ended with __enter__, so later failures are reported to the circuit here.
        try:
            yield from chunks
        except StorageUnavailable:
            self._circuit.failed()
            raise


def _begin(chunks: Iterator[bytes], size: int) -> list[bytes]:
    """Return the first chunks, with at least ``size`` bytes unless the object is shorter."""
    pieces: list[bytes] = []
    while sum(map(len, pieces)) < size and (chunk := next(chunks, b"")):
        pieces.append(chunk)
    return pieces


class Stores(dict[str, Store]):
    """The configured storages by name.

    Args:
        ownership: verifies the owner of each storage.
    """

    def __init__(
        self, backends: Backends, clock: Clock, ownership: StorageOwnership | None = None
    ) -> None:
        stores = (Store(name, backend, clock, ownership) for name, backend in backends.items())
        super().__init__({store.name: store for store in stores})

    def __missing__(self, name: str) -> NoReturn:
        raise UnknownStorage(f"there is no [storages.{name}] in the configuration")


@dataclass(frozen=True, slots=True)
class Holding:
    """The content of a storage according to the rows.

    Args:
        is_configured: whether the configuration names it.
        size: their total size in bytes.
        leftovers: the number of pending and discarded blobs.
    """

    storage: str
    is_configured: bool
    files: int
    size: int
    leftovers: int


@dataclass(slots=True, eq=False, repr=False)
class Inventory:
    """Summarizes the rows of blobs per storage."""

    _database: Database
    _storages: Stores

    def holdings(self) -> list[Holding]:
        """Return the content of each storage that is configured or named by a row."""
        with self._database.read() as connection:
            names = {*self._storages, *_names(connection)}
            return [self._holding(connection, name) for name in sorted(names)]

    def lost(self) -> list[str]:
        """Return the storages with files that are not configured; costs a few index look-ups."""
        with self._database.read() as connection:
            missing = [name for name in _names(connection) if name not in self._storages]
            return [name for name in missing if _has_files(connection, name)]

    def _holding(self, connection: Connection, name: str) -> Holding:
        ((files, size, blob_count),) = _SUMMARY.all(connection, {"storage": name})
        return Holding(name, name in self._storages, files, int(size), blob_count - files)


def _names(connection: Connection) -> Iterator[str]:
    """Yield the distinct storage names of all rows.

    Each name costs one index look-up (a loose index scan); SELECT DISTINCT would read every row.
    """
    name = _NEXT_NAME.scalar(connection, {"name": ""})
    while name is not None:
        yield name
        name = _NEXT_NAME.scalar(connection, {"name": name})


def _has_files(connection: Connection, name: str) -> bool:
    return _FILE.scalar(connection, {"storage": name}) is not None
