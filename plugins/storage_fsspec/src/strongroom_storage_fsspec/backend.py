"""The storage backend: one file per object, written under a temporary name or committed."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from threading import Lock
from typing import Any, Final, TypeVar

from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

from strongroom.plugin_api.storage import (
    CHUNK_SIZE,
    ByteSource,
    ByteStream,
    CapabilityT,
    ObjectNotFound,
    ObjectStat,
    ServerSideCopy,
    StorageBackend,
    StorageError,
    StorageUnavailable,
    chunks,
)
from strongroom_storage_fsspec.drivers import Driver
from strongroom_storage_fsspec.errors import translated_errors
from strongroom_storage_fsspec.options import FsspecOptions

INCOMING: Final = ".incoming"
"""The folder of incomplete objects. No key contains a dot, so a scan can skip it."""

_MADE_ATTEMPTS: Final = 4
_TIMES: Final = ("mtime", "modified", "LastModified", "last_modified", "updated", "created")
_Result = TypeVar("_Result")


class FsspecBackend(StorageBackend[FsspecOptions], ServerSideCopy):
    """Stores each object as one file of a filesystem of fsspec, such as SFTP or WebDAV.

    Durability depends on the filesystem: Strongroom requests it to synchronise a file if it can, and
    otherwise trusts it.
    """

    name = "fsspec"
    options_type = FsspecOptions

    def __init__(self, options: FsspecOptions) -> None:
        super().__init__(options)
        self._driver = Driver(options)
        self._lock = Lock()
        self._opened: tuple[AbstractFileSystem, str] | None = None
        self._process = 0
        self._folders: set[str] = set()

    def capability(self, kind: type[CapabilityT]) -> CapabilityT | None:
        if kind is ServerSideCopy and not self._driver.copies:
            return None
        return super().capability(kind)

    def put(self, key: str, source: ByteSource, *, size: int | None = None) -> int:  # noqa: ARG002
        if self.options.publish == "direct":
            return self._write(key, source)
        temporary = self._temporary(key)
        try:
            written = self._write(temporary, source)
            self._rename(temporary, key)
        except BaseException:
            with suppress(StorageError):
                self._remove(temporary)
            raise
        return written

    def open(self, key: str, *, start: int = 0, length: int | None = None) -> ByteStream:
        if self._driver.shares_readers:
            return self._copied(key, start, length)
        return self._reader(key, start, length)

    def stat(self, key: str) -> ObjectStat:
        info = self._call(key, lambda files, path: files.info(path))
        if info["type"] != "file":
            raise ObjectNotFound(key)
        return _stat(key, info)

    def delete(self, key: str) -> None:
        try:
            self._remove(key)
        except ObjectNotFound:
            # A crash during put leaves an incomplete file instead, which belongs to this key.
            for name in self._incomplete(key):
                self._remove(name)

    def scan(self, prefix: str = "") -> Iterator[ObjectStat]:
        folders = [prefix.rpartition("/")[0]]
        while folders:
            for name, info in self._entries(folders.pop()):
                if info["type"] == "directory":
                    # A folder may contain matches if one of the two names begins with the other.
                    if f"{name}/".startswith(prefix) or prefix.startswith(f"{name}/"):
                        folders.append(name)
                elif name.startswith(prefix):
                    yield _stat(name, info)

    def copy(self, source_key: str, target_key: str) -> None:
        is_direct = self.options.publish == "direct"
        target = target_key if is_direct else self._temporary(target_key)
        self.stat(source_key)
        self._make_folder(target)
        self._call(source_key, lambda files, path: files.cp_file(path, self._path(target)))
        if not is_direct:
            self._rename(target, target_key)

    def close(self) -> None:
        if self._opened is not None and self._process == os.getpid():
            self._driver.close(self._opened[0])
        self._forget()

    def _forget(self) -> None:
        with self._lock:
            self._opened = None

    @contextmanager
    def _reader(self, key: str, start: int, length: int | None) -> Iterator[Iterator[bytes]]:
        # The default cache would read ahead, and thus more than is sent.
        block = self._driver.block_size
        file = self._call(key, lambda files, path: files.open(path, "rb", block, cache_type="none"))
        try:
            if start:
                with self._errors(key):
                    file.seek(start)
            yield self._chunks(key, file, length)
        finally:
            # All data has been read, so errors on close do not matter.
            with suppress(Exception):
                file.close()

    @contextmanager
    def _copied(self, key: str, start: int, length: int | None) -> Iterator[Iterator[bytes]]:
        stop = None if length is None else start + length
        content = self._call(key, lambda files, path: files.cat_file(path, start, stop))
        yield iter([content] if content else [])

    def _chunks(self, key: str, file: ByteSource, length: int | None) -> Iterator[bytes]:
        pieces = chunks(file, length)
        while True:
            with self._errors(key):
                piece = next(pieces, b"")
            if not piece:
                return
            yield bytes(piece)

    def _write(self, name: str, source: ByteSource) -> int:
        """Write a file, never by a ``with``: its end commits a file even if the block raised."""
        file = self._open_to_write(name)
        written = 0
        try:
            while chunk := source.read(CHUNK_SIZE):
                with self._errors(name):
                    file.write(chunk)
                written += len(chunk)
            with self._errors(name):
                self._finish(file)
        except BaseException:
            self._abandon(file)
            raise
        return written

    def _open_to_write(self, name: str) -> Any:
        self._make_folder(name)
        if self.options.publish == "rename":
            block = self._driver.block_size
            return self._call(name, lambda files, path: files.open(path, "wb", block))
        file = self._call(name, lambda files, path: files.open(path, "wb", autocommit=False))
        if getattr(type(file), "commit", None) in (None, AbstractBufferedFile.commit):
            self._abandon(file)
            raise StorageError(f'{self._driver.protocol} has no commit; use publish = "rename"')
        return file

    def _finish(self, file: Any) -> None:
        if hasattr(file, "fsync"):
            file.fsync()
        file.close()
        if self.options.publish == "direct":
            file.commit()

    def _abandon(self, file: Any) -> None:
        # Some drivers have discard() and others do not; close() of some would complete the file, which
        # does no harm under a temporary name.
        for method in ("discard", "close") if self.options.publish == "rename" else ("discard",):
            with suppress(Exception):
                getattr(file, method)()

    def _rename(self, source: str, target: str) -> None:
        self._make_folder(target)
        rename = self._driver.renaming(self._filesystem()[0])
        with self._errors(target):
            rename(self._path(source), self._path(target))

    def _remove(self, name: str) -> None:
        self._call(name, lambda files, path: files.rm_file(path))

    def _make_folder(self, name: str) -> None:
        folder = name.rpartition("/")[0]
        if folder in self._folders:
            return
        for attempt in range(_MADE_ATTEMPTS):
            try:
                self._call(folder, lambda files, path: files.makedirs(path, exist_ok=True))
                break
            except StorageError:
                # Some servers fail if two requests create a folder at the same time.
                if attempt == _MADE_ATTEMPTS - 1:
                    raise
        self._folders.add(folder)

    def _temporary(self, key: str) -> str:
        # Unique, because two processes may write the same key; see _incomplete.
        return f"{INCOMING}/{key.replace('/', '-')}.{secrets.token_hex(8)}"

    def _incomplete(self, key: str) -> list[str]:
        mine = f"{INCOMING}/{key.replace('/', '-')}."
        return [name for name, _ in self._listed(INCOMING) if name.startswith(mine)]

    def _entries(self, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, info in self._listed(folder):
            if name not in (folder, INCOMING):
                yield name, info

    def _listed(self, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
        try:
            infos = self._call(folder, lambda files, path: files.ls(path, detail=True))
        except ObjectNotFound:
            # Not created yet, or removed since the folder above was listed.
            return
        root = self._filesystem()[1].strip("/")
        for item in infos:
            yield item["name"].strip("/").removeprefix(root).strip("/"), item

    def _call(self, name: str, call: Callable[[AbstractFileSystem, str], _Result]) -> _Result:
        filesystem = self._filesystem()[0]
        with self._errors(name):
            return call(filesystem, self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._filesystem()[1]}/{name}".rstrip("/")

    def _filesystem(self) -> tuple[AbstractFileSystem, str]:
        """Return the filesystem of this process: its connections must not be shared with a fork."""
        with self._lock:
            if self._opened is None or self._process != os.getpid():
                with translated_errors():
                    self._opened, self._process = self._driver.open(), os.getpid()
            return self._opened

    @contextmanager
    def _errors(self, name: str) -> Iterator[None]:
        try:
            with translated_errors(name):
                yield
        except StorageUnavailable:
            # The next call opens it again, because broken connections do not recover. It is not closed:
            # other threads may be using it.
            self._forget()
            raise


def _stat(key: str, info: dict[str, Any]) -> ObjectStat:
    return ObjectStat(key, info["size"], _milliseconds(info))


def _milliseconds(info: dict[str, Any]) -> int | None:
    time = next((info[name] for name in _TIMES if info.get(name) is not None), None)
    if isinstance(time, datetime):
        return int(time.timestamp() * 1000)
    return int(time * 1000) if isinstance(time, int | float) else None
