"""Scans by real servers: clamd and the servers are killed, and nothing unscanned can be read."""

import shutil
import tempfile
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import pytest
from tests.support import clamd
from tests.support.campaign import campaign_size
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.config import Table, change_config, merged
from tests.support.server import EMAIL, Server, is_listening, serving, serving_nodes, write_config
from tests.support.waiting import wait_until

from strongroom.testing.scanning import eicar

pytestmark = pytest.mark.skipif(not clamd.is_installed(), reason="clamd is not installed")

FILES = campaign_size("SCANNED_FILES", 12)
BIG = bytes(2000)
UNREADABLE = {403, 409}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, for Unix sockets."""
    path = Path(tempfile.mkdtemp(prefix="clamd"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def scanning(folder: Path) -> Table:
    return {
        "plugins": {"enabled": ["storage_local", "scan_clamd"]},
        "scanning": {
            "scanners": ["clamd"],
            "clamd": {"socket": str(folder / "clamd.ctl"), "timeout_seconds": 5},
        },
        "advanced": {"scan_inline_max_bytes": 1000},
    }


def zip_with_padding(number: int) -> bytes:
    """Return an archive that is too large for an inline scan; every other one contains EICAR."""
    import io
    import zipfile

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("padding", BIG)
        archive.writestr("content", eicar() if number % 2 else b"harmless")
    return buffer.getvalue()


def states(client: Client, tenant: str) -> dict[str, str]:
    return {node["name"]: node["scan"] for node in client.files(tenant)}


def require_unreadable(client: Client, tenant: str) -> int:
    """Download all files; return how many are not scanned yet."""
    waiting = 0
    for node in client.files(tenant):
        response = client.request("GET", f"{tenant}/files/{node['id']}/download")
        is_bad = int(node["name"]) % 2
        assert response.status in (UNREADABLE if is_bad else {200, 409}), node
        waiting += response.status == 409
    return waiting


def log_in(server: Server) -> Client:
    return Client.logged_in(server.url, EMAIL)


def test_killed_scanners_and_servers_pass_nothing(
    tmp_path: Path, database_url: str, folder: Path, scanning: Table
) -> None:
    with serving_nodes(tmp_path, database_url, scanning) as (one, other):
        one.create_user(EMAIL)
        client, second = log_in(one), log_in(other)
        tenant = client.make_tenant("Acme")
        uploads = count()
        for _ in range(3):
            with clamd.running(folder) as daemon:
                for number in islice(uploads, FILES):
                    client.upload(tenant, str(number), zip_with_padding(number))

                def is_in_the_middle() -> bool:
                    number = next(uploads)
                    client.upload(tenant, str(number), zip_with_padding(number))
                    return "pending" in states(client, tenant).values()

                # Some files are scanned, some are not; by the time of the list, all may be scanned.
                wait_until(is_in_the_middle, seen=lambda: states(client, tenant))
                daemon.kill()
            for node in (client, second):
                require_unreadable(node, tenant)
        # The process that may hold claims is killed as well; the other one takes over.
        one.kill()
        require_unreadable(second, tenant)
        with clamd.running(folder):
            # A claim of the killed process ends after 5 minutes; the others are repeated within seconds.
            wait_until(lambda: require_unreadable(second, tenant) <= 2)
            assert {state for name, state in states(second, tenant).items() if int(name) % 2} <= {
                "infected",
                "pending",
            }


def test_a_command_scans_files_from_before(
    tmp_path: Path, database_url: str, folder: Path, scanning: Table
) -> None:
    config = write_config(tmp_path, database_url)
    with serving(config) as server:
        server.create_user(EMAIL)
        client = log_in(server)
        tenant = client.make_tenant("Acme")
        client.upload(tenant, "0", b"harmless")
        client.upload(tenant, "1", eicar())
    result = run_command("--config", str(config), "files", "scan")
    assert (result.returncode, "no scanner is configured" in result.stderr) == (1, True)
    change_config(config, scanning)
    result = run_command("--config", str(config), "files", "scan")
    assert (result.returncode, result.stdout) == (
        1,
        "2 scans planned\n2 scans attempted here, 2 left\n",
    ), result.stderr
    doctor = run_command("doctor", "--config", str(config))
    assert "failed   scanning.clamd: is unavailable: clamd: No such file or directory" in doctor.stdout
    assert "scanning: 2 files wait for a scan" in doctor.stdout
    with clamd.running(folder):
        wait_until(lambda: "0 left" in run_command("--config", str(config), "files", "scan").stdout)
        doctor = run_command("doctor", "--config", str(config))
        assert "ok       scanning.clamd: scans with ClamAV 1." in doctor.stdout
        with serving(config) as server:
            assert states(log_in(server), tenant) == {"0": "clean", "1": "infected"}


def test_the_management_interface_counts_scans(
    tmp_path: Path, database_url: str, folder: Path, scanning: Table
) -> None:
    from strongroom.testing.server import free_port

    port = free_port()
    config = write_config(tmp_path, database_url, merged(scanning, {"management": {"port": port}}))
    with clamd.running(folder), serving(config) as server:
        server.create_user(EMAIL)
        client = log_in(server)
        tenant = client.make_tenant("Acme")
        assert client.send(tenant, "1", eicar(), len(eicar())).status == 422
        metrics = Client(f"http://127.0.0.1:{port}")
        wait_until(lambda: is_listening(port))
        wait_until(
            lambda: (
                b'strongroom_scans_total{scanner="clamd",state="infected"} 1.0'
                in metrics.request("GET", "/metrics").content
            )
        )
