"""What differs between the filesystems of fsspec, and how one is opened."""

from collections.abc import Callable
from typing import Final

from fsspec.core import url_to_fs
from fsspec.dircache import DirCache
from fsspec.registry import get_filesystem_class
from fsspec.spec import AbstractFileSystem
from fsspec.utils import get_protocol

from strongroom.plugin_api.storage import CHUNK_SIZE, StorageError
from strongroom_storage_fsspec.options import FsspecOptions

_WEBDAV: Final = frozenset({"webdav", "dav"})

_ATOMIC_COPY: Final = frozenset({"memory", "s3", "s3a", "gs", "gcs", "abfs", "az", "oss", "cos"})
"""Filesystems whose copy appears at once, so the inherited ``mv``, a copy and a deletion, is safe."""

_SERVER_SIDE_COPY: Final = _ATOMIC_COPY | _WEBDAV
"""Filesystems that copy without transferring the bytes through this process."""

_VISIBLE_WHILE_WRITTEN: Final = _WEBDAV | {"file", "local", "memory", "sftp", "ssh"}
"""Filesystems whose writers do not publish an object atomically."""

_UNVERIFIED: Final = "fsspec.implementations.sftp"

Rename = Callable[[str, str], object]


class Driver:
    """The filesystem of a URL.

    Args:
        options: the backend's options.

    Raises:
        StorageError: no installed package opens the URL, or it cannot publish as configured.
    """

    def __init__(self, options: FsspecOptions) -> None:
        self._options = options
        self.protocol: str = get_protocol(options.url)
        self._arguments = dict(options.options)
        kind = _find_class(self.protocol)
        if kind.__module__ == _UNVERIFIED:
            # It accepts any host key, so another machine could receive the files.
            raise StorageError(
                "fsspec's SFTP does not verify the host; pip install sshfs, and use ssh://"
            )
        if self.protocol in {"ssh", "sftp"}:
            # sshfs would not verify the host either; the empty tuple means ~/.ssh/known_hosts.
            self._arguments.setdefault("known_hosts", ())
        self._require_publishing(kind)

    @property
    def copies(self) -> bool:
        """Whether the store copies objects itself."""
        return self.protocol in _SERVER_SIDE_COPY

    @property
    def shares_readers(self) -> bool:
        """Whether all readers of an object share one position."""
        return self.protocol == "memory"

    @property
    def block_size(self) -> int | None:
        """How many bytes a file transfers at a time; ``None`` is the filesystem's own choice."""
        # A file of WebDAV holds several blocks in memory, each of 4 or 5 MiB by default.
        return CHUNK_SIZE if self.protocol in _WEBDAV else None

    def open(self) -> tuple[AbstractFileSystem, str]:
        """Return a new instance of the filesystem, and the path of the folder in it."""
        # Instances are cached per process by default, and would stay broken after an outage.
        filesystem, root = url_to_fs(self._options.url, skip_instance_cache=True, **self._arguments)
        # Not an argument, because most filesystems would pass it on to their client.
        filesystem.dircache = DirCache(use_listings_cache=False)
        return filesystem, root.rstrip("/")

    def renaming(self, filesystem: AbstractFileSystem) -> Rename:
        """Return the function that renames a file."""
        if self.protocol in _WEBDAV:
            # Its mv copies a file and then deletes it, although the protocol has MOVE.
            move: Rename = filesystem.client.move
            return move
        rename: Rename = filesystem.mv
        return rename

    def close(self, filesystem: AbstractFileSystem) -> None:
        """Close the connections of a filesystem, for those that do not when they are deleted."""
        if self.protocol in _WEBDAV:
            filesystem.client.http.close()

    def _require_publishing(self, kind: type[AbstractFileSystem]) -> None:
        if self._options.publish == "direct":
            if self.protocol in _VISIBLE_WHILE_WRITTEN:
                raise StorageError(f'{self.protocol} shows half objects; use publish = "rename"')
        elif not _has_rename(kind) and self.protocol not in _ATOMIC_COPY:
            raise StorageError(f'{self.protocol} cannot rename; use publish = "direct"')


def _find_class(protocol: str) -> type[AbstractFileSystem]:
    try:
        kind: type[AbstractFileSystem] = get_filesystem_class(protocol)
    except (ImportError, ValueError) as error:
        raise StorageError(str(error)) from error
    return kind


def _has_rename(kind: type[AbstractFileSystem]) -> bool:
    return kind.mv is not AbstractFileSystem.mv or hasattr(kind, "_mv")
