"""The storage backend: one file per object, visible when complete, durable when ``put`` returns."""

import os
import sys
from collections.abc import Iterator
from errno import EDQUOT, ENOSPC
from pathlib import Path
from typing import Final

from strongroom.plugin_api.folders import require_possible_folder
from strongroom.plugin_api.storage import (
    ByteSource,
    ByteStream,
    LocalPaths,
    ObjectNotFound,
    ObjectStat,
    ServerSideCopy,
    StorageBackend,
    StorageError,
    StorageFull,
)
from strongroom_storage_local.options import LocalOptions

CHUNK_SIZE = 256 * 1024

# Prefix of incomplete files. No key contains it, so a scan can skip them.
INCOMING = "."

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class _TranslatedErrors:
    """Raises errors of the system as errors of storages. A generator would cost as much as a write."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, OSError):
            raise _translated(error) from error


# It has no state, so all threads share one.
_TRANSLATING: Final = _TranslatedErrors()


class LocalBackend(StorageBackend[LocalOptions], LocalPaths, ServerSideCopy):
    """Stores each object as a file below the root: written to a temporary file, then renamed."""

    name = "local"
    options_type = LocalOptions

    def __init__(self, options: LocalOptions) -> None:
        super().__init__(options)
        self._root = options.root.expanduser().absolute()
        try:
            require_possible_folder(self._root)
        except OSError as error:
            reason = f"cannot be used: {error.filename}: {error.strerror}"
            raise StorageError(f"root: {reason}; name a folder that can be created") from error
        self._durable_folders: set[str] = set()

    def local_path(self, key: str) -> Path:
        return self._root / key

    def put(self, key: str, source: ByteSource, *, size: int | None = None) -> int:
        if not self._durable_folders:
            self._ensure_root()
        self._require_room(size or 0)
        # Strings, because pathlib's objects cost as much as the system calls of a small object.
        target = f"{self._root}/{key}"
        folder, _, name = target.rpartition("/")
        temporary = f"{folder}/{INCOMING}{name}"
        with _TRANSLATING:
            self._ensure_folder(folder)
            descriptor = os.open(temporary, _NEW_FILE, 0o666)
        try:
            written = _write_all(descriptor, source)
            _publish(temporary, target, folder, descriptor)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        finally:
            os.close(descriptor)
        return written

    def open(self, key: str, *, start: int = 0, length: int | None = None) -> ByteStream:
        return _Reader(f"{self._root}/{key}", start, length)

    def stat(self, key: str) -> ObjectStat:
        with _TRANSLATING:
            status = self.local_path(key).stat()
        return ObjectStat(key, status.st_size, status.st_mtime_ns // 1_000_000)

    def delete(self, key: str) -> None:
        target = self.local_path(key)
        with _TRANSLATING:
            target.unlink(missing_ok=True)
            # A crash during put leaves an incomplete file, which belongs to this key.
            _incoming(target).unlink(missing_ok=True)

    def scan(self, prefix: str = "") -> Iterator[ObjectStat]:
        for folder, subfolders, names in os.walk(self._root):
            below = Path(folder).relative_to(self._root).as_posix()
            base = "" if below == "." else f"{below}/"
            subfolders[:] = [name for name in subfolders if _may_hold(f"{base}{name}/", prefix)]
            for name in names:
                if f"{base}{name}".startswith(prefix) and not name.startswith(INCOMING):
                    try:
                        yield self.stat(f"{base}{name}")
                    # Deleted since the folder was read.
                    except ObjectNotFound:
                        continue

    def copy(self, source_key: str, target_key: str) -> None:
        with _TRANSLATING, self.local_path(source_key).open("rb") as source:
            self.put(target_key, source)

    def _require_room(self, size: int) -> None:
        disk = os.statvfs(self._root)
        if disk.f_bavail * disk.f_frsize - size < self.options.reserve_bytes:
            raise StorageFull(f"less than {self.options.reserve_bytes} bytes would stay free")

    def _ensure_folder(self, folder: str) -> None:
        """Create a folder durably, because a rename into it survives a crash only if the folder does.

        An existing folder may have been created by another process that has not synced its parent
        yet, so each process syncs the parent of each folder once.
        """
        if folder in self._durable_folders:
            return
        parent = folder.rpartition("/")[0]
        self._ensure_folder(parent)
        Path(folder).mkdir(mode=0o700, exist_ok=True)
        _sync_folder(parent)
        self._durable_folders.add(folder)

    def _ensure_root(self) -> None:
        # Not in the constructor, because a check of the configuration writes nothing.
        with _TRANSLATING:
            self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            _sync_folder(self._root.parent)
        self._durable_folders.add(str(self._root))


class _Reader:
    """A range of a file. Small, because a bundle opens thousands."""

    def __init__(self, path: str, start: int, length: int | None) -> None:
        self._path = path
        self._start = start
        self._length = sys.maxsize if length is None else length

    def __enter__(self) -> Iterator[bytes]:
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise _translated(error) from error
        return self._chunks(self._start, self._length)

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def _chunks(self, offset: int, length: int) -> Iterator[bytes]:
        while length > 0 and (chunk := self._read(min(CHUNK_SIZE, length), offset)):
            offset += len(chunk)
            length -= len(chunk)
            yield chunk

    def _read(self, size: int, offset: int) -> bytes:
        try:
            return os.pread(self._descriptor, size, offset)
        except OSError as error:
            raise _translated(error) from error


def _incoming(target: Path) -> Path:
    """Return the path of an incomplete object.

    It is in the folder of its key, because the file system serialises renames between folders.
    """
    return target.with_name(f"{INCOMING}{target.name}")


def _publish(temporary: str, target: str, folder: str, descriptor: int) -> None:
    with _TRANSLATING:
        os.rename(temporary, target)  # noqa: PTH104  see put
        try:
            # Rename before fsync, so that a journaling file system commits name and bytes together.
            os.fsync(descriptor)
            _sync_folder(folder)
        except BaseException:
            # After a failed fsync the kernel may have dropped the dirty pages, so a retry of fsync
            # could succeed without the bytes being on disk. Remove the object instead.
            Path(target).unlink(missing_ok=True)
            raise


def _may_hold(folder: str, prefix: str) -> bool:
    return folder.startswith(prefix) or prefix.startswith(folder)


def _write_all(descriptor: int, source: ByteSource) -> int:
    written = 0
    while chunk := source.read(CHUNK_SIZE):
        with _TRANSLATING:
            written += _write_fully(descriptor, chunk)
    return written


def _write_fully(descriptor: int, chunk: bytes) -> int:
    view = memoryview(chunk)
    while view:
        view = view[os.write(descriptor, view) :]
    return len(chunk)


def _sync_folder(folder: str | Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _translated(error: OSError) -> StorageError:
    if isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        return ObjectNotFound(str(error))
    return (StorageFull if error.errno in (ENOSPC, EDQUOT) else StorageError)(str(error))
