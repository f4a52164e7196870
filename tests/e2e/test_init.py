"""``strongroom init``: every file that it writes is accepted, and a server starts with it."""

import gzip
import json
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from strongroom.foundation.config import load
from strongroom.testing.server import free_port
from tests.support.client import TIMEOUT, Client
from tests.support.commands import run_command
from tests.support.config import change_config
from tests.support.deployments import (
    DOMAIN,
    caddy_before,
    init,
    init_small,
    prepare_small,
    replace_in,
    succeed,
)
from tests.support.nginx import PRODUCTION, nginx_before
from tests.support.server import STOP_SECONDS, STRONGROOM, Server, serving, wait_until_answering


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
    return init_small(tmp_path)


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


@pytest.mark.parametrize("kind", ["local", "small"])
def test_the_installed_default_plugins_are_enabled(tmp_path: Path, kind: str) -> None:
    init(kind, tmp_path)
    enabled = tomllib.loads((tmp_path / "strongroom.toml").read_text())["plugins"]["enabled"]
    assert enabled == [*load(None, {}).settings.plugins.enabled]
    assert "console" in enabled


def test_a_small_server_starts_behind_caddy(small: Path) -> None:
    prepare_small(small)
    assert succeed([small / "strongroomctl", "config", "check"]) == "the configuration is fine\n"
    with serving_small(small), caddy_before(small) as url:
        alice = Client.logged_in(url, "alice@example.com")
        upload_and_download(alice)
        listed = Request(f"{url}/audit-events", headers=alice.headers({"Accept-Encoding": "gzip"}))
        with urlopen(listed, timeout=TIMEOUT) as answer:
            assert json.loads(gzip.decompress(answer.read()))["success"] is True
        # A page may have a secret, so the server does not compress it, and neither does Caddy.
        page = Request(f"{url}/account/login", headers={"Accept-Encoding": "gzip"})
        with urlopen(page, timeout=TIMEOUT) as answer:
            assert answer.headers["Content-Encoding"] is None
            assert answer.read().startswith(b"<!")


def test_while_the_server_is_away_caddy_has_the_error_body(small: Path) -> None:
    # Caddy tries again for so long.
    replace_in(small, {"lb_try_duration 10s": "lb_try_duration 0s"})
    with caddy_before(small, 502) as url:
        with pytest.raises(HTTPError) as raised, urlopen(f"{url}/livez", timeout=TIMEOUT):
            pass
        with raised.value as answer:
            error = json.loads(answer.read())["error"]
    assert (answer.code, error["code"]) == (502, "error.unavailable")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["X-Request-Id"] == error["requestId"] != ""


def test_the_configuration_of_a_cluster_is_fine(tmp_path: Path) -> None:
    init("cluster", tmp_path, "--domain", DOMAIN, "--program", str(STRONGROOM))
    replace_in(tmp_path, {"runuser -u strongroom -- ": ""})
    command = [str(tmp_path / "strongroomctl"), "config", "check", "--offline"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    sample = "is the sample value of a template"
    samples = [line for line in result.stderr.splitlines() if sample in line]
    # Four secrets, two names of access keys, the mail server, its sender, a signature, five templates.
    assert (result.returncode, len(samples)) == (2, 14), result.stderr
    assert len(result.stderr.splitlines()) == 14
    replace_in(tmp_path, {"AKIAEXAMPLE": "AKIAIOSFODNN7", "LTAI-example": "LTAI4FodnnIos7"})
    replace_in(tmp_path, {"mail.example.com": "mail.acme.org", "no-reply@example.com": "a@acme.org"})
    replace_in(tmp_path, {'sign_name = "Example"': 'sign_name = "Acme"', '"SMS_': '"SMS_10000000'})
    url = "postgresql+psycopg://strongroom:hush@127.0.0.1/strongroom"
    for name in ("s3_secret", "smtp_password", "sms_secret", "database_url"):
        (tmp_path / "secrets" / name).write_text(url if name == "database_url" else "hush")
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


@pytest.mark.parametrize("name", ["strongroom@8000", "strongroom-backup", "strongroom-prune"])
def test_the_units_expose_little(tmp_path: Path, name: str) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not on this machine")
    init("small", tmp_path, "--program", str(STRONGROOM))
    unit = tmp_path / f"{name}.service"
    template = name.replace("8000", "")
    unit.write_text((tmp_path / f"systemd/{template}.service").read_text())
    said = succeed([analyze, "security", "--offline=true", "--no-pager", unit])
    level = float(said.splitlines()[-1].partition(".service: ")[2].split()[0])
    assert level < 5


def test_a_reload_with_a_refused_configuration_fails_before_the_server_gets_the_signal(
    small: Path,
) -> None:
    unit = (small / "systemd/strongroom@.service").read_text()
    lines = [line.partition("=")[2] for line in unit.splitlines() if line.startswith("ExecReload=")]
    check = lines[0].split()
    assert lines[1:] == ["/bin/kill -HUP $MAINPID"]
    secret = {"STRONGROOM__SERVER__SECRET_KEY_FILE": str(small / "secrets/secret_key")}
    prepare_small(small)
    assert Path(check[0]) == STRONGROOM
    assert run_command(*check[1:], env=secret).returncode == 0
    change_config(small / "strongroom.toml", {"server": {"public_url": "http://box.example.org"}})
    result = run_command(*check[1:], env=secret)
    assert (result.returncode, "server.public_url: " in result.stderr) == (2, True)


def test_the_examples_are_the_files_of_a_cluster(tmp_path: Path) -> None:
    init("cluster", tmp_path, "--program", "/opt/strongroom/bin/strongroom")
    written = {path.name: path for path in tmp_path.rglob("*") if path.is_file()}
    shown = [path for path in PRODUCTION.iterdir() if path.name in written]
    assert len(shown) == 8
    for path in shown:
        text = written[path.name].read_text().replace(str(tmp_path), "/etc/strongroom")
        assert text == path.read_text(), path.name
