"""The tenant keys, wrapped by the key provider and stored as objects next to what they encrypt.

The object of a key is ``00/03/SCOPE/KEY/COPY``. A key is never overwritten: no storage guarantees that a
crash while an object is replaced leaves one of both. To wrap a key again, another copy is written, and
then the old one is deleted. Two processes that create a key for the same tenant at the same time create
two keys, which is harmless, because each object names its key.
"""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from threading import Lock
from typing import Any, Final

from strongroom.plugin_api.keys import KeyProvider, KeyProviderError, KeyProviderUnavailable
from strongroom.plugin_api.storage import (
    ObjectDamaged,
    ObjectNotFound,
    StorageBackend,
    StorageError,
    StorageUnavailable,
)
from strongroom_storage_encrypted.age_format import KeyName, TenantKey, age_identity

KEYS: Final = "00/03/"
"""The prefix of the objects of keys. No key of another object begins with it."""

_SECRET_BYTES: Final = 32
_MAX_WRAPPED_BYTES: Final = 4096
_ATTEMPTS: Final = 3


class Keyring:
    """The keys of all tenants, as far as they were used by this process. Thread-safe.

    Args:
        storage: has the objects of the keys.
        provider: wraps them.
    """

    def __init__(self, storage: StorageBackend[Any], provider: KeyProvider[Any]) -> None:
        self._storage = storage
        self._provider = provider
        self._lock = Lock()
        self._known: dict[KeyName, TenantKey] = {}
        self._of_scope: dict[str, TenantKey] = {}

    def get_key(self, scope: str | None) -> TenantKey:
        """Return a key for new objects of a scope; it is created if the scope has none."""
        scope_id = _scope_id(scope)
        # Held while a key is created, so that this process creates only one.
        with self._lock:
            if scope_id not in self._of_scope:
                name = next(self._names(scope_id), None)
                self._of_scope[scope_id] = self._load(name) if name else self._create(scope_id)
            return self._of_scope[scope_id]

    def key(self, name: KeyName) -> TenantKey:
        """Return a key by its name.

        Raises:
            ObjectDamaged: the key was dropped.
            StorageError: the key provider cannot unwrap it.
        """
        with self._lock:
            if name not in self._known:
                self._known[name] = self._load(name)
            return self._known[name]

    def drop(self, scope: str) -> None:
        """Delete all keys of a scope."""
        scope_id = _scope_id(scope)
        with self._lock:
            self._of_scope.pop(scope_id, None)
            self._known = {name: key for name, key in self._known.items() if name.scope != scope_id}
        for item in list(self._storage.scan(f"{KEYS}{scope_id}/")):
            self._storage.delete(item.key)

    def rewrap(self) -> int:
        """Wrap all keys that a former master key has wrapped with the current one."""
        return sum(self._rewrap(name) for name in set(self._names()))

    def export(self, scope: str | None) -> str:
        """Return the keys of a scope as a file of identities for age."""
        names = sorted(set(self._names(_scope_id(scope))), key=lambda name: name.id)
        return "".join(f"{age_identity(self.key(name).secret)}\n" for name in names)

    def _names(self, scope_id: str = "") -> Iterator[KeyName]:
        for item in self._storage.scan(f"{KEYS}{scope_id}"):
            scope, key_id, _ = item.key.removeprefix(KEYS).split("/")
            yield KeyName(scope, key_id)

    def _copies(self, name: KeyName) -> dict[str, bytes]:
        """Return the wrapped copies of a key by their object keys."""
        copies = {}
        for item in list(self._storage.scan(_folder(name))):
            try:
                with self._storage.open(item.key, length=_MAX_WRAPPED_BYTES) as chunks:
                    copies[item.key] = b"".join(chunks)
            except ObjectNotFound:
                continue
        return copies

    def _load(self, name: KeyName) -> TenantKey:
        # A copy may be replaced by another one between its listing and its reading.
        for _ in range(_ATTEMPTS):
            if copies := self._copies(name):
                return self._unwrapped(name, copies)
        raise ObjectDamaged("the key of its tenant was deleted, and with it the content")

    def _unwrapped(self, name: KeyName, copies: dict[str, bytes]) -> TenantKey:
        *others, last = copies.values()
        for wrapped in others:
            try:
                with _translated_errors():
                    return TenantKey(name, self._provider.unwrap(wrapped, _context(name)))
            except StorageUnavailable:
                raise
            except StorageError:
                # An interrupted rewrapping leaves several copies; one that fits is enough.
                continue
        with _translated_errors():
            return TenantKey(name, self._provider.unwrap(last, _context(name)))

    def _create(self, scope_id: str) -> TenantKey:
        key = TenantKey(KeyName(scope_id, secrets.token_hex(16)), secrets.token_bytes(_SECRET_BYTES))
        self._store(key)
        self._known[key.name] = key
        return key

    def _store(self, key: TenantKey) -> str:
        with _translated_errors():
            wrapped = self._provider.wrap(key.secret, _context(key.name))
        object_key = f"{_folder(key.name)}{secrets.token_hex(8)}"
        self._storage.put(object_key, BytesIO(wrapped), size=len(wrapped))
        return object_key

    def _rewrap(self, name: KeyName) -> bool:
        copies = self._copies(name)
        current = [key for key, wrapped in copies.items() if self._provider.is_current(wrapped)]
        if copies and not current:
            self._store(self._unwrapped(name, copies))
        for key in copies.keys() - current:
            self._storage.delete(key)
        return bool(copies) and not current


def _scope_id(scope: str | None) -> str:
    """Return the name of a scope in the store, which does not reveal the tenant."""
    text = "none" if scope is None else f"scope {scope}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _folder(name: KeyName) -> str:
    return f"{KEYS}{name.scope}/{name.id}/"


def _context(name: KeyName) -> bytes:
    # Binds a wrapped key to its name, so that the keys of two tenants cannot be exchanged.
    return f"strongroom/v1/tenant-key/{name.scope}/{name.id}".encode()


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except KeyProviderUnavailable as error:
        message = f"the key provider is unavailable: {error}"
        raise StorageUnavailable(message, retry_after=error.retry_after) from error
    except KeyProviderError as error:
        raise StorageError(str(error)) from error
