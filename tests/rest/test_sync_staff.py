"""The one-file plugin examples/plugins.d/sync_staff.py: users follow a JSON file."""

import io
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.support.api import Api
from tests.support.commands import run_command
from tests.support.config import base_config, change_config, write_toml

from strongroom.testing.clock import HOUR, ManualClock

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins.d" / "sync_staff.py"
ADA = {"id": "hr-1", "name": "Ada", "email": "ada@example.com"}
BEA = {"id": "hr-2", "name": "Bea", "email": "bea@example.com"}


def serve(
    database_url: str, folder: Path, clock: ManualClock, prepare: Callable[[Api], Mapping[str, str]]
) -> AbstractContextManager[Api]:
    """Serve with the plugin; ``prepare`` returns its options, and is called by a server without it."""
    config = write_toml(folder / "strongroom.toml", base_config(folder, database_url))
    with Api.running(config, clock) as api:
        options = {"feed": str(folder / "staff.json"), **prepare(api)}
    (plugins := folder / "plugins.d").mkdir()
    shutil.copy(EXAMPLE, plugins)
    change_config(config, {"plugins": {"folder": str(plugins), "sync_staff": options}})
    return Api.running(config, clock)


@pytest.fixture
def synced(database_url: str, tmp_path: Path, clock: ManualClock) -> Iterator[tuple[Api, Path]]:
    """A server with the plugin, and the file."""

    def prepare(api: Api) -> Mapping[str, str]:
        return {"user_id": api.person(admin=True).id}

    with serve(database_url, tmp_path, clock, prepare) as api:
        yield api, tmp_path / "staff.json"


def sync(api: Api, feed: Path, *staff: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Run the job, and return the names and states of the staff by their ids."""
    feed.write_text(json.dumps(staff))
    api.clock.advance(HOUR)
    jobs = api.container.job_runner(api.container.jobs())
    jobs.register()
    jobs.run_now("sync_staff.sync")
    host = api.container.hosts.get("sync_staff")
    with host.acting_as(host.options.user_id):
        users = host.users.list().items
    return {user.external_id: (user.name, user.status) for user in users if user.external_id}


def test_the_file_fits_the_server() -> None:
    checked = run_command("plugins", "check", str(EXAMPLE))
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "sync_staff file fits this server" in checked.stdout


def test_users_are_created_renamed_suspended_and_reinstated(synced: tuple[Api, Path]) -> None:
    api, feed = synced
    assert sync(api, feed, ADA, BEA) == {"hr-1": ("Ada", "active"), "hr-2": ("Bea", "active")}
    renamed = {**ADA, "name": "Ada King"}
    assert sync(api, feed, renamed) == {"hr-1": ("Ada King", "active"), "hr-2": ("Bea", "suspended")}
    assert sync(api, feed, renamed, BEA)["hr-2"] == ("Bea", "active")


def test_users_who_left_long_ago_are_deleted(synced: tuple[Api, Path]) -> None:
    api, feed = synced
    sync(api, feed, ADA, BEA)
    assert sync(api, feed, ADA)["hr-2"] == ("Bea", "suspended")
    api.clock.advance(89 * 24 * HOUR)
    assert sync(api, feed, ADA)["hr-2"] == ("Bea", "suspended")
    api.clock.advance(24 * HOUR)
    assert sync(api, feed, ADA).keys() == {"hr-1"}


def test_a_taken_address_stops_only_its_person(synced: tuple[Api, Path]) -> None:
    api, feed = synced
    other = {**BEA, "email": ADA["email"]}
    third = {"id": "hr-3", "name": "Cat", "email": "cat@example.com"}
    assert sync(api, feed, ADA, other, third).keys() == {"hr-1", "hr-3"}


def test_two_processes_do_not_synchronize_at_once(synced: tuple[Api, Path]) -> None:
    api, feed = synced
    leases = api.container.hosts.get("sync_staff").leases
    lease = leases.acquire("sync", seconds=86_400)
    assert lease
    assert sync(api, feed, ADA) == {}
    assert leases.release(lease.id)
    assert sync(api, feed, ADA).keys() == {"hr-1"}


def test_the_staff_is_a_group_and_a_successor_gets_the_files_of_people_who_leave(
    database_url: str, tmp_path: Path, clock: ManualClock
) -> None:
    def prepare(api: Api) -> Mapping[str, str]:
        admin = api.person(admin=True)
        tenant = api.tenant(admin)
        group = api.post(f"{tenant}/groups", {"name": "Staff"}, by=admin).json["id"]
        ids = {"tenant_id": tenant.rpartition("/")[2], "group_id": group}
        return {"user_id": admin.id, "successor_id": admin.id, **ids}

    with serve(database_url, tmp_path, clock, prepare) as api:
        sync(api, tmp_path / "staff.json", ADA, BEA)
        host = api.container.hosts.get("sync_staff")
        options = host.options
        tenant, group = options.tenant_id, options.group_id
        with host.acting_as(options.user_id):
            staff = {user.external_id: user.id for user in host.users.list().items}
        ada, bea = staff[ADA["id"]], staff[BEA["id"]]

        def members() -> set[str]:
            return {user for user in (ada, bea) if host.tenants.find_groups(user, [tenant])}

        assert members() == {ada, bea}
        with host.acting_as(bea):
            file = host.files.upload(tenant, None, "notes.txt", io.BytesIO(b"notes")).id
        sync(api, tmp_path / "staff.json", ADA)
        assert members() == {ada}
        with host.acting_as(options.user_id):
            assert host.files.stat(tenant, file).owner_id == options.user_id
            assert [item.id for item in host.tenants.groups(tenant).items] == [group]
