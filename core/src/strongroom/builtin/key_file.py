"""A key provider whose master keys are in a file."""

import base64
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from pathlib import Path
from threading import Lock
from typing import Any, Final

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.keys import KeyProvider, KeyProviderError, WrongMasterKey

API_VERSION = "2.0"

_KEY_BYTES: Final = 32
_ID_BYTES: Final = 8
_NONCE_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class KeyFileOptions:
    """The keys of the section ``[keys]`` with ``provider = "file"``."""

    path: Path = option(
        help="The file of the master keys, created by `strongroom keys create-master-key`. Readers of "
        "it and of the store can read all files; without it, the files are lost.",
    )


class KeyFileProvider(KeyProvider[KeyFileOptions]):
    """Wraps keys with AES-256-GCM and the master keys in a JSON file.

    A wrapped key consists of the id of the master key (8 bytes), a nonce (12 bytes) and the ciphertext.
    The id is a hash of the master key, so a wrong file cannot be taken for the right one.
    """

    name = "file"
    options_type = KeyFileOptions

    def __init__(self, options: KeyFileOptions) -> None:
        super().__init__(options)
        self._lock = Lock()
        self._ring = _KeyRing({}, b"")
        self._stamp: object = None
        self._read()

    def wrap(self, key: bytes, context: bytes) -> bytes:
        ring, nonce = self._read(), secrets.token_bytes(_NONCE_BYTES)
        wrapped = _cipher(ring.keys[ring.current]).encrypt(nonce, key, context)
        return b"".join((ring.current, nonce, wrapped))

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag

        nonce, ciphertext = wrapped[_ID_BYTES:][:_NONCE_BYTES], wrapped[_ID_BYTES + _NONCE_BYTES :]
        cipher = _cipher(self._key(wrapped[:_ID_BYTES]))
        try:
            return bytes(cipher.decrypt(nonce, ciphertext, context))
        except (InvalidTag, ValueError) as error:
            raise WrongMasterKey("a wrapped key is damaged, or belongs to something else") from error

    def is_current(self, wrapped: bytes) -> bool:
        return wrapped[:_ID_BYTES] == self._read().current

    def rotate(self) -> str:
        with _locked(self.options.path):
            key = secrets.token_bytes(_KEY_BYTES)
            _write(self.options.path, _KeyRing({**self._read().keys, _id(key): key}, _id(key)))
        return self._read().current.hex()

    def _key(self, key_id: bytes) -> bytes:
        # If it is unknown, another process may have rotated the keys.
        keys = (self._ring if key_id in self._ring.keys else self._read()).keys
        try:
            return keys[key_id]
        except KeyError:
            hex_keys = ", ".join(key.hex() for key in keys)
            raise WrongMasterKey(
                f"the master key {key_id.hex()} is missing in {self.options.path}, which has {hex_keys}"
            ) from None

    def _read(self) -> "_KeyRing":
        """Return the content of the file, which is read again if it has changed."""
        path = self.options.path
        try:
            status = path.stat()
            stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
            # Keys and stamp change together, or a thread could take old keys for the current ones.
            with self._lock:
                if stamp != self._stamp:
                    self._ring, self._stamp = _parse(path.read_bytes()), stamp
                return self._ring
        except FileNotFoundError as error:
            message = f"{path} does not exist; restore it, or run: strongroom keys create-master-key"
            raise KeyProviderError(message) from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            remedy = "restore it, or correct keys.path"
            raise KeyProviderError(f"{path} is no file of master keys: {error}; {remedy}") from error


@dataclass(frozen=True, slots=True)
class _KeyRing:
    """The master keys by their ids, and the id of the current one."""

    keys: Mapping[bytes, bytes]
    current: bytes


def create_key_file(path: Path) -> str:
    """Create a file with one master key, readable only by its owner, and return the id of the key.

    Raises:
        FileExistsError: the file exists; it is never replaced.
    """
    key = secrets.token_bytes(_KEY_BYTES)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _locked(path):
        if path.exists():
            raise FileExistsError(path)
        _write(path, _KeyRing({_id(key): key}, _id(key)))
    return _id(key).hex()


def _id(key: bytes) -> bytes:
    return hashlib.sha256(b"strongroom master key" + key).digest()[:_ID_BYTES]


def _cipher(key: bytes) -> Any:
    # Imported lazily, because most deployments have no master key.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key)


def _parse(content: bytes) -> _KeyRing:
    document = json.loads(content)
    keys = {bytes.fromhex(name): base64.b64decode(key) for name, key in document["keys"].items()}
    current = bytes.fromhex(document["current"])
    if current not in keys or any(_id(key) != name for name, key in keys.items()):
        raise ValueError("a key does not match its id")
    if any(len(key) != _KEY_BYTES for key in keys.values()):
        raise ValueError(f"a key must have {_KEY_BYTES} bytes")
    return _KeyRing(keys, current)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Exclude other processes that change the file. It is replaced, so the lock is another file."""
    descriptor = os.open(path.with_name(f".{path.name}.lock"), os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write(path: Path, ring: _KeyRing) -> None:
    content = {
        "current": ring.current.hex(),
        "keys": {name.hex(): base64.b64encode(key).decode() for name, key in ring.keys.items()},
    }
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    # A key that wraps something must not be lost by a power failure.
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@hookimpl
def register_key_providers() -> list[type[KeyProvider[Any]]]:
    return [KeyFileProvider]
