"""The signing keys of tokens and statements, and the file that holds them."""

import fcntl
import json
import logging
import os
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OctKey, RSAKey

from strongroom.foundation.ids import new_id
from strongroom.foundation.secret_keys import create_private_file

MIN_HMAC_BITS: Final = 256
MIN_RSA_BITS: Final = 2048

_REPLACE: Final = "move the file away, and run: strongroom keys rotate"

Key = OctKey | RSAKey

CREATED: Final = "iat"
"""Member with the creation time of a key, in seconds since the Unix epoch (OpenID Federation 1.0)."""

# An allow-list: a new private member of the library's keys cannot leak into the public set.
_PUBLIC_MEMBERS: Final = ("kty", "kid", "n", "e")

# An RSA key must never be used as an HMAC key (algorithm confusion), so each type has one algorithm.
ALGORITHMS: Final[Mapping[str, str]] = {"oct": "HS256", "RSA": "RS256"}
"""The algorithms by the types of keys (RFC 7518, section 6.1)."""

STATEMENT_ALGORITHM: Final = "RS256"
"""The algorithm of statements, and of access tokens for other services: they verify by public keys."""

STATEMENT_LIFETIME: Final = 60 * 60 * 1000
"""The longest lifetime of a statement in milliseconds."""

STATEMENT_REMEDY: Final = f"strongroom keys rotate --algorithm {STATEMENT_ALGORITHM}"
"""The command that adds a key of statements to a file."""


CHECK_MILLISECONDS: Final = 1000
"""How often the file is checked for changes while all tokens are known."""


class KeyRingError(Exception):
    """The key file cannot be used. The message is one line and names the remedy."""


class KeyRing:
    """The keys that verify tokens, one of which signs them.

    Keys of another algorithm verify the tokens of the time before ``tokens.algorithm`` was changed. The
    newest asymmetric key signs statements for other services, whatever ``tokens.algorithm`` is.

    Args:
        algorithm: the algorithm of the signing key, which is the first of the keys that have it.
        keys: the keys, the newest first.
    """

    def __init__(self, algorithm: str, keys: Sequence[Key]) -> None:
        self.algorithm = algorithm
        self.keys = tuple(keys)
        self.signing_key = next(key for key in keys if key_algorithm(key) == algorithm)
        self._by_id = {str(key.kid): key for key in keys}
        self._statement_key = next((key for key in keys if isinstance(key, RSAKey)), None)

    def find(self, key_id: str) -> Key | None:
        """Return the key with an id."""
        return self._by_id.get(key_id)

    def find_public(self, key_id: str) -> RSAKey | None:
        """Return the key with an id, if other services can verify with it."""
        key = self._by_id.get(key_id)
        return key if isinstance(key, RSAKey) else None

    def statement_key(self) -> RSAKey:
        """Return the key that signs statements for other services.

        Raises:
            KeyRingError: there is none.
        """
        if self._statement_key is None:
            raise KeyRingError(f"no key signs for other services; run: {STATEMENT_REMEDY}")
        return self._statement_key

    def public_set(self) -> dict[str, Any]:
        """Return the JWK Set that other services verify with, without keys of HS256: they are secret."""
        return {"keys": [_public(key) for key in self.keys if isinstance(key, RSAKey)]}


def _public(key: RSAKey) -> dict[str, Any]:
    members = key.as_dict(private=False)
    described = {"alg": key_algorithm(key), "use": "sig"}
    return {name: members[name] for name in _PUBLIC_MEMBERS} | described


def key_algorithm(key: Key) -> str:
    """Return the only algorithm that a key is used with."""
    return ALGORITHMS[key.key_type]


def created_at(key: Key) -> int | None:
    """Return the creation time of a key in seconds since the Unix epoch, if the key has one."""
    moment: Any = key.get(CREATED)
    return moment if isinstance(moment, int) else None


def load_keys(path: Path, algorithm: str) -> KeyRing:
    """Read a key file. A key without ``kid`` is identified by its thumbprint (RFC 7638).

    Args:
        algorithm: the algorithm of the signing key.

    Raises:
        KeyRingError: the file is missing or not a JWK Set, or has no key of the algorithm, or one that
            is too short or of an unknown type.
    """
    keys = _read_keys(path)
    if algorithm not in map(key_algorithm, keys):
        remedy = "correct tokens.algorithm, or run: strongroom keys rotate"
        raise KeyRingError(f"{path} holds no key of {algorithm}; {remedy}")
    return KeyRing(algorithm, keys)


def _read_keys(path: Path) -> list[Key]:
    try:
        key_set = KeySet.import_key_set(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise KeyRingError(f"{path} does not exist; run: strongroom keys rotate") from error
    except OSError as error:
        raise KeyRingError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, JoseError) as error:
        raise KeyRingError(f"{path} is no private JWK Set (RFC 7517); {_REPLACE}") from error
    if not key_set.keys:
        raise KeyRingError(f"{path} holds no key; {_REPLACE}")
    return _checked(path, key_set)


def generate_key(algorithm: str, now: int) -> Key:
    """Generate a private key. ``now``, its creation time, is in milliseconds since the Unix epoch."""
    parameters: Any = {"kid": new_id(), "alg": algorithm, "use": "sig", CREATED: now // 1000}
    if algorithm == "HS256":
        return OctKey.generate_key(MIN_HMAC_BITS, parameters, auto_kid=False)
    return RSAKey.generate_key(MIN_RSA_BITS, parameters, auto_kid=False)


def dump_keys(keys: Sequence[Key]) -> str:
    """Return the content of a key file."""
    return json.dumps({"keys": [key.as_dict(private=True) for key in keys]}, indent=2)


def _checked(path: Path, key_set: KeySet) -> list[Key]:
    keys: dict[str, Key] = {}
    for key in key_set.keys:
        if not isinstance(key, OctKey | RSAKey):
            raise KeyRingError(f"{path} holds a key of the type {key.key_type}; {_REPLACE}")
        _check(path, key)
        if keys.setdefault(str(key.kid), key) is not key:
            raise KeyRingError(f"{path} holds two keys with the same kid")
    return list(keys.values())


def _check(path: Path, key: Key) -> None:
    if isinstance(key, OctKey) and len(key.raw_value) * 8 < MIN_HMAC_BITS:
        raise KeyRingError(f"{path} holds an HMAC key of less than {MIN_HMAC_BITS} bits")
    if isinstance(key, RSAKey):
        if not key.is_private:
            raise KeyRingError(f"{path} holds a public RSA key; expected a private one")
        if key.raw_value.key_size < MIN_RSA_BITS:
            raise KeyRingError(f"{path} holds an RSA key of less than {MIN_RSA_BITS} bits")


logger = logging.getLogger(__name__)

MARGIN: Final = 5 * 60 * 1000
"""Milliseconds allowed for distributing a new file to all machines, and for clock skew."""

Version = tuple[int, int, int]


class KeyFile:
    """The key ring in a file, reloaded when the file changes.

    :meth:`ring` calls stat() and reads the file only if it has changed. So a token that another node
    signed with a new key is accepted immediately, and a flood of tokens with unknown keys causes no
    reads. Tokens that were verified before use :meth:`recent_ring`, because a system call gives up the
    interpreter's lock: a removed key is rejected within :data:`CHECK_MILLISECONDS`.

    Args:
        algorithm: the algorithm of the signing key, ``HS256`` or ``RS256``.

    Raises:
        KeyRingError: the file cannot be used.
    """

    def __init__(self, path: Path, algorithm: str) -> None:
        self._path = path
        self._file = str(path)
        self._algorithm = algorithm
        self._lock = threading.Lock()
        self._version = _version(path)
        self._ring = load_keys(path, algorithm)
        self._checked_at = 0

    def ring(self) -> KeyRing:
        """Return the current keys, or the last valid ones while the file cannot be used."""
        if _version(self._file) != self._version:
            self._reload()
        return self._ring

    def recent_ring(self, now: int) -> KeyRing:
        """Return the keys of at most :data:`CHECK_MILLISECONDS` ago.

        Args:
            now: milliseconds since the Unix epoch.
        """
        # The clock of the system may be set back.
        if 0 <= now - self._checked_at < CHECK_MILLISECONDS:
            return self._ring
        self._checked_at = now
        return self.ring()

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
            # Also after an error, so that a broken file is read and logged once, not at every request.
            self._version = version


def create_key_file(path: Path, algorithm: str, now: int) -> None:
    """Create a key file with one key if it does not exist. ``now``: milliseconds since the epoch."""
    if not path.exists():
        create_private_file(path, dump_keys([generate_key(algorithm, now)]))


def ensure_key(path: Path, algorithm: str, now: int) -> None:
    """Create a key file, or insert a key of the algorithm if the file has none.

    For the file of one server. The other keys stay valid.

    Raises:
        KeyRingError: the file cannot be used.
        OSError: it cannot be written.
    """
    create_key_file(path, algorithm, now)
    if algorithm in map(key_algorithm, _read_keys(path)):
        return
    key = generate_key(algorithm, now)
    with _locked(path.resolve().parent):
        keys = _read_keys(path)
        # Several processes of the server may start at once.
        if algorithm not in map(key_algorithm, keys):
            _replace(path.resolve(), dump_keys([key, *keys]))


def rotate(path: Path, algorithm: str, now: int) -> Sequence[Key]:
    """Insert a new signing key at the start of a file, and return all keys. Creates a missing file.

    Servers whose ``tokens.algorithm`` is another one verify with the key, and sign with their own.

    Raises:
        KeyRingError: the file cannot be used.
        OSError: it cannot be written.
    """
    key = generate_key(algorithm, now)
    # A missing file is created with the new key, which is then found below.
    create_private_file(path, dump_keys([key]))
    with _locked(path.resolve().parent):
        keys = _read_keys(path)
        if str(key.kid) in {str(other.kid) for other in keys}:
            return keys
        _replace(path.resolve(), dump_keys([key, *keys]))
    return [key, *keys]


def prune(
    path: Path, algorithm: str, now: int, lifetime: int, *, has_statements: bool = False
) -> Sequence[Key]:
    """Remove the keys whose last tokens have expired, and return them.

    A key signs until its successor is created. So it is needed until ``lifetime`` and :data:`MARGIN`
    after that. A key is kept if it has no successor, or one without a creation time.

    Args:
        now: milliseconds since the Unix epoch.
        lifetime: lifetime of access tokens in milliseconds.
        has_statements: whether the newest asymmetric key signs statements for other services.

    Raises:
        KeyRingError: the file cannot be used.
        OSError: it cannot be written.
    """
    with _locked(path.resolve().parent):
        ring = load_keys(path, algorithm)
        keys = ring.keys
        if has_statements:
            lifetime = max(lifetime, STATEMENT_LIFETIME)
        signing = [ring.signing_key, *([ring.statement_key()] if has_statements else [])]
        kept: list[Key] = []
        for index, key in enumerate(keys):
            replaced_at = _replaced_at(key, keys[:index])
            is_replaced = replaced_at is not None and now >= replaced_at * 1000 + lifetime + MARGIN
            if key in signing or not is_replaced:
                kept.append(key)
        if len(kept) < len(keys):
            _replace(path.resolve(), dump_keys(kept))
    return [key for key in keys if key not in kept]


def _replaced_at(key: Key, newer: Sequence[Key]) -> int | None:
    """Return the time when the successor of a key was created, in seconds since the Unix epoch.

    Args:
        newer: the keys before it in the file, the newest first.
    """
    same = [other for other in newer if key_algorithm(other) == key_algorithm(key)]
    # The first key of another algorithm is added before tokens.algorithm is changed, perhaps by days,
    # and the former key signs in between. The second one is added by a server that signs with it.
    successors = same or newer[:-1]
    return created_at(successors[-1]) if successors else None


def _version(path: Path | str) -> Version | None:
    try:
        # Each request with a token gets here; pathlib would double the cost.
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    # A replaced file has a new inode, even if its time and size are the same.
    return status.st_ino, status.st_mtime_ns, status.st_size


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
