"""A storage in any PyFilesystem2 filesystem: whatever a URL opens that is installed."""

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.filesystem import FilesystemBackend
from strongroom.plugin_api.storage import StorageBackend, StorageError

if TYPE_CHECKING:
    from fs.base import FS

API_VERSION = "1.0"


@dataclass(frozen=True, slots=True)
class PyFilesystemOptions:
    """The keys of a section ``[storages.NAME]`` with ``backend = "pyfilesystem"``."""

    url: str = option(
        secret=True,
        help="What PyFilesystem2 opens, such as ftp://user:password@host/folder or osfs:///srv/files; "
        "other schemes come with the packages that bring them.",
    )
    create: bool = option(True, help="Whether the folder is made if it is missing.")

    def __post_init__(self) -> None:
        # PyFilesystem would take it for the path of a folder, and make that.
        if "://" not in self.url:
            raise ValueError("url: must be like ftp://host/folder or osfs:///srv/files")


class PyFilesystemBackend(FilesystemBackend[PyFilesystemOptions]):
    """Keeps each object as a file of the filesystem that a URL names."""

    name = "pyfilesystem"
    options_type = PyFilesystemOptions

    def open_filesystem(self) -> "FS":
        # Deployments with another backend need not load it.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from fs import open_fs
            from fs.opener.errors import OpenerError

        try:
            return open_fs(self.options.url, writeable=True, create=self.options.create)
        except OpenerError as error:
            # Its text may hold the URL, and so a password.
            scheme = self.options.url.partition("://")[0]
            raise StorageError(f"nothing that is installed opens such a URL: {scheme}://...") from error


@hookimpl
def register_storage_backends() -> list[type[StorageBackend[Any]]]:
    return [PyFilesystemBackend]
