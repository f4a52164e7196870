"""Event plugins in a real server: the subscriber of examples/tenant_folders."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.client import Client
from tests.support.databases import on_sqlite
from tests.support.examples import install, run_tests
from tests.support.server import EMAIL, Server, serving, write_config
from tests.support.waiting import wait_until

NAME = "tenant_folders"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = install(NAME, target=tmp_path / "site")
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)


@pytest.fixture
def server(tmp_path: Path, database_url: str, installed: None) -> Iterator[Server]:
    plugins = {
        "plugins": {"enabled": ["storage_local", NAME], NAME: {"names": ["One", "Two"]}},
    }
    with serving(write_config(tmp_path, database_url, plugins)) as server:
        server.create_user(EMAIL)
        yield server


@on_sqlite
def test_a_subscriber_creates_folders_in_new_tenants(server: Server) -> None:
    client = Client.logged_in(server.url, EMAIL)
    tenants = [client.make_tenant(name) for name in ("Acme", "Other")]
    for tenant in tenants:
        wait_until(lambda path=tenant: len(client.files(path)) == 2)  # type: ignore[misc]
        assert [item["name"] for item in client.files(tenant)] == ["One", "Two"]
    assert "delivered to tenant_folders.create" in server.command("doctor")


@pytest.mark.usefixtures("installed")
def test_its_own_tests_pass() -> None:
    run_tests(NAME)
