"""A plugin that fails to erase keeps no files, no tenants and no rows of other plugins permanently."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, func, select
from tests.support.api import Api
from tests.support.config import write_api_config
from tests.support.shares import PLUGINS, Shared

from strongroom.assembly.pruning import PruneFailed
from strongroom.content.nodes import file_erasers
from strongroom.content.nodes.file_erasers import failed_erasures
from strongroom.content.nodes.models import nodes
from strongroom.content.tenants.models import tenants
from strongroom.testing.clock import HOUR
from strongroom_share_links.models import links

DAY = 24 * HOUR

# It writes before it fails, so that a savepoint is needed; on PostgreSQL also the statement fails.
FAULTY = """
import sqlalchemy as sa
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.pruning import PruneStep

API_VERSION = "2.0"
FAILS, CALLS = [], []

def erase(transaction, removed):
    CALLS.append((removed.tenant_id, tuple(removed.ids)))
    if FAILS and FAILS[0] in (True, *removed.ids):
        transaction.execute(sa.text("DELETE FROM share_links_links"))
        transaction.execute(sa.text("DELETE FROM missing"))

def erase_tenant(tenant_id):
    CALLS.append(tenant_id)
    if FAILS:
        raise ValueError("no")

def prune():
    CALLS.append("prune")
    return 1 // (0 if FAILS else 1)

@hookimpl
def register_file_erasers(host):
    return [erase]

@hookimpl
def register_tenant_erasers(host):
    return [erase_tenant]

@hookimpl
def register_prune_steps(host):
    return [PruneStep("rows", prune)]
"""


@dataclass
class Place:
    """A tenant with shares, on a server with a plugin that fails while ``fails`` has an item."""

    api: Api
    shared: Shared
    fails: list[bool | str]
    calls: list[Any]

    def count(self, table: Table) -> int:
        with self.api.container.database.read() as connection:
            return int(connection.execute(select(func.count()).select_from(table)).scalar_one())

    def delete(self, path: str) -> None:
        reply = self.api.delete(f"{self.shared.tenant}{path}", by=self.shared.admin)
        assert reply.status_code == 200, reply.text

    def prune(self) -> tuple[dict[str, int], str]:
        """Prune; return the counts of the steps, and the text of the failure."""
        counts: dict[str, int] = {}
        try:
            counts.update(self.api.container.prune_job().run())
        except PruneFailed as error:
            return counts, str(error)
        return counts, ""


@pytest.fixture
def place(tmp_path: Path, database_url: str, request: pytest.FixtureRequest) -> Iterator[Place]:
    (folder := tmp_path / "plugins.d").mkdir()
    (folder / "faulty.py").write_text(FAULTY)
    # The faulty plugin is the last one, so that its erasers are called first.
    plugins = {"plugins": {"enabled": PLUGINS, "folder": str(folder)}}
    with Api.running(
        write_api_config(tmp_path, database_url, plugins, getattr(request, "param", {}))
    ) as api:
        plugin = next(p for p in api.container.selection.plugins.plugins if p.name == "faulty")
        yield Place(api, Shared.made(api), plugin.module.FAILS, plugin.module.CALLS)


def test_a_purge_removes_the_files_and_calls_the_eraser_again(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    shared, before = place.shared, place.count(nodes)
    kept = shared.share(shared.outside, by=shared.admin)
    for node in (shared.folder, shared.picture):
        shared.share(node)
    place.fails.append(True)
    place.delete(f"/files/{shared.folder}")
    place.delete(f"/trash/{shared.folder}")
    # The folder with its folder and two files is gone, with the rows of the other plugin.
    assert place.count(nodes) == before - 4
    with place.api.container.database.read() as connection:
        assert connection.execute(select(links.c.id)).scalars().all() == [kept.share["id"]]
    line = next(each.message for each in caplog.records if "register_file_erasers" in each.message)
    assert line.startswith('plugin "faulty"')
    assert line.endswith("repeated by the job core.prune")
    # Leaves first, so that the folder is erased in several calls.
    missed = list(place.calls)
    counts, failure = place.prune()
    assert "failed erasures of plugins: ErasuresFailed: faulty cannot remove rows" in failure
    # The steps after the failed one ran.
    assert list(counts)[-1] == "share_links.shares"
    assert place.count(links) == 1
    place.fails.clear()
    place.calls.clear()
    assert place.prune()[0]["failed erasures of plugins"] == 4
    assert [call for call in place.calls if isinstance(call, tuple)] == missed
    erased = {node for _, ids in missed for node in ids}
    assert erased == {shared.folder, shared.inside, shared.file, shared.picture}
    assert place.count(failed_erasures) == 0
    assert place.prune()[0]["failed erasures of plugins"] == 0


def test_a_removal_that_fails_permanently_delays_no_other(place: Place) -> None:
    shared = place.shared
    place.fails.append(True)
    for node in (shared.folder, shared.outside):
        place.delete(f"/files/{node}")
        place.delete(f"/trash/{node}")
    assert place.count(failed_erasures) > 1
    # Only the first removal fails from now on.
    place.fails[:] = [shared.folder]
    place.calls.clear()
    assert "ErasuresFailed: faulty cannot remove rows" in place.prune()[1]
    erased = {node for call in place.calls if isinstance(call, tuple) for node in call[1]}
    assert shared.outside in erased
    assert place.count(failed_erasures) == 1
    place.fails.clear()
    assert place.prune()[0]["failed erasures of plugins"] >= 1
    assert place.count(failed_erasures) == 0


def test_a_tenant_stays_until_it_is_erased_and_keeps_no_other(place: Place) -> None:
    shared, api = place.shared, place.api
    shared.share(shared.outside, by=shared.admin)
    other = api.tenant(shared.admin)
    place.fails.append(True)
    place.delete("")
    assert api.delete(other, by=shared.admin).status_code == 200
    api.clock.advance(31 * DAY)
    counts, failure = place.prune()
    assert "deleted tenants: TenantsNotErased: " in failure
    assert "deleted tenants" not in counts
    # Both were erased but for the plugin, whose eraser was called for both.
    assert {call for call in place.calls if isinstance(call, str)} >= {
        shared.tenant.rpartition("/")[2],
        other.rpartition("/")[2],
    }
    assert (place.count(nodes), place.count(links), place.count(tenants)) == (0, 0, 2)
    files = {node for call in place.calls if isinstance(call, tuple) for node in call[1]}
    assert {shared.outside, shared.folder, shared.picture} <= files
    place.fails.clear()
    assert place.prune()[0]["deleted tenants"] == 2
    assert place.count(tenants) == 0


def test_a_prune_step_that_fails_is_named_and_the_others_run(place: Place) -> None:
    place.fails.append(True)
    counts, failure = place.prune()
    assert failure.startswith("faulty.rows: ZeroDivisionError")
    assert {"captchas", "share_links.shares"} <= counts.keys()
    place.fails.clear()
    assert place.prune() == ({**counts, "faulty.rows": 1}, "")


@pytest.mark.parametrize("place", [{"files": {"trash": {"enabled": False}}}], indirect=True)
def test_without_a_trash_a_deletion_erases_a_folder_in_parts(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_erasers, "IDS_AT_ONCE", 3)
    shared = place.shared
    place.delete(f"/files/{shared.folder}")
    assert [len(ids) for _, ids in place.calls] == [3, 1]
    assert {tenant for tenant, _ in place.calls} == {shared.tenant.rpartition("/")[2]}
    erased = {node for _, ids in place.calls for node in ids}
    assert erased == {shared.folder, shared.inside, shared.file, shared.picture}
