"""A storage backend for any PyFilesystem2 filesystem with a URL."""

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.filesystem import FilesystemBackend
from strongroom.plugin_api.storage import StorageBackend, StorageError

if TYPE_CHECKING:
    from fs.base import FS

API_VERSION = "2.0"


@dataclass(frozen=True, slots=True)
class PyFilesystemOptions:
    """The keys of a section ``[storages.NAME]`` with ``backend = "pyfilesystem"``."""

    url: str = option(
        secret=True,
        help="The PyFilesystem2 URL, such as ftp://user:password@host/folder or osfs:///srv/files; "
        "other schemes need their own packages.",
    )
    create: bool = option(True, help="Whether to create the folder if it is missing.", advanced=True)

    def __post_init__(self) -> None:
        # PyFilesystem would treat it as the path of a folder, and create that folder.
        if "://" not in self.url:
            raise ValueError("url: must be like ftp://host/folder or osfs:///srv/files")


class PyFilesystemBackend(FilesystemBackend[PyFilesystemOptions]):
    """Stores each object as a file of the filesystem at a URL."""

    name = "pyfilesystem"
    options_type = PyFilesystemOptions

    def open_filesystem(self) -> "FS":
        return self._open(create=False)

    def create_folder(self) -> None:
        if self.options.create:
            self._open(create=True).close()

    def _open(self, *, create: bool) -> "FS":
        # Imported lazily, because deployments with another backend do not need it. Its use of
        # pkg_resources warns on import.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from fs import open_fs
            from fs.opener.errors import OpenerError

        try:
            return open_fs(self.options.url, writeable=True, create=create)
        except OpenerError as error:
            # The message of the error may contain the URL, and with it a password.
            scheme = self.options.url.partition("://")[0]
            raise StorageError(
                f"no installed package opens URLs of this scheme: {scheme}://..."
            ) from error


@hookimpl
def register_storage_backends() -> list[type[StorageBackend[Any]]]:
    return [PyFilesystemBackend]
