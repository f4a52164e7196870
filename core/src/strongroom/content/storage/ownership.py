"""The owner of a store: the one database whose rows name its objects.

The owner marker, an object under a reserved key, holds the id of that database. Without it, two
databases could share a store, for example production's and the one that a backup was restored into,
and each would remove the other's files as debris.

Any backend can hold the marker, because it needs ``put``, ``open``, ``scan`` and ``delete`` only. None
of these creates an object atomically, so claimants announce themselves first: see
:meth:`StorageOwnership._elect`.
"""

import json
import logging
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from io import BytesIO
from itertools import islice
from threading import Lock
from typing import Any, Final

from sqlalchemy import bindparam, select

from strongroom.clock import Clock, iso_format
from strongroom.content.storage.models import BlobState, blobs, is_key
from strongroom.foundation.database import Database
from strongroom.foundation.database.installation import database_id, restored_at
from strongroom.foundation.database.statements import Statement
from strongroom.plugin_api.storage import (
    ObjectNotFound,
    ObjectStat,
    StorageBackend,
    StorageError,
    StorageFull,
    StorageUnavailable,
)
from strongroom.version import __version__

logger = logging.getLogger(__name__)

OWNER_KEY: Final = "00/00/" + 31 * "0" + "1"
"""The key of the owner marker. Blob keys never have this form, so older versions do not delete it."""

FRESH: Final = 60_000
"""Milliseconds for which a verified owner is cached; a changed owner is noticed after that time."""

_CANDIDATES: Final = "00/01/"

WRAPPED: Final = "00/02/"
"""The prefix of the objects of wrappers, which belong to other storages of the configuration."""

_NAME_EMPTY: Final = "name an empty store, or the database that the files belong to"

_MAX_MARKER_BYTES: Final = 4096
_SAMPLE: Final = 5
_LISTED: Final = 1000

_OF_STORAGE: Final = blobs.c.storage == bindparam("storage")
_SOME_FILES: Final = Statement(
    select(blobs.c.object_key)
    .where(_OF_STORAGE, blobs.c.state == BlobState.STORED.value)
    .order_by(blobs.c.key)
    .limit(_SAMPLE)
)
_KNOWN: Final = Statement(
    select(blobs.c.key)
    .where(_OF_STORAGE, blobs.c.object_key.in_(bindparam("object_keys", expanding=True)))
    .limit(1)
)
_POLL_SECONDS: Final = 0.1
_POLLS: Final = 50
_UNREADABLE: Final = "unreadable"

Backend = StorageBackend[Any]


class StorageNotOwned(StorageUnavailable):
    """The store belongs to another database, so writing and deleting are refused."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retry_after=30)


@dataclass(frozen=True, slots=True)
class Owner:
    """The content of an owner marker.

    Args:
        storage: the name of the storage there.
        claimed_at: the time of the claim, in ISO 8601.
        claimed_by: the program and the host name.
    """

    database: str
    storage: str
    claimed_at: str
    claimed_by: str


def is_reserved(key: str) -> bool:
    """Return whether a key is of the owner marker, of its election, or of a wrapper's object."""
    return key == OWNER_KEY or key.startswith((_CANDIDATES, WRAPPED))


def read_owner(backend: Backend) -> Owner | None:
    """Return the owner of a store, or ``None`` if it has no marker.

    Raises:
        StorageError: the marker cannot be read.
    """
    try:
        # Bounded, because another program may have stored a large object under this key.
        with backend.open(OWNER_KEY, length=_MAX_MARKER_BYTES) as chunks:
            content = b"".join(chunks)
    except ObjectNotFound:
        return None
    try:
        return Owner(**json.loads(content))
    except (ValueError, TypeError):
        # Treated as the marker of another database: refusing is safe, and an operator can claim the
        # store.
        return Owner(_UNREADABLE, "", "at an unknown time", "an unknown program")


def reason_not_to_start_with(backend: Backend) -> str | None:
    """Return why a database whose schema does not exist yet may not use a store, or ``None``.

    Raises:
        StorageError: the store cannot be used at all.
    """
    if owner := read_owner(backend):
        return f"belongs to the database {owner.database} since {owner.claimed_at}; {_NAME_EMPTY}"
    if any(is_key(item.key) for item in islice(backend.scan(), _LISTED)):
        return f"holds files, and the database of this configuration is new; {_NAME_EMPTY}"
    return None


class StorageOwnership:
    """Verifies and claims stores for one database.

    Args:
        sleep: waits for a number of seconds while other processes claim the same store.
    """

    def __init__(
        self, database: Database, clock: Clock, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._database = database
        self._clock = clock
        self._sleep = sleep
        self._verified: dict[str, int] = {}
        self._claiming = Lock()

    def is_verified(self, name: str) -> bool:
        """Return whether the store was verified to be the database's less than :data:`FRESH` ago."""
        verified_at = self._verified.get(name)
        # A negative age means that the clock was set back; verify again.
        return verified_at is not None and 0 <= self._clock.now() - verified_at < FRESH

    def verify(self, name: str, backend: Backend) -> str | None:
        """Return why the database may not use a store, or ``None``. An unowned store is claimed.

        Raises:
            StorageError: the store cannot be used at all.
            Unavailable: the database does not respond.
        """
        owner = read_owner(backend)
        if owner is None:
            if fault := self._reason_not_to_claim(name, backend):
                return fault
            try:
                owner = self._claim(backend, self._own(name))
            except StorageFull:
                # The marker does not fit, but no other database owns the store. Allow deletions, since
                # they make room; the next call tries to claim it again.
                return None
        fault = self._difference(owner, name)
        # Only success is cached, so that a store is usable immediately after a fault was corrected.
        if fault is None:
            self._verified[name] = self._clock.now()
        return fault

    def examine(self, name: str, backend: Backend) -> str | None:
        """Return the result of :meth:`verify` without claiming the store."""
        owner = read_owner(backend)
        return self._difference(owner, name) if owner else self._reason_not_to_claim(name, backend)

    def take(self, name: str, backend: Backend) -> Owner:
        """Make the database the owner of a store, replacing any other owner; return the new marker.

        Raises:
            StorageError: the marker cannot be written.
        """
        owner = self._own(name)
        _put_marker(backend, owner)
        self._verified[name] = self._clock.now()
        return owner

    def _own(self, name: str) -> Owner:
        program = f"strongroom {__version__} on {socket.gethostname()}"
        return Owner(database_id(self._database), name, iso_format(self._clock.now()), program)

    def _difference(self, owner: Owner, name: str) -> str | None:
        mine = database_id(self._database)
        if owner.database != mine:
            return (
                f"belongs to the database {owner.database} since {owner.claimed_at}, not to this one, "
                f"{mine}; give this database a bucket, prefix or folder of its own, or, if the other "
                f"is gone for good, run: strongroom rescue claim-storage {name} --from {owner.database}"
            )
        if owner.storage != name:
            return (
                f"is the store of [storages.{owner.storage}] of this database; give each storage a "
                "bucket, prefix or folder of its own, or, if the section was renamed, run: strongroom "
                f"rescue claim-storage {name} --from {owner.database}"
            )
        return None

    def _reason_not_to_claim(self, name: str, backend: Backend) -> str | None:
        remedy = f"if it is the right one, run: strongroom rescue claim-storage {name}"
        # The database has files here: the store must have some of them. A restored database is not
        # trusted with it, because the database that was backed up may still use the same store.
        if sample := self._sample(name):
            if not any(_is_there(backend, key) for key in sample):
                return (
                    f"holds none of the files that the database has there ({len(sample)} were "
                    f"checked); name the store that holds them, or, {remedy}"
                )
            if self._is_restored():
                return (
                    "holds files, has no owner marker, and the database was restored from a backup; "
                    f"for a drill, name a copy of the store; {remedy}"
                )
            return None
        if self._has_files_of_others(name, backend):
            return f"holds files that this database does not know; name an empty one, or, {remedy}"
        return None

    def _sample(self, name: str) -> Sequence[str]:
        """Return the keys of some files. Keys are random, so the first ones are a mix of ages."""
        with self._database.read() as connection:
            return _SOME_FILES.scalars(connection, {"storage": name})

    def _has_files_of_others(self, name: str, backend: Backend) -> bool:
        # The first keys are enough: the store of another database has none of the keys of this one.
        keys = [item.key for item in islice(backend.scan(), _LISTED) if is_key(item.key)]
        with self._database.read() as connection:
            return bool(keys) and not _KNOWN.all(connection, {"storage": name, "object_keys": keys})

    def _is_restored(self) -> bool:
        with self._database.read() as connection:
            return restored_at(connection) is not None

    def _claim(self, backend: Backend, owner: Owner) -> Owner:
        # The lock serializes the threads of this process; the election resolves other processes.
        with self._claiming:
            return read_owner(backend) or self._elect(backend, owner)

    def _elect(self, backend: Backend, claimant: Owner) -> Owner:
        """Write the marker and return the owner that all concurrent claimants agree on.

        A ``put`` replaces an object, so the last write wins, and the marker is not reliable before that
        write. Each claimant creates a candidate object before it reads the marker, and deletes the
        candidate after it wrote the marker. When no candidates are left, the marker is final, because
        every later claimant finds a marker and does not write.
        """
        candidate = f"{_CANDIDATES}{secrets.token_hex(16)}"
        _put(backend, candidate, claimant)
        try:
            if read_owner(backend) is None:
                # A backend may refuse concurrent writes of one key; then the other write is the marker.
                with suppress(StorageError):
                    _put(backend, OWNER_KEY, claimant)
        finally:
            backend.delete(candidate)
        self._await_candidates(backend)
        if (owner := read_owner(backend)) is None:
            _put_marker(backend, claimant)
        return owner or claimant

    def _await_candidates(self, backend: Backend) -> None:
        for _ in range(_POLLS):
            if not (candidates := _candidates(backend)):
                return
            self._sleep(_POLL_SECONDS)
        # A claimant that crashed leaves its candidate behind, which would block every later claim.
        for item in candidates:
            logger.warning(
                "Deleting %s, left by a process that did not finish claiming a store", item.key
            )
            backend.delete(item.key)


def _candidates(backend: Backend) -> list[ObjectStat]:
    return list(backend.scan(_CANDIDATES))


def _put(backend: Backend, key: str, owner: Owner) -> None:
    content = json.dumps(asdict(owner)).encode()
    backend.put(key, BytesIO(content), size=len(content))


def _put_marker(backend: Backend, owner: Owner) -> None:
    try:
        _put(backend, OWNER_KEY, owner)
    except StorageFull:
        raise
    except StorageError:
        # A crash may have left a partial object that blocks the write on some backends.
        backend.delete(OWNER_KEY)
        _put(backend, OWNER_KEY, owner)


def _is_there(backend: Backend, key: str) -> bool:
    try:
        backend.stat(key)
    except ObjectNotFound:
        return False
    return True
