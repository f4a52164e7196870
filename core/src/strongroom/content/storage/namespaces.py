"""The part of a storage that one wrapper stores its objects in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from strongroom.content.storage.ownership import WRAPPED
from strongroom.plugin_api import NoOptions
from strongroom.plugin_api.storage import (
    ByteSource,
    ByteStream,
    CapabilityT,
    LocalPaths,
    ObjectLock,
    ObjectStat,
    ServerSideCopy,
    SignedDownloads,
    SignedRequest,
    SignedUploads,
    StorageBackend,
)


class Namespace(StorageBackend[NoOptions]):
    """The objects of a storage below a prefix of its own per wrapper.

    So a wrapper and the storage below it can both store files in one place: neither lists, and thus
    checks or removes, the objects of the other.

    Args:
        wrapper: the name of the wrapper in the configuration.
    """

    name = "namespace"

    def __init__(self, backend: StorageBackend[Any], wrapper: str) -> None:
        super().__init__(NoOptions())
        self._backend = backend
        # Keys consist of hexadecimal digits and slashes.
        self._prefix = f"{WRAPPED}{wrapper.encode().hex()}/"

    def put(self, key: str, source: ByteSource, *, size: int | None = None) -> int:
        return self._backend.put(self._prefix + key, source, size=size)

    def open(self, key: str, *, start: int = 0, length: int | None = None) -> ByteStream:
        return self._backend.open(self._prefix + key, start=start, length=length)

    def stat(self, key: str) -> ObjectStat:
        return self._without_prefix(self._backend.stat(self._prefix + key))

    def delete(self, key: str) -> None:
        self._backend.delete(self._prefix + key)

    def scan(self, prefix: str = "") -> Iterator[ObjectStat]:
        return map(self._without_prefix, self._backend.scan(self._prefix + prefix))

    def capability(self, kind: type[CapabilityT]) -> CapabilityT | None:
        adapted = _ADAPTERS.get(kind)
        capability: Any = self._backend.capability(kind)
        return adapted(capability, self._prefix) if adapted and capability is not None else None

    def _without_prefix(self, stat: ObjectStat) -> ObjectStat:
        return replace(stat, key=stat.key.removeprefix(self._prefix))


@dataclass(slots=True, eq=False, repr=False)
class _LocalPaths(LocalPaths):
    _paths: LocalPaths
    _prefix: str

    def local_path(self, key: str) -> Path:
        return self._paths.local_path(self._prefix + key)


@dataclass(slots=True, eq=False, repr=False)
class _ServerSideCopy(ServerSideCopy):
    _copying: ServerSideCopy
    _prefix: str

    def copy(self, source_key: str, target_key: str) -> None:
        self._copying.copy(self._prefix + source_key, self._prefix + target_key)


@dataclass(slots=True, eq=False, repr=False)
class _SignedDownloads(SignedDownloads):
    _signing: SignedDownloads
    _prefix: str

    def download_url(self, key: str, *, lifetime: int, headers: Mapping[str, str]) -> str:
        return self._signing.download_url(self._prefix + key, lifetime=lifetime, headers=headers)


@dataclass(slots=True, eq=False, repr=False)
class _SignedUploads(SignedUploads):
    _signing: SignedUploads
    _prefix: str

    @property
    def max_size(self) -> int:  # type: ignore[override]  # a class variable of other backends
        return self._signing.max_size

    @property
    def write_once(self) -> bool:
        return self._signing.write_once

    def upload_request(self, key: str, *, lifetime: int, size: int) -> SignedRequest:
        return self._signing.upload_request(self._prefix + key, lifetime=lifetime, size=size)


@dataclass(slots=True, eq=False, repr=False)
class _ObjectLock(ObjectLock):
    _lock: ObjectLock
    _prefix: str

    def locked_until(self, key: str) -> int | None:
        return self._lock.locked_until(self._prefix + key)


_ADAPTERS: dict[type[Any], Any] = {
    LocalPaths: _LocalPaths,
    ObjectLock: _ObjectLock,
    ServerSideCopy: _ServerSideCopy,
    SignedDownloads: _SignedDownloads,
    SignedUploads: _SignedUploads,
}
