"""The backend: where bytes are kept."""

from fs.base import FS
from fs.osfs import OSFS
from strongroom.plugin_api.filesystem import FilesystemBackend

from strongroom_storage_drawer.options import DrawerOptions


class DrawerBackend(FilesystemBackend[DrawerOptions]):
    """Keeps each object as one file of a PyFilesystem.

    Return another filesystem from ``open_filesystem``, and the rest stays as it is. What the store
    does better by itself (put, a range, a copy, a signed URL) override here.
    """

    name = "drawer"
    options_type = DrawerOptions

    def open_filesystem(self) -> FS:
        return OSFS(str(self.options.root), create=True)
