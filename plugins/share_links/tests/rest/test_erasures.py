"""Shares go with their files, with their tenant, and when they ended long ago."""

import pytest
from tests.support.api import Api
from tests.support.shares import ALL_KINDS, PLUGINS, Shared

from strongroom.testing.clock import HOUR
from strongroom_share_links.models import links, metadata

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


def test_the_command_prune_removes_shares_that_ended_long_ago(shared: Shared) -> None:
    visitor = shared.share()
    visitor.get()
    visitor.get(f"/files/{shared.file}/download")
    shared.api.clock.advance(89 * DAY)
    assert dict(shared.api.container.prune_job().run())["share_links.shares"] == 0
    shared.api.clock.advance(100 * DAY)
    assert dict(shared.api.container.prune_job().run())["share_links.shares"] == 1
    assert remaining(shared) == {}
