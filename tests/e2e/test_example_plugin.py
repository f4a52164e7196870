"""The third-party plugin of examples/storage_network_folder, installed as its users would."""

import os
from pathlib import Path

import pytest

from strongroom.cli.main import EXIT_UNAVAILABLE
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.config import change_config, main_storage
from tests.support.databases import on_sqlite
from tests.support.examples import install, run_tests
from tests.support.server import serving
from tests.support.stores import stored_files

pytestmark = pytest.mark.extended


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install("storage_network_folder", target=tmp_path_factory.mktemp("installation"))


@pytest.fixture(autouse=True)
def installed(installation: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(installation), prepend=os.pathsep)


@pytest.fixture
def server_config(server_config: Path, tmp_path: Path) -> Path:
    """A server whose files are on a share."""
    (tmp_path / "share").mkdir()
    share = {"backend": "network_folder", "mount": f"{tmp_path}/share", "check_mount": False}
    return change_config(server_config, *main_storage(share))


@on_sqlite
def test_it_takes_uploads_and_gives_them_back(server_config: Path, tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    with serving(server_config) as server:
        server.create_user("alice@example.com")
        client = Client.logged_in(server.url, "alice@example.com")
        tenant = client.make_tenant("Acme")
        node = client.upload(tenant, "report.bin", content)
        assert client.download(tenant, node["id"]) == content
    (kept,) = stored_files(tmp_path / "share" / "strongroom")
    assert kept.read_bytes() == content


@on_sqlite
def test_a_share_that_is_away_stops_the_start_with_one_line(server_config: Path, tmp_path: Path) -> None:
    change_config(server_config, {"storages": {"main": {"check_mount": True}}})
    result = run_command("serve", "--config", str(server_config))
    # The configuration may be right: the share may be mounted later.
    assert result.returncode == EXIT_UNAVAILABLE
    line = server_config.read_text().splitlines().index("[storages.main]") + 1
    # The last line, for fs itself warns of pkg_resources.
    assert result.stderr.splitlines()[-1] == (
        f"strongroom: {server_config}:{line}: storages.main: cannot be opened: "
        f"nothing is mounted at {tmp_path}/share"
    )
    assert "Traceback" not in result.stderr


def test_its_contract_tests_all_pass() -> None:
    run_tests("storage_network_folder")
