"""The file that keeps the keys of access tokens: followed by servers, rotated by operators."""

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
"""Milliseconds for a new file to reach every machine, and for clocks to differ."""

Version = tuple[int, int, int]


class KeyFile:
    """The key ring of a file, as the file is now.

    Each use asks the file system whether the file has changed, which costs microseconds, and reads it
    only if it has. So a token that another node signed with a new key is good here at once, a key
    that was taken out is void at once, and a flood of tokens with unknown keys reads nothing.

    Args:
        path: the file.
        algorithm: ``HS256`` or ``RS256``, of all its keys.

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
        """Return the keys; those of before while the file cannot be used."""
        if _version(self._path) != self._version:
            self._reload()
        return self._ring

    def _reload(self) -> None:
        with self._lock:
            # Before it is read: a file that is replaced meanwhile differs again at the next use.
            version = _version(self._path)
            if version == self._version:
                return
            try:
                self._ring = load_keys(self._path, self._algorithm)
            except KeyRingError as error:
                logger.error("The signing keys are kept as they were: %s", error)  # noqa: TRY400  a line
            self._version = version


def create_key_file(path: Path, algorithm: str, now: int) -> None:
    """Make a key file with one key, unless there is one; ``now`` is in milliseconds."""
    if not path.exists():
        create_private_file(path, dump_keys([generate_key(algorithm, now)]))


def rotate(path: Path, algorithm: str, now: int) -> Sequence[Key]:
    """Put a new key before those of a file, and return them all; a file that is missing is made.

    Raises:
        KeyRingError: the file cannot be used.
        OSError: it cannot be written.
    """
    key = generate_key(algorithm, now)
    create_private_file(path, dump_keys([key]))
    with _alone_in(path.resolve().parent):
        ring = load_keys(path, algorithm)
        if ring.find(str(key.kid)) is not None:
            return ring.keys
        _replace(path.resolve(), dump_keys([key, *ring.keys]))
    return (key, *ring.keys)


def prune(path: Path, algorithm: str, now: int, lifetime: int) -> Sequence[Key]:
    """Take out of a file, and return, the keys whose last tokens have expired.

    A key signs until the one before it in the file is made. So it is needed until a token's
    ``lifetime`` and a :data:`MARGIN` after that; one replaced nobody knows when is kept.

    Args:
        path: the file.
        algorithm: of its keys.
        now: in milliseconds since the Unix epoch.
        lifetime: of access tokens, in milliseconds.

    Raises:
        KeyRingError: the file cannot be used.
        OSError: it cannot be written.
    """
    with _alone_in(path.resolve().parent):
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
    return found.st_ino, found.st_mtime_ns, found.st_size


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep out others who rotate, of whom one's new key would be lost; what is renamed is durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(path: Path, content: str) -> None:
    """Replace a file by one that only its owner can read; nobody ever sees it half written."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            # The server's user owns it, even if another one rotates.
            os.fchown(descriptor, path.stat().st_uid, path.stat().st_gid)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
