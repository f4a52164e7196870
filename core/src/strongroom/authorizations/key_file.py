"""The key file of access tokens. Servers reload it when it changes; operators rotate its keys."""

import fcntl
import logging
import os
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Final

from strongroom.authorizations.keys import (
    Key,
    KeyRing,
    KeyRingError,
    created_at,
    dump_keys,
    generate_key,
    load_keys,
)
from strongroom.secret_keys import create_private_file

logger = logging.getLogger(__name__)

MARGIN: Final = 5 * 60 * 1000
"""Milliseconds allowed for distributing a new file to all machines, and for clock skew."""

Version = tuple[int, int, int]


class KeyFile:
    """The key ring in a file, reloaded when the file changes.

    Each use calls stat(), which costs microseconds, and reads the file only if it has changed. So a
    token that another node signed with a new key is accepted immediately, a removed key is rejected
    immediately, and a flood of tokens with unknown keys causes no reads.

    Args:
        path: the file.
        algorithm: the algorithm of all its keys, ``HS256`` or ``RS256``.

    Raises:
        KeyRingError: the file cannot be used.
    """

    def __init__(self, path: Path, algorithm: str) -> None:
        self._path = path
        self._algorithm = algorithm
        self._lock = threading.Lock()
        self._version = _version(path)
        self._ring = load_keys(path, algorithm)

    def ring(self) -> KeyRing:
        """Return the current keys, or the last valid ones while the file cannot be used."""
        if _version(self._path) != self._version:
            self._reload()
        return self._ring

    def _reload(self) -> None:
        with self._lock:
            # Taken before reading: if the file is replaced during the read, the next use reloads again.
            version = _version(self._path)
            if version == self._version:
                return
            try:
                self._ring = load_keys(self._path, self._algorithm)
            except KeyRingError as error:
                logger.error("Key file unusable; still using the old keys: %s", error)  # noqa: TRY400
            self._version = version


def create_key_file(path: Path, algorithm: str, now: int) -> None:
    """Create a key file with one key if it does not exist. ``now``: milliseconds since the epoch."""
    if not path.exists():
        create_private_file(path, dump_keys([generate_key(algorithm, now)]))


def rotate(path: Path, algorithm: str, now: int) -> Sequence[Key]:
    """Insert a new signing key at the start of a file, and return all keys. Creates a missing file.

    Raises:
        KeyRingError: the file cannot be used.
        OSError: it cannot be written.
    """
    key = generate_key(algorithm, now)
    # A missing file is created with the new key, which is then found below.
    create_private_file(path, dump_keys([key]))
    with _locked(path.resolve().parent):
        ring = load_keys(path, algorithm)
        if ring.find(str(key.kid)) is not None:
            return ring.keys
        _replace(path.resolve(), dump_keys([key, *ring.keys]))
    return (key, *ring.keys)


def prune(path: Path, algorithm: str, now: int, lifetime: int) -> Sequence[Key]:
    """Remove the keys whose last tokens have expired, and return them.

    A key signs until its successor, the key before it in the file, is created. So it is needed until
    ``lifetime`` and :data:`MARGIN` after that. A key is kept if its successor has no creation time.

    Args:
        path: the file.
        algorithm: the algorithm of its keys.
        now: milliseconds since the Unix epoch.
        lifetime: lifetime of access tokens in milliseconds.

    Raises:
        KeyRingError: the file cannot be used.
        OSError: it cannot be written.
    """
    with _locked(path.resolve().parent):
        keys = load_keys(path, algorithm).keys
        kept = [keys[0]]
        for successor, key in pairwise(keys):
            replaced_at = created_at(successor)
            if replaced_at is None or now < replaced_at * 1000 + lifetime + MARGIN:
                kept.append(key)
        if len(kept) < len(keys):
            _replace(path.resolve(), dump_keys(kept))
    return [key for key in keys if key not in kept]


def _version(path: Path) -> Version | None:
    try:
        found = path.stat()
    except OSError:
        return None
    # A replaced file has a new inode, even if its time and size are the same.
    return found.st_ino, found.st_mtime_ns, found.st_size


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the folder of the key file, and sync it at the end so that a rename is durable.

    Without the lock, one of two concurrent rotations would lose its new key.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(path: Path, content: str) -> None:
    """Replace a file atomically by one that only its owner can read."""
    # In the same folder, because rename() is atomic only within a filesystem.
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            # Keep the owner: the server must be able to read it even if another user rotates.
            os.fchown(descriptor, path.stat().st_uid, path.stat().st_gid)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
