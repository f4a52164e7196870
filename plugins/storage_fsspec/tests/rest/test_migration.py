"""Files move between a PyFilesystem and fsspec."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import Api
from tests.support.config import change_config

from strongroom.extensions.storage_maintenance.fsck import StorageCheck
from strongroom.extensions.storage_maintenance.migration import Migration, MigrationPlan

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:fs")

CONTENT = b"content" * 1000


@pytest.fixture
def fsspec_api(config: Path, tmp_path: Path) -> Iterator[Api]:
    storages = {
        "old": {"backend": "pyfilesystem", "url": f"osfs://{tmp_path}/old"},
        "new": {"backend": "fsspec", "url": f"file://{tmp_path}/new"},
    }
    enabled = {"enabled": ["storage_local", "storage_fsspec"]}
    change_config(config, {"plugins": enabled, "storages": storages, "files": {"storage": "old"}})
    with Api.running(config) as api:
        yield api


def test_files_move_from_a_pyfilesystem_to_fsspec_and_back(fsspec_api: Api) -> None:
    api = fsspec_api
    tenant = api.tenant(alice := api.person())
    node = api.upload(tenant, alice, "a.bin", CONTENT)
    services = api.container
    for source, target in (("old", "new"), ("new", "old")):
        report = services.get(Migration).run(MigrationPlan(source, target, grace=0))
        assert (report.moved, report.damaged) == (1, [])
        assert api.get(f"{tenant}/files/{node['id']}/download", by=alice).data == CONTENT
        assert list(services.get(StorageCheck).run(checksums=True)) == []
