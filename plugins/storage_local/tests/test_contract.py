"""The local backend holds to the contract of storage backends."""

from pathlib import Path

import pytest

from strongroom.testing.storage import StorageBackendContract
from strongroom_storage_local.backend import LocalBackend
from strongroom_storage_local.options import LocalOptions


class TestLocalBackend(StorageBackendContract):
    appears_whole = True

    @pytest.fixture
    def backend(self, tmp_path: Path) -> LocalBackend:
        return LocalBackend(LocalOptions(root=tmp_path / "files"))

    @pytest.fixture
    def full_backend(self, tmp_path: Path) -> LocalBackend:
        return LocalBackend(LocalOptions(root=tmp_path / "full", reserve_bytes=10**18))
