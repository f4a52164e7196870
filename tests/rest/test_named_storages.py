"""Files are in several storages, and each download reads the right one."""

from pathlib import Path

import pytest
from tests.support.api import Api
from tests.support.config import Table

from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import Inventory
from strongroom.extensions.storage_maintenance.migration import Migration, MigrationPlan

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
