"""Storage backends: storage of objects under keys.

A backend stores bytes under keys and does not know users, names or folders. The core generates the keys
from lowercase hexadecimal digits and slashes. Keys are unique, never reused and never derived from
client input.

The simplest way to write a backend is :class:`strongroom.plugin_api.filesystem.FilesystemBackend`. A
backend declares an optional capability by also deriving from one of the subclasses of
:class:`Capability` below. If only some of its instances have one, it overrides
:meth:`StorageBackend.capability`, which the core calls to find out.

A :class:`StorageWrapper` is a storage that stores its objects in another storage.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from errno import EDQUOT, ENOSPC
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, TypeVar

from strongroom.plugin_api.backoff import RETRY_AFTER_SECONDS
from strongroom.plugin_api.extension import Extension, OptionsT
from strongroom.plugin_api.keys import KeyProvider

NO_END: Final = 2**62
"""The end of a lock that lasts until it is removed; see :class:`ObjectLock`."""

CHUNK_SIZE: Final = 256 * 1024
"""The usual size in bytes of a chunk that is read from a source or an object."""


class StorageError(Exception):
    """The base class of errors that a backend may raise; the core responds with 500."""


class ObjectNotFound(StorageError):
    """No object is stored under the key."""


class StorageUnavailable(StorageError):
    """The store is unreachable or throttles requests; the core responds with 503.

    Args:
        message: a line for the operator's log.
        retry_after: seconds after which the client may retry.
    """

    def __init__(self, message: str, *, retry_after: int = RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StorageFull(StorageError):
    """The store has no space for the object; the core responds with 507."""


class ObjectDamaged(StorageError):
    """The content of an object differs from the stored one: it is truncated or changed.

    For storages that can detect it. ``strongroom storage fsck`` reports the object.
    """


class ByteSource(Protocol):
    """The source of an object: ``read(n)`` returns 1 to ``n`` bytes, and ``b""`` at the end."""

    def read(self, size: int, /) -> bytes: ...


ByteStream = AbstractContextManager[Iterator[bytes]]
"""An open object. Entering returns an iterator of its chunks; leaving releases the connection."""


@dataclass(frozen=True, slots=True)
class ObjectStat:
    """Metadata of an object. ``modified_at`` is in milliseconds since the Unix epoch."""

    key: str
    size: int
    modified_at: int | None = None


class Capability(ABC):  # noqa: B024  its subclasses declare the methods
    """The base class of the optional capabilities of a storage."""


CapabilityT = TypeVar("CapabilityT", bound=Capability)


class StorageBackend(Extension[OptionsT]):
    """Stores bytes under opaque keys. All threads of a process share one instance.

    Any method may raise :class:`StorageUnavailable`; a driver's own exceptions must not escape.
    """

    @abstractmethod
    def put(self, key: str, source: ByteSource, *, size: int | None = None) -> int:
        """Store all bytes of ``source`` durably under ``key``, and return the byte count.

        Memory use must not depend on the size. When this method returns, the bytes must survive a crash:
        on a disk, the file and its directory entry are synchronised; a remote store has acknowledged the
        whole object as its durability guarantee requires, and no later request is needed. If ``source``
        or the store fails, no object may be visible under ``key``, and the error of ``source`` must be
        raised unchanged.

        Args:
            key: an unused key.
            source: read in pieces until it returns ``b""``.
            size: the number of bytes, if it is known in advance.

        Raises:
            StorageFull: the store has no space.
        """

    @abstractmethod
    def open(self, key: str, *, start: int = 0, length: int | None = None) -> ByteStream:
        """Open an object for reading, from byte ``start``, ``length`` bytes or up to its end.

        Raises:
            ObjectNotFound: no object is stored under the key. Raised at the latest when the stream is
                entered, before the first byte.
        """

    @abstractmethod
    def stat(self, key: str) -> ObjectStat:
        """Return the metadata of an object.

        Raises:
            ObjectNotFound: no object is stored under the key.
        """

    @abstractmethod
    def delete(self, key: str) -> None:
        """Remove an object. Removing a missing object is no error."""

    @abstractmethod
    def scan(self, prefix: str = "") -> Iterator[ObjectStat]:
        """Iterate over the objects whose key starts with ``prefix``, in no particular order."""

    def capability(self, kind: type[CapabilityT]) -> CapabilityT | None:
        """Return the object that implements an optional capability, or ``None``.

        By default, an instance has the capabilities that its class derives from. Override this method
        if that depends on the instance, for example on its options.
        """
        backend: object = self
        return backend if isinstance(backend, kind) else None


class LocalPaths(Capability):
    """Capability: the objects are files on this machine."""

    @abstractmethod
    def local_path(self, key: str) -> Path:
        """Return the absolute path of the object's file, whether or not it exists."""


class ServerSideCopy(Capability):
    """Capability: the store copies objects without transferring the bytes through the server."""

    @abstractmethod
    def copy(self, source_key: str, target_key: str) -> None:
        """Copy an object within the store.

        Raises:
            ObjectNotFound: no object is stored under ``source_key``.
        """


class SignedDownloads(Capability):
    """Capability: clients can download from the store with a signed URL."""

    @abstractmethod
    def download_url(self, key: str, *, lifetime: int, headers: Mapping[str, str]) -> str:
        """Return a URL that serves the object for ``lifetime`` seconds.

        Args:
            key: the key of the object.
            lifetime: validity of the URL in seconds.
            headers: response headers that the store must send, including ``Content-Type`` and
                ``Content-Disposition``.
        """


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request that a client may send directly to the store."""

    method: str
    url: str
    headers: Mapping[str, str]


class SignedUploads(Capability):
    """Capability: clients can upload to the store with a signed request."""

    max_size: ClassVar[int]
    """The maximum size in bytes of an object that one signed request can create."""

    @property
    def write_once(self) -> bool:
        """Whether the store refuses a signed request once its object exists. If not, none are issued."""
        return True

    @abstractmethod
    def upload_request(self, key: str, *, lifetime: int, size: int) -> SignedRequest:
        """Return a request that stores exactly ``size`` bytes within ``lifetime`` seconds."""


class ScopedWrites(Capability):
    """Capability: the store separates the objects of each scope, for example by a key per scope.

    A scope is the id of a tenant. Objects of no tenant are written with :meth:`StorageBackend.put`.
    Objects are read and deleted without their scope.
    """

    @abstractmethod
    def put_in(self, scope: str, key: str, source: ByteSource, *, size: int | None = None) -> int:
        """Store an object of a scope, as :meth:`StorageBackend.put`."""

    @abstractmethod
    def drop_scope(self, scope: str) -> None:
        """Make all objects of a scope permanently unreadable. Its objects may remain, to be deleted.

        The core calls it when a tenant is purged. Dropping an unknown scope is no error.
        """


class ObjectLock(Capability):
    """Capability: the store keeps each object until a time, and refuses every deletion before it (WORM).

    The options of the storage determine how long :meth:`StorageBackend.put` locks an object. The core
    does not delete a locked object, and repeats the deletion after the lock has ended.
    """

    @abstractmethod
    def locked_until(self, key: str) -> int | None:
        """Return when the lock of an object ends, in milliseconds since the Unix epoch.

        ``None``: it is not locked, or there is no such object. A lock without an end returns
        :data:`NO_END`.
        """


class WrappedKeys(Capability):
    """Capability: the store has keys that are wrapped with the master key of a key provider."""

    @abstractmethod
    def export_keys(self, scope: str | None) -> str:
        """Return the unwrapped keys of a scope, or of the objects of no scope, for an emergency.

        The text is a file for a tool that reads the objects without Strongroom. It is empty if the
        scope has no key.
        """

    @abstractmethod
    def rewrap(self) -> int:
        """Wrap all keys with the current master key, and return how many were wrapped again.

        Objects are not rewritten. Safe while servers run, and to repeat after an interruption.
        """


@dataclass(frozen=True, slots=True)
class InnerStorage:
    """The storage that a wrapper stores its objects in.

    Args:
        name: the name of the wrapper in the configuration.
        backend: the other storage. It is restricted to objects of this wrapper: their keys begin with
            a prefix that the wrapper does not see. The wrapper must not close it.
        keys: returns the configured key provider; raises if it cannot be opened.
    """

    name: str
    backend: StorageBackend[Any]
    keys: Callable[[], KeyProvider[Any]]


class StorageWrapper(StorageBackend[OptionsT]):
    """A storage that stores its objects in another one, for example encrypted.

    The configuration names the other storage with ``over``. A wrapper has only the capabilities that it
    declares itself, because the other storage's may bypass it. To pass one on, override
    :meth:`StorageBackend.capability` and return ``self.inner.capability(kind)``.
    """

    def __init__(self, options: OptionsT, storage: InnerStorage) -> None:
        super().__init__(options)
        self.inner = storage.backend


def chunks(file: ByteSource, length: int | None = None, *, size: int = CHUNK_SIZE) -> Iterator[bytes]:
    """Iterate over the next ``length`` bytes of an open file, or all, in chunks of at most ``size``."""
    remaining = length
    while remaining is None or remaining > 0:
        chunk = file.read(size if remaining is None else min(size, remaining))
        if not chunk:
            return
        if remaining is not None:
            remaining -= len(chunk)
        yield chunk


@contextmanager
def translate_os_errors(key: str = "") -> Iterator[None]:
    """Translate an :class:`OSError` of the block into the matching :class:`StorageError`.

    A missing file becomes :class:`ObjectNotFound`, a full disk or an exceeded disk quota
    :class:`StorageFull`, a time-out or a lost connection :class:`StorageUnavailable`.

    Args:
        key: the key of the object, for messages.
    """
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise ObjectNotFound(key or str(error)) from error
    except (TimeoutError, ConnectionError) as error:
        raise StorageUnavailable(str(error) or type(error).__name__) from error
    except OSError as error:
        kind = StorageFull if error.errno in (ENOSPC, EDQUOT) else StorageError
        raise kind(str(error)) from error
