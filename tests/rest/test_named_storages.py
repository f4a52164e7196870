"""Files are in several storages, and each download reads the right one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import Api
from tests.support.config import Table, change_config

from strongroom.content.storage.fsck import StorageCheck
from strongroom.content.storage.migration import Migration, MigrationPlan
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import Inventory

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:fs")

CONTENT = b"content" * 1000


@pytest.fixture
def config_changes(tmp_path: Path) -> Table:
    return {"storages": {"second": {"backend": "pyfilesystem", "url": f"osfs://{tmp_path}/second"}}}


def test_new_files_go_to_the_one_chosen_and_old_ones_are_found_where_they_are(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    services = api.container
    moved = api.upload(tenant, alice, "moved.bin", CONTENT)
    services.get(Migration).run(MigrationPlan("main", "second", grace=0))
    stayed = api.upload(tenant, alice, "stayed.bin", CONTENT)
    holdings = {item.storage: item.files for item in services.get(Inventory).holdings()}
    assert holdings == {"main": 1, "second": 1}
    for node in (moved, stayed):
        path = f"{tenant}/files/{node['id']}/download"
        assert api.get(path, by=alice).data == CONTENT
        part = api.get(path, by=alice, headers={"Range": "bytes=7-13"})
        assert (part.status_code, part.data) == (206, b"content")
    assert api.delete(f"{tenant}/files/{moved['id']}?permanently=true", by=alice).status_code == 200
    assert [len(list(store.scan())) for store in services.get(BlobService).storages.values()] == [1, 0]


def test_an_unavailable_storage_is_not_named(api: Api, tmp_path: Path) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    node = api.upload(tenant, alice, "a.bin", CONTENT)
    del api.container.get(BlobService).storages["main"]
    answer = api.get(f"{tenant}/files/{node['id']}/download", by=alice)
    assert answer.status_code == 500
    assert "main" not in answer.text


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
