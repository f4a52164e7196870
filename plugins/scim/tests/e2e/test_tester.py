"""The checks of ``scim2-tester`` against a server that listens on a port."""

from pathlib import Path

import httpx2
import pytest
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server
from tests.support.api import PASSWORD, Api
from tests.support.config import lifted, merged, read_toml, write_toml
from tests.support.databases import on_sqlite
from tests.support.directories import SCIM, Company
from tests.support.server import serving

from strongroom.clock import SystemClock
from strongroom.testing.server import free_port

pytestmark = [
    on_sqlite,
    pytest.mark.config(merged(lifted(), {"plugins": {"enabled": ["storage_local", "scim"]}})),
]


@pytest.fixture
def clock() -> SystemClock:
    """The clock of the server, so that the keys are valid there."""
    return SystemClock()


GOOD = {Status.SUCCESS, Status.COMPLIANT, Status.ACCEPTABLE, Status.SKIPPED}


def check(config: Path, key: str) -> None:
    port = free_port()
    address = {"server": {"port": port, "public_url": f"http://127.0.0.1:{port}"}}
    tested = write_toml(config.with_name("tested.toml"), read_toml(config), address)
    with serving(tested) as server:
        headers = {"Authorization": f"Bearer {key}"}
        url = f"{server.url}{SCIM}"
        with httpx2.Client(base_url=url, headers=headers, timeout=60) as client:
            results = check_server(SyncSCIMClient(client))
    faults = [
        f"{result.status.name} {result.title}: {result.reason}"
        for result in results
        if result.status not in GOOD
    ]
    assert not faults, "\n".join(faults)
    assert len([item for item in results if item.status is not Status.SKIPPED]) > 50


def test_a_directory_of_a_tenant_passes_all_checks(api: Api, config: Path) -> None:
    check(config, Company.made(api).key)


def test_a_directory_of_the_server_passes_all_checks(api: Api, config: Path) -> None:
    root = api.person(admin=True)
    account = api.post("/api/v1/service-accounts", {"name": "HR"}, by=root).json["id"]
    body = {"name": "key", "scopes": ["users:write"], "currentPassword": PASSWORD}
    key = api.post(f"/users/{account}/access-keys", body, by=root).json["key"]
    host = api.container.hosts.get("storage_local")
    with host.acting_as(root.id):
        host.provisioning.register_directory(None, "HR", account)
    check(config, key)
