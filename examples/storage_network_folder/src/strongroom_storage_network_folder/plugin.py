"""A storage backend for a network share: NFS, SMB or anything else that can be mounted."""

from dataclasses import dataclass
from pathlib import Path

from fs.osfs import OSFS

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.filesystem import FilesystemBackend
from strongroom.plugin_api.storage import StorageUnavailable

API_VERSION = "2.0"


@dataclass(frozen=True, slots=True)
class NetworkFolderOptions:
    """The keys of a section ``[storages.NAME]`` with ``backend = "network_folder"``."""

    mount: Path = option(help="Mount point of the share.")
    folder: str = option("strongroom", help="Folder of the share for the files.")
    check_mount: bool = option(True, help="Refuse to start if nothing is mounted there.")


class NetworkFolderBackend(FilesystemBackend[NetworkFolderOptions]):
    """Stores each object as one file on the share."""

    name = "network_folder"
    options_type = NetworkFolderOptions

    def open_filesystem(self) -> OSFS:
        # An unmounted mount point is an ordinary local folder, which would take the files instead.
        if self.options.check_mount and not self.options.mount.is_mount():
            raise StorageUnavailable(f"nothing is mounted at {self.options.mount}")
        return OSFS(str(self._folder))

    def create_folder(self) -> None:
        self._folder.mkdir(exist_ok=True)

    @property
    def _folder(self) -> Path:
        return self.options.mount / self.options.folder


@hookimpl
def register_storage_backends() -> list[type[NetworkFolderBackend]]:
    return [NetworkFolderBackend]
