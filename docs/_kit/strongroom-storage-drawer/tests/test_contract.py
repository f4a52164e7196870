"""The contract that every storage backend holds to."""

from pathlib import Path

import pytest
from strongroom.testing.storage import StorageBackendContract

from strongroom_storage_drawer.backend import DrawerBackend
from strongroom_storage_drawer.options import DrawerOptions


class TestDrawerBackend(StorageBackendContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> DrawerBackend:
        return DrawerBackend(DrawerOptions(root=tmp_path))
