"""``strongroom init``: every file that it writes is accepted, and a server starts with it."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import pytest

from strongroom.testing.server import free_port
from tests.e2e.client import Client
from tests.support.commands import run_command
from tests.support.config import change_config
from tests.support.nginx import PRODUCTION, nginx_before
from tests.support.server import STOP_SECONDS, STRONGROOM, Server, serving, wait_until_answering
from tests.support.waiting import wait_until

DOMAIN = "box.example.org"


def init(kind: str, folder: Path, *options: str) -> str:
    result = run_command("init", kind, str(folder), *options)
    assert result.returncode == 0, result.stderr
    return result.stdout


def succeed(command: Sequence[object], stdin: str = "") -> str:
    result = subprocess.run(
        [str(word) for word in command], input=stdin, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def replace_in(folder: Path, replaced: dict[str, str]) -> None:
    """Replace texts in all files of a folder; each has to occur."""
    missing = set(replaced)
    for path in (path for path in folder.rglob("*") if path.is_file()):
        text = path.read_text()
        for old, new in replaced.items():
            if old in text:
                missing.discard(old)
                text = text.replace(old, new)
        path.write_text(text)
    assert missing == set()


def upload_and_download(client: Client) -> None:
    tenant = client.make_tenant("Acme")
    node = client.upload(tenant, "note.txt", b"Kept in the strongroom.")
    assert client.download(tenant, node["id"]) == b"Kept in the strongroom."


def test_a_server_starts_with_the_local_configuration(tmp_path: Path) -> None:
    said = init("local", tmp_path)
    assert said.endswith(f"strongroom --config {tmp_path}/strongroom.toml serve\n")
    config = tmp_path / "strongroom.toml"
    assert f'data_dir = "{tmp_path}/strongroom-data"' in config.read_text()
    change_config(config, {"server": {"port": free_port()}, "passwords": {"bcrypt_cost": 4}})
    assert run_command("config", "check", "--config", str(config)).returncode == 0
    with serving(config) as server:
        server.create_user("alice@example.com")
        upload_and_download(Client.logged_in(server.url, "alice@example.com"))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A small server in a folder, for this machine's program and user."""
    folder = tmp_path / "etc"
    init("small", folder, "--domain", DOMAIN, "--program", str(STRONGROOM))
    replaced = {"/var/lib/strongroom": f"{tmp_path}/data", "8000": str(free_port())}
    replace_in(folder, {**replaced, "runuser -u strongroom -- ": ""})
    (tmp_path / "data").mkdir(mode=0o700)
    return folder


@contextmanager
def serving_small(folder: Path) -> Iterator[str]:
    """Run the server of a small deployment until the block ends; yield its URL."""
    port = (folder / "strongroom.toml").read_text().partition("port = ")[2].splitlines()[0]
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen([folder / "strongroomctl", "serve"], stdout=output, stderr=output)
    server = Server(f"http://127.0.0.1:{port}", folder / "strongroom.toml", process)
    try:
        wait_until_answering(server, log)
        yield server.url
    finally:
        process.terminate()
        process.wait(timeout=STOP_SECONDS)


@contextmanager
def caddy_before(folder: Path) -> Iterator[str]:
    """Run Caddy with the configuration of a small deployment, without TLS, until the block ends."""
    caddy = shutil.which("caddy")
    if caddy is None:
        pytest.skip("Caddy is not on this machine")
    port = free_port()
    path = folder / "Caddyfile"
    # The interface for changes listens on the same port everywhere.
    text = path.read_text().replace("{\n", "{\n\tadmin off\n", 1)
    path.write_text(text.replace(f"{DOMAIN} {{", f"http://127.0.0.1:{port} {{"))
    environment = {**os.environ, "HOME": str(folder)}
    command = [caddy, "run", "--config", str(path), "--adapter", "caddyfile"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        _wait(f"http://127.0.0.1:{port}/livez")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=STOP_SECONDS)


def _wait(url: str) -> None:
    def answers() -> bool:
        with suppress(OSError), urlopen(url, timeout=5):
            return True
        return False

    wait_until(answers)


def test_a_small_server_starts_behind_caddy(small: Path) -> None:
    control = small / "strongroomctl"
    succeed([control, "db", "upgrade"])
    assert succeed([control, "config", "check"]) == "the configuration is fine\n"
    succeed(
        [control, "users", "create", "--admin", "--email", "alice@example.com", "--password-stdin"],
        "Correct1Horse",
    )
    with serving_small(small), caddy_before(small) as url:
        upload_and_download(Client.logged_in(url, "alice@example.com"))


def test_the_configuration_of_a_cluster_is_fine(tmp_path: Path) -> None:
    init("cluster", tmp_path, "--domain", DOMAIN, "--program", str(STRONGROOM))
    replace_in(tmp_path, {"runuser -u strongroom -- ": ""})
    command = [tmp_path / "strongroomctl", "config", "check", "--offline"]
    assert succeed(command) == "the configuration is fine\n"


@pytest.mark.parametrize("kind", ["small", "cluster"])
def test_nginx_accepts_its_configuration(tmp_path: Path, kind: str) -> None:
    init(kind, tmp_path / "etc", "--domain", DOMAIN)
    (tmp_path / "nginx").mkdir()
    nginx = nginx_before(tmp_path / "nginx", (8001, 8002), source=tmp_path / "etc/nginx")
    result = nginx.said_by_check()
    assert result.returncode == 0, result.stderr
    assert "warn" not in result.stderr
    assert f"server_name {DOMAIN};" in (tmp_path / "nginx/nginx.conf").read_text()


def test_caddy_accepts_its_configuration(tmp_path: Path) -> None:
    caddy = shutil.which("caddy")
    if caddy is None:
        pytest.skip("Caddy is not on this machine")
    init("small", tmp_path, "--domain", DOMAIN)
    succeed([caddy, "validate", "--config", tmp_path / "Caddyfile", "--adapter", "caddyfile"])
    succeed(["sh", "-euc", f"{caddy} fmt {tmp_path}/Caddyfile | diff - {tmp_path}/Caddyfile"])


@pytest.mark.parametrize("kind", ["small", "cluster"])
def test_systemd_accepts_the_units(tmp_path: Path, kind: str) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not on this machine")
    init(kind, tmp_path, "--program", str(STRONGROOM))
    units = tmp_path / "systemd"
    (units / "strongroom@.service").rename(units / "strongroom@8000.service")
    paths = sorted(units.iterdir())
    assert len(paths) == 5
    result = subprocess.run([analyze, "verify", *paths], capture_output=True, text=True, check=False)
    said = [line for line in result.stderr.splitlines() if "strongroom" in line]
    assert (result.returncode, said) == (0, [])


def test_the_examples_are_the_files_of_a_cluster(tmp_path: Path) -> None:
    init("cluster", tmp_path, "--program", "/opt/strongroom/bin/strongroom")
    written = {path.name: path for path in tmp_path.rglob("*") if path.is_file()}
    shown = [path for path in PRODUCTION.iterdir() if path.name in written]
    assert len(shown) == 8
    for path in shown:
        text = written[path.name].read_text().replace(str(tmp_path), "/etc/strongroom")
        assert text == path.read_text(), path.name
