"""Shares go with their files, with their tenant, and when they ended long ago."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.api import Api
from tests.support.databases import on_postgresql
from tests.support.interleaving import Interleaving
from tests.support.shares import ALL_KINDS, PLUGINS, Shared
from tests.support.waiting import PATIENCE_SECONDS

from strongroom.assembly.commands import assemble_backups, assemble_tenant_restoration
from strongroom.extensions.backup.restore_tenant import restore_tenant
from strongroom.testing.clock import HOUR
from strongroom_share_links.models import links, metadata
from strongroom_share_links.service import Shares

DAY = 24 * HOUR

pytestmark = pytest.mark.config({"plugins": {"enabled": PLUGINS, "share_links": {"kinds": ALL_KINDS}}})


@pytest.fixture
def shared(api: Api) -> Shared:
    return Shared.made(api)


def remaining(shared: Shared) -> dict[str, int]:
    """Return the number of rows of each table of the plugin that has any."""
    with shared.host.database.read() as tx:
        counts = {table.name: len(tx.all(table.select())) for table in metadata.sorted_tables}
    return {name: count for name, count in counts.items() if count}


def test_the_shares_of_files_in_a_purged_folder_are_removed(shared: Shared) -> None:
    kept = shared.share(shared.outside, by=shared.admin)
    for node in (shared.folder, shared.inside, shared.file, shared.picture):
        shared.share(node, audience={"userIds": ["someone"]}).get()
    path = f"{shared.tenant}/files/{shared.folder}"
    assert shared.api.delete(path, by=shared.admin).status_code == 200
    assert remaining(shared)["share_links_links"] == 5
    assert (
        shared.api.delete(f"{shared.tenant}/trash/{shared.folder}", by=shared.admin).status_code == 200
    )
    with shared.host.database.read() as tx:
        assert tx.scalars(links.select().with_only_columns(links.c.id)) == [kept.share["id"]]
    assert "share_links_people" not in remaining(shared)


def test_nothing_of_a_purged_tenant_remains(shared: Shared) -> None:
    visitor = shared.share(audience={"userIds": ["someone"]})
    shared.api.put(f"{shared.tenant}/share-policy", {"who": "manage"}, by=shared.admin)
    visitor.get()
    assert shared.api.delete(shared.tenant, by=shared.admin).status_code == 200
    shared.api.clock.advance(31 * DAY)
    assert dict(shared.api.container.prune_job().run())["deleted tenants"] == 1
    assert remaining(shared) == {}


def test_a_restored_tenant_has_its_policy_and_no_shares(shared: Shared, tmp_path: Path) -> None:
    shared.share()
    path = f"{shared.tenant}/share-policy"
    assert shared.api.put(path, {"who": "manage"}, by=shared.admin).status_code == 200
    assemble_backups(shared.api.container).create(tmp_path / "a.tar")
    former = shared.tenant.rpartition("/")[2]
    restoration = assemble_tenant_restoration(shared.api.container)
    restored = restore_tenant(restoration, tmp_path / "a.tar", former)
    policy = shared.api.get(f"/api/v1/tenants/{restored.id}/share-policy", by=shared.admin).json
    assert policy["who"] == "manage"
    assert remaining(shared) == {"share_links_links": 1, "share_links_policies": 2}


def test_the_command_prune_removes_shares_that_ended_long_ago(shared: Shared) -> None:
    visitor = shared.share()
    visitor.get()
    visitor.get(f"/files/{shared.file}/download")
    shared.api.clock.advance(89 * DAY)
    assert dict(shared.api.container.prune_job().run())["share_links.shares"] == 0
    shared.api.clock.advance(100 * DAY)
    assert dict(shared.api.container.prune_job().run())["share_links.shares"] == 1
    assert remaining(shared) == {}


@on_postgresql
@pytest.mark.parametrize("table", ["downloads", "uploads"])
def test_a_removal_locks_the_share_before_its_records(shared: Shared, table: str) -> None:
    """A download locks the share, then its row: the other order would be a deadlock."""
    visitor = shared.share(kind="write")
    assert visitor.get(f"/files/{shared.file}/download").status_code == 200
    headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "5", "Upload-Metadata": "filename YQ=="}
    assert visitor.send("POST", "/uploads", headers=headers).status_code == 201
    record = metadata.tables[f"share_links_{table}"].select().with_for_update(nowait=True)
    erase_tenant = shared.host.get_service(Shares).erase_tenant
    with ThreadPoolExecutor(1) as pool:
        with shared.host.database.write() as transaction:
            transaction.all(links.select().with_for_update())
            removal = pool.submit(erase_tenant, shared.tenant.rpartition("/")[2])
            Interleaving(shared.api.container.database).await_end_or_lock(removal)
            assert not removal.done()
            assert len(transaction.all(record)) == 1
        removal.result(PATIENCE_SECONDS)
    assert remaining(shared) == {}
