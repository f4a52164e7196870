"""A bucket as a PyFilesystem, based on fs-s3fs.

fs-s3fs provides paths, folder markers, and the checks and errors of PyFilesystem. This class replaces
the operations for which fs-s3fs copies whole files, makes several requests, or uses its own client:
reading, writing, file information, listing and signing use the client and the streams of the backend.

A folder exists if it has a marker or contains an object, so objects stored by other programs are
found. The backend itself needs no folders; see :mod:`strongroom_storage_s3.backend`.
"""

# ruff: noqa: ARG002  the signatures are PyFilesystem's

import io
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from itertools import islice
from typing import IO, Any

from fs import ResourceType, errors
from fs.info import Info
from fs.mode import Mode
from fs.path import basename, dirname
from fs.subfs import SubFS
from fs_s3fs import S3FS  # type: ignore[import-untyped]  # it has no types

from strongroom.plugin_api.object_files import EditedFile, ObjectReader, TextModes
from strongroom.plugin_api.storage import ObjectNotFound
from strongroom_storage_s3.client import LazyClient
from strongroom_storage_s3.errors import translated_errors
from strongroom_storage_s3.object_files import ObjectWriter, bucket_errors, open_body
from strongroom_storage_s3.options import S3Options
from strongroom_storage_s3.upload import Upload

CHUNK_SIZE = 256 * 1024


class StrongroomS3FS(TextModes, S3FS):  # type: ignore[misc]  # its base has no types
    """The configured bucket, below the configured prefix. Thread-safe.

    Args:
        options: the backend's options.
        url_lifetime: lifetime of the URLs of :meth:`geturl`, in seconds.
        client: the client of a backend, which stays open; by default, the filesystem has its own.
    """

    def __init__(
        self, options: S3Options, *, url_lifetime: int = 900, client: LazyClient | None = None
    ) -> None:
        self._options = options
        self._url_lifetime = url_lifetime
        self._is_shared = client is not None
        self._lazy_client = client or LazyClient(options, options.endpoint)
        super().__init__(
            options.bucket,
            dir_path=f"/{options.prefix.strip('/')}",
            aws_access_key_id=options.access_key_id,
            aws_secret_access_key=options.secret_access_key,
            aws_session_token=options.session_token,
            endpoint_url=options.endpoint,
            region=options.effective_region,
        )

    @property
    def client(self) -> Any:
        return self._lazy_client.get()

    def close(self) -> None:
        super().close()
        if not self._is_shared:
            self._lazy_client.close()

    def openbin(self, path: str, mode: str = "r", buffering: int = -1, **options: Any) -> Any:
        parsed = Mode(mode)
        parsed.validate_bin()
        self.check()
        path = self.validatepath(path)
        if parsed.create:
            self._require_writable(path, exclusive=parsed.exclusive)
        if not parsed.writing:
            return self._reader(path)
        if parsed.reading or parsed.appending:
            return self._editor(path, parsed)
        return ObjectWriter(path, self._upload(path))

    def upload(self, path: str, file: IO[bytes], chunk_size: int | None = None, **options: Any) -> None:
        self.check()
        path = self.validatepath(path)
        self._require_writable(path)
        self._store(path, file, chunk_size or CHUNK_SIZE)

    def getinfo(self, path: str, namespaces: Collection[str] | None = None) -> Info:
        self.check()
        info: Info = self._getinfo(path, namespaces)
        return info

    def isdir(self, path: str) -> bool:
        self.check()
        path = self.validatepath(path)
        return path == "/" or self._is_folder(path)

    def makedir(self, path: str, permissions: Any = None, recreate: bool = False) -> SubFS[Any]:
        self.check()
        path = self.validatepath(path)
        if not self.isdir(dirname(path)):
            raise errors.ResourceNotFound(path)
        if not self.exists(path):
            with bucket_errors(path):
                self.client.put_object(Bucket=self._bucket_name, Key=self._path_to_dir_key(path))
        elif not recreate:
            raise errors.DirectoryExists(path)
        return SubFS(self, path)

    def scandir(
        self,
        path: str,
        namespaces: Collection[str] | None = None,
        page: tuple[int, int] | None = None,
    ) -> Iterator[Info]:
        self.check()
        path = self.validatepath(path)
        items = self._children(path)
        return (
            Info(self._info_from_object(item, namespaces or ()))
            for item in (islice(items, *page) if page else items)
        )

    def files(self, prefix: str = "") -> Iterator[tuple[str, Info]]:
        """Yield all files of all folders, with their details, by one request per 1,000 objects.

        ``walk`` makes a request per folder, and its names are normalised.

        Args:
            prefix: only files whose key begins with it; it may end within a name.

        Yields:
            the key below the configured prefix, and the information.

        Raises:
            botocore.exceptions.ClientError: the store refuses the listing.
        """
        root = self._path_to_dir_key("/").lstrip("/")
        paginator = self.client.get_paginator("list_objects_v2")
        for page in paginator.paginate(Bucket=self._bucket_name, Prefix=f"{root}{prefix}"):
            for item in page.get("Contents", ()):
                # A key with a trailing slash is the marker of a folder.
                if not item["Key"].endswith("/"):
                    info = self._info_from_object(item, ("details",))
                    yield item["Key"].removeprefix(root), Info(info)

    def listdir(self, path: str) -> list[str]:
        return [info.name for info in self.scandir(path)]

    def isempty(self, path: str) -> bool:
        return next(self.scandir(path), None) is None

    def readbytes(self, path: str) -> bytes:
        with self.openbin(path) as file:
            content: bytes = file.read()
        return content

    def writebytes(self, path: str, contents: bytes) -> None:
        if not isinstance(contents, bytes):
            raise TypeError("contents must be bytes")
        self.upload(path, io.BytesIO(contents))

    def download(
        self, path: str, file: IO[bytes], chunk_size: int | None = None, **options: Any
    ) -> None:
        with self.openbin(path) as source:
            while chunk := source.read(chunk_size or CHUNK_SIZE):
                file.write(chunk)

    def remove(self, path: str) -> None:
        with bucket_errors(path):
            super().remove(path)

    def removedir(self, path: str) -> None:
        with bucket_errors(path):
            super().removedir(path)

    def copy(
        self, src_path: str, dst_path: str, overwrite: bool = False, preserve_time: bool = False
    ) -> None:
        # preserve_time is ignored because the store sets the modification time.
        with bucket_errors(src_path):
            super().copy(src_path, dst_path, overwrite=overwrite)

    def move(
        self, src_path: str, dst_path: str, overwrite: bool = False, preserve_time: bool = False
    ) -> None:
        super().move(src_path, dst_path, overwrite=overwrite)

    def geturl(self, path: str, purpose: str = "download") -> str:
        self.check()
        path = self.validatepath(path)
        if purpose != "download" or path == "/":
            raise errors.NoURL(path, purpose)
        with bucket_errors(path):
            url = self.client.generate_presigned_url(
                "get_object", self._at(path), ExpiresIn=self._url_lifetime
            )
        return str(url)

    def _at(self, path: str) -> dict[str, str]:
        return {"Bucket": self._bucket_name, "Key": self._path_to_key(path)}

    def _upload(self, path: str) -> Upload:
        return Upload(
            self.client,
            self._at(path),
            part_bytes=self._options.part_bytes,
            parts_in_flight=self._options.parts_in_flight,
            attributes=self._get_upload_args(path),
        )

    def _store(self, path: str, file: IO[bytes], chunk_size: int = CHUNK_SIZE) -> None:
        with bucket_errors(path), self._upload(path) as upload:
            while chunk := file.read(chunk_size):
                upload.write(chunk)

    def _reader(self, path: str) -> io.BufferedReader:
        info = self.getinfo(path, ["details"])
        if info.is_dir:
            raise errors.FileExpected(path)
        reader = ObjectReader(path, info.size, partial(self._open_from, path))
        return io.BufferedReader(reader, CHUNK_SIZE)

    def _open_from(self, path: str, position: int) -> AbstractContextManager[Iterator[bytes]]:
        request = {**self._at(path), "Range": f"bytes={position}-"}
        return open_body(self.client, request, CHUNK_SIZE)

    def _editor(self, path: str, mode: Mode) -> EditedFile:
        is_new = mode.truncate or (mode.appending and not self.exists(path))
        return EditedFile(
            load=None if is_new else partial(self.download, path),
            store=partial(self._store, path),
            append=mode.appending,
            changed=is_new,
        )

    def _require_writable(self, path: str, *, exclusive: bool = False) -> None:
        if not self.isdir(dirname(path)):
            raise errors.ResourceNotFound(path)
        if self.isdir(path):
            raise errors.FileExpected(path)
        if exclusive and self.exists(path):
            raise errors.FileExists(path)

    def _is_folder(self, path: str) -> bool:
        with bucket_errors(path):
            response = self.client.list_objects_v2(
                Bucket=self._bucket_name, Prefix=self._path_to_dir_key(path), MaxKeys=1
            )
        return "Contents" in response

    def _children(self, path: str) -> Iterator[Mapping[str, Any]]:
        folder = self._path_to_dir_key(path)
        paginator = self.client.get_paginator("list_objects_v2")
        pages = iter(paginator.paginate(Bucket=self._bucket_name, Prefix=folder, Delimiter="/"))
        exists = path == "/"
        while page := self._next_page(path, pages):
            folders = [{"Key": item["Prefix"]} for item in page.get("CommonPrefixes", ())]
            for item in (*folders, *page.get("Contents", ())):
                exists = True
                if item["Key"] != folder:
                    yield item
        if not exists:
            self.getinfo(path)
            raise errors.DirectoryExpected(path)

    def _next_page(self, path: str, pages: Iterator[Any]) -> Any:
        with bucket_errors(path):
            return next(pages, None)

    def _get_object(self, path: str, key: str) -> Mapping[str, Any]:
        """Return the object or the folder of this name, in the form of a listing entry."""
        key = key.rstrip("/")
        with bucket_errors(path):
            try:
                with translated_errors():
                    response = self.client.head_object(Bucket=self._bucket_name, Key=key)
            except ObjectNotFound:
                if not self._is_folder(path):
                    raise
                return {"Key": f"{key}/"}
        return {"Key": key, "Size": response["ContentLength"], "LastModified": response["LastModified"]}

    def _info_from_object(self, item: Mapping[str, Any], namespaces: Collection[str]) -> dict[str, Any]:
        key = item["Key"]
        is_dir = key.endswith("/")
        info: dict[str, Any] = {"basic": {"name": basename(key.rstrip("/")), "is_dir": is_dir}}
        if "details" in namespaces:
            kind = ResourceType.directory if is_dir else ResourceType.file
            info["details"] = {"type": int(kind), "size": item.get("Size", 0)}
            if "LastModified" in item:
                info["details"]["modified"] = item["LastModified"].timestamp()
        return info
