"""A base class for storage backends on a PyFilesystem2 filesystem."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO

from strongroom.plugin_api.extension import OptionsT
from strongroom.plugin_api.storage import (
    CHUNK_SIZE,
    ByteSource,
    ByteStream,
    ObjectNotFound,
    ObjectStat,
    StorageBackend,
    StorageError,
    StorageFull,
    StorageUnavailable,
    chunks,
    translate_os_errors,
)

if TYPE_CHECKING:
    from fs.base import FS
    from fs.info import Info


class FilesystemBackend(StorageBackend[OptionsT]):
    """Stores each object as one file of the filesystem that :meth:`open_filesystem` returns.

    Durability and cost depend on that filesystem. This class writes an object in one pass, removes it
    if the pass fails, and reads a range by seeking.
    """

    def __init__(self, options: OptionsT) -> None:
        super().__init__(options)
        self._lock = Lock()
        self._filesystem: FS | None = None
        self._has_folder = False
        # Fail at startup if the filesystem cannot be opened; the first write creates its folder.
        with suppress(ObjectNotFound):
            self.filesystem  # noqa: B018

    @property
    def filesystem(self) -> "FS":
        """The filesystem, reopened after an outage because its connections do not recover."""
        with self._lock, _translated_errors(""):
            if self._filesystem is None:
                self._filesystem = self.open_filesystem()
            return self._filesystem

    @abstractmethod
    def open_filesystem(self) -> "FS":
        """Return the filesystem to store in. Several threads use it concurrently.

        It should not create anything, because a check of the configuration opens it, too.
        """

    def create_folder(self) -> None:
        """Create the folder that :meth:`open_filesystem` opens, if it is missing.

        Called before the first write. By default, nothing is created.
        """

    def put(self, key: str, source: ByteSource, *, size: int | None = None) -> int:  # noqa: ARG002
        # Only calls of the filesystem are translated: errors of ``source`` must be raised unchanged.
        written = 0
        with self._errors(key):
            self._require_folder()
            self.filesystem.makedirs(_folder(key), recreate=True)
            target = self.filesystem.openbin(key, "w")
        try:
            # Close before removing the object, because some filesystems upload on close.
            with self._closing(key, target):
                while chunk := source.read(CHUNK_SIZE):
                    with self._errors(key):
                        written += target.write(chunk)
                if not written:
                    # Some filesystems create the file only on the first write.
                    with self._errors(key):
                        target.write(b"")
        except BaseException:
            with suppress(StorageError):
                self.delete(key)
            raise
        return written

    def _require_folder(self) -> None:
        if not self._has_folder:
            self.create_folder()
            self._has_folder = True

    @contextmanager
    def _reader(self, key: str, start: int, length: int | None) -> Iterator[Iterator[bytes]]:
        with self._errors(key):
            file = self.filesystem.openbin(key, "r")
        try:
            if start:
                with self._errors(key):
                    file.seek(start)
            yield self._chunks(key, file, length)
        finally:
            # Ignore errors on close, because all data has been read.
            with suppress(Exception):
                file.close()

    def open(self, key: str, *, start: int = 0, length: int | None = None) -> ByteStream:
        return self._reader(key, start, length)

    def stat(self, key: str) -> ObjectStat:
        with self._errors(key):
            return _stat(key, self.filesystem.getinfo(key, namespaces=["details"]))

    def delete(self, key: str) -> None:
        try:
            with self._errors(key):
                self.filesystem.remove(key)
        except ObjectNotFound:
            pass

    def scan(self, prefix: str = "") -> Iterator[ObjectStat]:
        try:
            entries = iter(self.filesystem.walk.info(namespaces=["details"]))
        except ObjectNotFound:
            return
        while entry := self._next(entries):
            path, info = entry
            key = path.lstrip("/")
            if not info.is_dir and key.startswith(prefix):
                yield _stat(key, info)

    def close(self) -> None:
        if self._filesystem is not None:
            self._filesystem.close()

    @contextmanager
    def _errors(self, key: str) -> Iterator[None]:
        try:
            with _translated_errors(key):
                yield
        except StorageUnavailable:
            # The next use reopens the filesystem.
            self._filesystem = None
            raise

    @contextmanager
    def _closing(self, key: str, file: "BinaryIO") -> Iterator[None]:
        try:
            yield
        except BaseException:
            # The error of the block is more informative than an error on close.
            with suppress(Exception):
                file.close()
            raise
        with self._errors(key):
            file.close()

    def _chunks(self, key: str, file: ByteSource, length: int | None) -> Iterator[bytes]:
        pieces = chunks(file, length)
        while True:
            with self._errors(key):
                chunk = next(pieces, b"")
            if not chunk:
                return
            yield chunk

    def _next(self, entries: "Iterator[tuple[str, Info]]") -> "tuple[str, Info] | None":
        with self._errors(""):
            return next(entries, None)


def _folder(key: str) -> str:
    return key.rpartition("/")[0]


def _stat(key: str, info: "Info") -> ObjectStat:
    modified = info.modified
    return ObjectStat(key, info.size, int(modified.timestamp() * 1000) if modified else None)


@contextmanager
def _translated_errors(key: str) -> Iterator[None]:
    # Imported lazily: it takes 0.1 s, and only deployments with such a backend need it.
    from fs import errors

    try:
        with translate_os_errors(key):
            yield
    except (errors.ResourceNotFound, errors.ResourceInvalid, errors.CreateFailed) as error:
        raise ObjectNotFound(key or str(error)) from error
    except errors.InsufficientStorage as error:
        raise StorageFull(str(error)) from error
    except (errors.RemoteConnectionError, errors.OperationTimeout, EOFError) as error:
        raise StorageUnavailable(str(error)) from error
    except errors.FSError as error:
        raise StorageError(str(error)) from error
