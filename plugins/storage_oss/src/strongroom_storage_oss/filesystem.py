"""OSS as a PyFilesystem."""

# ruff: noqa: ARG002  the signatures are PyFilesystem's

from collections.abc import Collection, Iterator
from functools import partial
from io import BufferedReader, BytesIO
from itertools import islice
from typing import Any, BinaryIO, cast

from fs import errors
from fs.base import FS
from fs.info import Info
from fs.mode import Mode
from fs.path import basename, dirname
from fs.permissions import Permissions
from fs.subfs import SubFS
from fs.tools import copy_file_data

from strongroom.plugin_api.object_files import EditedFile, ObjectReader, TextModes, filesystem_errors
from strongroom.plugin_api.storage import ObjectNotFound
from strongroom_storage_oss.client import CHUNK_SIZE, OssClient
from strongroom_storage_oss.entries import file_info, folder_info, folder_key
from strongroom_storage_oss.multipart import copy_object
from strongroom_storage_oss.options import OssOptions
from strongroom_storage_oss.signing import UrlSigner
from strongroom_storage_oss.writing import SequentialFile, load_object, store_object

URL_LIFETIME = 900
"""Lifetime of the URLs of :meth:`OssFS.geturl`, in seconds."""


class OssFS(TextModes, FS):
    """The objects of a bucket, or of a folder in it, as files.

    A folder is a common prefix of keys, or an empty object whose key ends in a slash, which
    :meth:`makedir` creates. A folder without such an object disappears with its last file.
    """

    _meta = {  # noqa: RUF012  declared by FS
        "case_insensitive": False,
        "invalid_path_chars": "\0",
        "network": True,
        "read_only": False,
        "supports_mtime": False,
        "supports_rename": False,
        "thread_safe": True,
        "unicode_paths": True,
        "virtual": False,
    }

    def __init__(self, options: OssOptions) -> None:
        super().__init__()
        self._options = options
        self._client = OssClient(options)
        self._signer = UrlSigner(options)

    def __repr__(self) -> str:
        return f"OssFS({self._options.bucket!r}, {self._options.key_prefix!r})"

    def __str__(self) -> str:
        return f"<ossfs {self._options.bucket}/{self._options.key_prefix}>"

    def close(self) -> None:
        if not self.isclosed():
            self._client.close()
            self._signer.close()
        super().close()

    def getinfo(self, path: str, namespaces: Collection[str] | None = None) -> Info:
        info = self._find(self.validatepath(path))
        if info is None:
            raise errors.ResourceNotFound(path)
        return info

    def setinfo(self, path: str, info: Any) -> None:
        self.getinfo(path)

    def listdir(self, path: str) -> list[str]:
        return [info.name for info in self.scandir(path)]

    def scandir(
        self,
        path: str,
        namespaces: Collection[str] | None = None,
        page: tuple[int, int] | None = None,
    ) -> Iterator[Info]:
        entries = self._scan(self.validatepath(path))
        return islice(entries, *page) if page else entries

    def makedir(
        self, path: str, permissions: Permissions | None = None, recreate: bool = False
    ) -> SubFS[FS]:
        path = self.validatepath(path)
        info = self._find(path)
        if info is None:
            self._require_folder(dirname(path))
            with filesystem_errors(path):
                self._client.put(folder_key(path), BytesIO())
        elif not info.is_dir or not recreate:
            raise errors.DirectoryExists(path)
        return SubFS(self, path)

    def openbin(self, path: str, mode: str = "r", buffering: int = -1, **options: Any) -> BinaryIO:
        how = Mode(mode)
        how.validate_bin()
        path = self.validatepath(path)
        info = self._find(path)
        if how.create:
            self._require_target(path, info)
        if info and how.exclusive:
            raise errors.FileExists(path)
        if not info and not how.create:
            raise errors.ResourceNotFound(path)
        if info and info.is_dir:
            raise errors.FileExpected(path)
        return cast("BinaryIO", self._open_file(path.lstrip("/"), how, info))

    def remove(self, path: str) -> None:
        if self.getinfo(path).is_dir:
            raise errors.FileExpected(path)
        with filesystem_errors(path):
            self._client.delete(self.validatepath(path).lstrip("/"))

    def removedir(self, path: str) -> None:
        path = self.validatepath(path)
        if path == "/":
            raise errors.RemoveRootError
        self._require_folder(path)
        if not self.isempty(path):
            raise errors.DirectoryNotEmpty(path)
        with filesystem_errors(path):
            self._client.delete(folder_key(path))

    def removetree(self, dir_path: str) -> None:
        path = self.validatepath(dir_path)
        self._require_folder(path)
        with filesystem_errors(path):
            for page in self._client.pages(folder_key(path)):
                for stat in page.objects:
                    self._client.delete(stat.key)

    def copy(
        self, src_path: str, dst_path: str, overwrite: bool = False, preserve_time: bool = False
    ) -> None:
        source, target = self.validatepath(src_path), self.validatepath(dst_path)
        existing = self._find(target)
        if existing and not overwrite:
            raise errors.DestinationExists(target)
        if self.getinfo(source).is_dir:
            raise errors.FileExpected(source)
        self._require_target(target, existing)
        with filesystem_errors(source):
            copy_object(self._client, source.lstrip("/"), target.lstrip("/"))

    def move(
        self, src_path: str, dst_path: str, overwrite: bool = False, preserve_time: bool = False
    ) -> None:
        self.copy(src_path, dst_path, overwrite=overwrite)
        if self.validatepath(src_path) != self.validatepath(dst_path):
            self.remove(src_path)

    # The inherited methods hold a lock of the whole filesystem during the transfer.
    def upload(self, path: str, file: BinaryIO, chunk_size: int | None = None, **options: Any) -> None:
        with self.openbin(path, "w") as target:
            copy_file_data(file, target, chunk_size=chunk_size or CHUNK_SIZE)

    def download(self, path: str, file: BinaryIO, chunk_size: int | None = None, **options: Any) -> None:
        with self.openbin(path) as source:
            copy_file_data(source, file, chunk_size=chunk_size or CHUNK_SIZE)

    def geturl(self, path: str, purpose: str = "download") -> str:
        if purpose != "download":
            raise errors.NoURL(path, purpose)
        key = self.validatepath(path).lstrip("/")
        return self._signer.download(key, URL_LIFETIME, {})

    def _open_file(self, key: str, how: Mode, info: Info | None) -> object:
        if not how.writing:
            reader = ObjectReader(key, info.size if info else 0, partial(self._client.open, key))
            return BufferedReader(reader, CHUNK_SIZE)
        if not how.reading and not how.appending:
            return SequentialFile(self._client, key)
        is_new = info is None or how.truncate
        return EditedFile(
            load=None if is_new else partial(load_object, self._client, key),
            store=partial(store_object, self._client, key),
            append=how.appending,
            changed=is_new,
        )

    def _find(self, path: str) -> Info | None:
        if path == "/":
            return folder_info("")
        with filesystem_errors(path):
            try:
                return file_info(self._client.stat(path.lstrip("/")))
            except ObjectNotFound:
                page = next(self._client.pages(folder_key(path), size=1))
                return folder_info(basename(path)) if page.objects else None

    def _scan(self, path: str) -> Iterator[Info]:
        folder, exists = folder_key(path), path == "/"
        with filesystem_errors(path):
            for page in self._client.pages(folder, delimiter="/"):
                exists = exists or bool(page.objects or page.folders)
                yield from (folder_info(basename(key.rstrip("/"))) for key in page.folders)
                yield from (file_info(stat) for stat in page.objects if stat.key != folder)
        if not exists:
            self._require_folder(path)

    def _require_folder(self, path: str) -> None:
        if not self.getinfo(path).is_dir:
            raise errors.DirectoryExpected(path)

    def _require_target(self, path: str, existing: Info | None) -> None:
        if existing is None:
            self._require_folder(dirname(path))
        elif existing.is_dir:
            raise errors.FileExpected(path)
