"""Storage backends: storage of objects under keys.

A backend stores bytes under keys and does not know users, names or folders. The core generates the keys
from lowercase hexadecimal digits and slashes. Keys are unique, never reused and never derived from
client input.

The simplest way to write a backend is :class:`strongroom.plugin_api.filesystem.FilesystemBackend`. A
backend declares optional capabilities by also deriving from one of the classes below
(:class:`LocalPaths`, :class:`ServerSideCopy`, :class:`SignedDownloads`, :class:`SignedUploads`). The
core checks them with ``isinstance``.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from strongroom.plugin_api.extension import Extension, OptionsT


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

    def __init__(self, message: str, *, retry_after: int = 5) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StorageFull(StorageError):
    """The store has no space for the object; the core responds with 507."""


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


class LocalPaths(ABC):
    """Capability: the objects are files on this machine."""

    @abstractmethod
    def local_path(self, key: str) -> Path:
        """Return the absolute path of the object's file, whether or not it exists."""


class ServerSideCopy(ABC):
    """Capability: the store copies objects without transferring the bytes through the server."""

    @abstractmethod
    def copy(self, source_key: str, target_key: str) -> None:
        """Copy an object within the store.

        Raises:
            ObjectNotFound: no object is stored under ``source_key``.
        """


class SignedDownloads(ABC):
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


class SignedUploads(ABC):
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
