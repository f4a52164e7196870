"""The third-party plugin of examples/storage_network_folder, installed as its users would."""

import os
from pathlib import Path

import pytest

from tests.e2e.client import Client
from tests.support.commands import run_command
from tests.support.examples import install, run_tests
from tests.support.server import free_port, serving
from tests.support.stores import stored_files

CONFIG = """
[server]
port = {port}
data_dir = "{folder}/data"
[plugins]
enabled = ["storage_network_folder"]
[storages.main]
backend = "network_folder"
mount = "{folder}/share"
check_mount = {check_mount}
[login]
methods = ["password"]
[passwords]
bcrypt_cost = 4
"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install("storage_network_folder", target=tmp_path_factory.mktemp("installation"))


@pytest.fixture(autouse=True)
def installed(installation: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(installation), prepend=os.pathsep)


def write_config(folder: Path, *, check_mount: bool) -> Path:
    (folder / "share").mkdir()
    path = folder / "strongroom.toml"
    values = {"port": free_port(), "folder": folder, "check_mount": str(check_mount).lower()}
    path.write_text(CONFIG.format(**values))
    return path


def test_it_takes_uploads_and_gives_them_back(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    with serving(write_config(tmp_path, check_mount=False)) as server:
        server.create_user("alice@example.com")
        client = Client.logged_in(server.url, "alice@example.com")
        tenant = client.make_tenant("Acme")
        node = client.upload(tenant, "report.bin", content)
        assert client.download(tenant, node["id"]) == content
    (kept,) = stored_files(tmp_path / "share" / "strongroom")
    assert kept.read_bytes() == content


def test_a_share_that_is_away_stops_the_start_with_one_line(tmp_path: Path) -> None:
    config = write_config(tmp_path, check_mount=True)
    result = run_command("serve", "--config", str(config))
    assert result.returncode == 2
    # The last line, for fs itself warns of pkg_resources.
    assert result.stderr.splitlines()[-1] == (
        f"strongroom: {config}:7: storages.main: cannot be opened: "
        f"nothing is mounted at {tmp_path}/share"
    )
    assert "Traceback" not in result.stderr


def test_its_contract_tests_all_pass() -> None:
    run_tests("storage_network_folder")
