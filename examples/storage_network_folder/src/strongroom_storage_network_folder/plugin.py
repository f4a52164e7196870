"""A storage backend over a network folder: NFS, SMB, or whatever else can be mounted."""

from dataclasses import dataclass
from pathlib import Path

from fs.osfs import OSFS

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.filesystem import FilesystemBackend
from strongroom.plugin_api.storage import StorageUnavailable

API_VERSION = "1.0"


@dataclass(frozen=True, slots=True)
class NetworkFolderOptions:
    """The keys of a section ``[storages.NAME]`` with ``backend = "network_folder"``."""

    mount: Path = option(help="Where the share is mounted.")
    folder: str = option("strongroom", help="The folder of the share to keep files in.")
    check_mount: bool = option(True, help="Whether to refuse to start while nothing is mounted there.")


class NetworkFolderBackend(FilesystemBackend[NetworkFolderOptions]):
    """Keeps each object as a file of the share."""

    name = "network_folder"
    options_type = NetworkFolderOptions

    def open_filesystem(self) -> OSFS:
        # Without its share, a mount point is a local folder that would swallow files.
        if self.options.check_mount and not self.options.mount.is_mount():
            raise StorageUnavailable(f"nothing is mounted at {self.options.mount}")
        return OSFS(str(self.options.mount / self.options.folder), create=True)


@hookimpl
def register_storage_backends() -> list[type[NetworkFolderBackend]]:
    return [NetworkFolderBackend]
