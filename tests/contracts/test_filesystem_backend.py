"""The ready-made backend over PyFilesystem holds to the contract, whatever filesystem it is given."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from strongroom.plugin_api import NoOptions
from strongroom.plugin_api.filesystem import FilesystemBackend
from strongroom.plugin_api.storage import StorageBackend
from strongroom.testing.storage import StorageBackendContract

if TYPE_CHECKING:
    from fs.base import FS

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:fs")


class MemoryBackend(FilesystemBackend[NoOptions]):
    """Keeps objects in memory."""

    name = "memory"

    def open_filesystem(self) -> "FS":
        from fs.memoryfs import MemoryFS

        return MemoryFS()


class TestMemory(StorageBackendContract):
    # Its objects are in the memory that the test measures.
    large_size = 8 * 1024 * 1024

    @pytest.fixture
    def backend(self) -> MemoryBackend:
        return MemoryBackend(NoOptions())

    @pytest.mark.xfail(reason="the objects themselves lie in memory", strict=True)
    def test_memory_does_not_grow_with_the_object(self, backend: StorageBackend[Any], key: str) -> None:
        super().test_memory_does_not_grow_with_the_object(backend, key)


class FolderBackend(FilesystemBackend[NoOptions]):
    """Keeps objects in a folder."""

    name = "folder"
    root: Path

    def open_filesystem(self) -> "FS":
        from fs.osfs import OSFS

        return OSFS(str(self.root))


class TestFolder(StorageBackendContract):
    @pytest.fixture
    def backend(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FolderBackend:
        monkeypatch.setattr(FolderBackend, "root", tmp_path, raising=False)
        return FolderBackend(NoOptions())
