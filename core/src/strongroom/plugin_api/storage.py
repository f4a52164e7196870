"""Storage backends: where bytes are kept.

A backend stores bytes under keys and knows nothing of users, names or folders. Keys are made by the
core: lowercase hexadecimal digits and slashes, unique for ever, never reused and never derived from
what a client sent.

The shortest way to a backend is :class:`strongroom.plugin_api.filesystem.FilesystemBackend`. What a
store can do better than the required methods it declares by also deriving from one of the
capabilities below (:class:`LocalPaths`, :class:`ServerSideCopy`, :class:`SignedDownloads`,
:class:`SignedUploads`); the core asks ``isinstance`` and never finds a missing one by surprise.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from strongroom.plugin_api.extension import Extension, OptionsT


class StorageError(Exception):
    """The root of what a backend may raise; the core answers 500 unless a subclass says more."""


class ObjectNotFound(StorageError):
    """No object is stored under the key."""


class StorageUnavailable(StorageError):
    """The store does not answer, or asks to be left alone; the core answers 503.

    Args:
        retry_after: seconds after which trying again makes sense.
    """

    def __init__(self, message: str, *, retry_after: int = 5) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StorageFull(StorageError):
    """The store has no room for the object; the core answers 507."""


class ByteSource(Protocol):
    """What is read from while storing: ``read(n)`` gives 1 to ``n`` bytes, and ``b""`` at the end."""

    def read(self, size: int, /) -> bytes: ...


ByteStream = AbstractContextManager[Iterator[bytes]]
"""An open object: enter it to iterate its chunks; leaving it releases the connection or handle."""


@dataclass(frozen=True, slots=True)
class ObjectStat:
    """What a store knows of an object. ``modified_at`` is in milliseconds since the Unix epoch."""

    key: str
    size: int
    modified_at: int | None = None


class StorageBackend(Extension[OptionsT]):
    """Keeps bytes under opaque keys. One instance serves all threads of a process at once.

    Any method may raise :class:`StorageUnavailable`; a driver's own exceptions must not escape.
    """

    @abstractmethod
    def put(self, key: str, source: ByteSource, *, size: int | None = None) -> int:
        """Store everything that ``source`` gives under ``key``, durably, and return the byte count.

        Memory use must not depend on the amount. When this returns, the bytes survive a crash: on a disk
        they are synchronised, and their folder's entry too; a remote store has acknowledged the whole
        object, as its own durability guarantee requires, and nothing is left to a later request. When
        ``source`` or the store fails, nothing may be visible under ``key``, and the error of
        ``source`` must come through unchanged.

        Args:
            key: a key that holds nothing yet.
            source: read in pieces until it gives ``b""``.
            size: the number of bytes to come, when it is known beforehand.

        Raises:
            StorageFull: there is no room.
        """

    @abstractmethod
    def open(self, key: str, *, start: int = 0, length: int | None = None) -> ByteStream:
        """Open an object for reading, from byte ``start``, ``length`` bytes or up to its end.

        Raises:
            ObjectNotFound: at the latest when the stream is entered, before any byte is given.
        """

    @abstractmethod
    def stat(self, key: str) -> ObjectStat:
        """Return what is known of an object.

        Raises:
            ObjectNotFound: nothing is stored under the key.
        """

    @abstractmethod
    def delete(self, key: str) -> None:
        """Remove an object. Removing what is not there is no error."""

    @abstractmethod
    def scan(self, prefix: str = "") -> Iterator[ObjectStat]:
        """Iterate over the objects whose key starts with ``prefix``, in no particular order."""


class LocalPaths(ABC):
    """The capability of a backend whose objects are files of this machine."""

    @abstractmethod
    def local_path(self, key: str) -> Path:
        """Return the absolute path of the file that holds the object, existing or not."""


class ServerSideCopy(ABC):
    """The capability of a store that copies without the bytes passing through the server."""

    @abstractmethod
    def copy(self, source_key: str, target_key: str) -> None:
        """Copy an object within the store.

        Raises:
            ObjectNotFound: nothing is stored under ``source_key``.
        """


class SignedDownloads(ABC):
    """The capability of a store that clients may read from by a signed URL."""

    @abstractmethod
    def download_url(self, key: str, *, lifetime: int, headers: Mapping[str, str]) -> str:
        """Return a URL that gives the object for ``lifetime`` seconds.

        Args:
            key: the object.
            lifetime: seconds.
            headers: response headers the store is to send, ``Content-Type`` and
                ``Content-Disposition`` among them.
        """


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request that a client may send to the store by itself."""

    method: str
    url: str
    headers: Mapping[str, str]


class SignedUploads(ABC):
    """The capability of a store that clients may write to by a signed request."""

    max_size: ClassVar[int]
    """The largest object, in bytes, that one such request can create."""

    @property
    def write_once(self) -> bool:
        """Whether such a request is refused once its object is there; else the core makes none."""
        return True

    @abstractmethod
    def upload_request(self, key: str, *, lifetime: int, size: int) -> SignedRequest:
        """Return a request that stores exactly ``size`` bytes within ``lifetime`` seconds."""
