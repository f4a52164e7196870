"""Run the contract of all storage backends, and test the mount check of this one."""

from pathlib import Path

import pytest
from strongroom_storage_network_folder.plugin import NetworkFolderBackend, NetworkFolderOptions

from strongroom.plugin_api.storage import StorageUnavailable
from strongroom.testing.storage import StorageBackendContract


class TestNetworkFolderBackend(StorageBackendContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> NetworkFolderBackend:
        return NetworkFolderBackend(NetworkFolderOptions(mount=tmp_path, check_mount=False))


def test_a_share_that_is_away_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailable, match="nothing is mounted"):
        NetworkFolderBackend(NetworkFolderOptions(mount=tmp_path))
    assert list(tmp_path.iterdir()) == []
