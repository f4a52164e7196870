"""``strongroom config check``: whether the server would start, with all that it needs outside."""

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from strongroom.cli.main import root
from strongroom.foundation.config import ConfigurationError
from strongroom.testing.server import free_port
from tests.support.commands import run_command
from tests.support.config import change_config, main_storage, write_toml
from tests.support.databases import on_sqlite
from tests.support.distributions import install
from tests.support.redis import RedisServer
from tests.support.server import serving

PREAMBLE = 'from strongroom.plugin_api import hookimpl\nAPI_VERSION = "2.0"\n@hookimpl\n'
S3 = {
    "backend": "s3",
    "bucket": "files",
    "region": "eu-central-1",
    "access_key_id": "made-up",
    "secret_access_key": "made-up",
    "addressing_style": "path",
}
REDIS = {"redis": {"url": "redis://:hush@127.0.0.1:1/0"}}

pytestmark = on_sqlite


def check(config: Path, *arguments: str) -> Result:
    try:
        return CliRunner().invoke(root, ["config", "check", "--config", str(config), *arguments])
    finally:
        for name in [name for name in sys.modules if name.startswith("acme_")]:
            del sys.modules[name]


def refusal(config: Path, *arguments: str) -> str:
    """Return the one line that the check refuses with, without the file's name and line."""
    error = check(config, *arguments).exception
    # CliRunner shows what main() prints as lines, with exit code 2.
    assert isinstance(error, ConfigurationError), error
    assert not error.is_temporary
    return _only_line(config, str(error))


def outage(config: Path, would: str) -> str:
    """Return the one line about a service that does not answer, without the file's name and line."""
    result = run_command("--config", str(config), "config", "check")
    assert (result.returncode, result.stdout) == (3, f"the server would {would}\n"), result.stderr
    return _only_line(config, result.stderr.removeprefix("strongroom: "))


def _only_line(config: Path, text: str) -> str:
    (line,) = text.splitlines()
    return line.removeprefix(f"{config}:").partition(": ")[2]


NOT_NOW = "not start now"
WITHOUT = "start, without what does not answer now"


def test_a_check_before_the_first_start_is_fine_and_leaves_nothing_behind(
    server_config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_toml(server_config, {"server": {"port": free_port()}})
    result = check(server_config)
    assert (result.exit_code, result.stdout) == (0, "the configuration is fine\n")
    assert list(tmp_path.iterdir()) == [server_config]


def test_a_database_that_is_away(server_config: Path) -> None:
    change_config(server_config, {"database": {"url": "postgresql+psycopg://x:hush@127.0.0.1:1/x"}})
    line = outage(server_config, NOT_NOW)
    assert line.startswith("database.url: ")
    assert "hush" not in line


def test_a_database_in_a_folder_that_does_not_exist(server_config: Path) -> None:
    change_config(server_config, {"database": {"url": "sqlite:////nowhere/db.sqlite3"}})
    assert refusal(server_config).startswith("database.url: ")


def test_a_redis_that_is_away_is_reported_though_a_server_would_start(server_config: Path) -> None:
    change_config(server_config, REDIS)
    assert outage(server_config, WITHOUT) == (
        "redis.url: Redis at 127.0.0.1:1 does not answer, and without it logins are refused; "
        "start it, or correct redis.url"
    )


@pytest.mark.parametrize(("trouble", "code"), [("follow", "READONLY"), ("fill", "OOM")])
def test_a_redis_that_refuses_writes_is_reported(
    server_config: Path, tmp_path: Path, trouble: str, code: str
) -> None:
    with RedisServer.serving(tmp_path) as redis:
        getattr(redis, trouble)()
        change_config(server_config, {"redis": {"url": redis.url}})
        line = outage(server_config, WITHOUT)
    assert f" refuses writes ({code}), and without it logins are refused; " in line


def test_a_server_whose_redis_is_away_warns_when_it_starts(server_config: Path, tmp_path: Path) -> None:
    change_config(server_config, REDIS)
    with serving(server_config, tmp_path / "output"):
        pass
    output = (tmp_path / "output").read_text()
    assert "strongroom: warning: redis.url: Redis at 127.0.0.1:1 does not answer" in output
    assert "hush" not in output


def test_a_store_that_is_away_is_reported_though_a_server_would_start(server_config: Path) -> None:
    change_config(server_config, *main_storage(S3 | {"endpoint_url": "http://127.0.0.1:1"}))
    assert outage(server_config, WITHOUT).startswith("storages.main: ")


def test_a_store_without_a_url_is_one_line(server_config: Path) -> None:
    change_config(server_config, *main_storage(S3 | {"endpoint_url": "127.0.0.1:9000"}))
    assert refusal(server_config).startswith("storages.main")


def test_a_folder_that_cannot_be_made(server_config: Path) -> None:
    change_config(server_config, {"storages": {"main": {"root": "/dev/null/files"}}})
    assert refusal(server_config).startswith("storages.main.root: cannot be used: ")


def test_a_port_that_another_program_has(server_config: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        change_config(server_config, {"management": {"port": port}})
        line = refusal(server_config)
    assert line == (
        f"management.port: cannot listen on 127.0.0.1:{port}: Address already in use; "
        "free it, or configure another port"
    )


def test_a_port_for_two_interfaces(server_config: Path) -> None:
    port = free_port()
    change_config(
        server_config, {"server": {"port": port}, "management": {"port": port, "host": "0.0.0.0"}}
    )
    assert refusal(server_config) == "management.port: is also server.port; configure another port"


def test_a_host_that_cannot_be_a_name(server_config: Path) -> None:
    change_config(server_config, {"management": {"port": free_port(), "host": "not a host"}})
    assert "management.host: must be an IP address" in refusal(server_config)


def test_the_port_of_a_server_that_runs_with_the_configuration_is_no_fault(server_config: Path) -> None:
    with serving(server_config):
        result = check(server_config)
    assert (result.exit_code, result.stdout) == (0, "the configuration is fine\n")


@pytest.fixture
def riddles(server_config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for a plugin ``riddles``, which is enabled."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)
    change_config(server_config, {"plugins": {"enabled": ["storage_local", "riddles"]}})
    return site


@pytest.mark.parametrize("arguments", [(), ("--offline",)])
@pytest.mark.parametrize("hook", ["register_blueprints", "register_commands"])
def test_a_hook_that_fails(
    server_config: Path, riddles: Path, hook: str, arguments: tuple[str, ...]
) -> None:
    install(riddles, "riddles", f"{PREAMBLE}def {hook}():\n    raise RuntimeError('broken')\n")
    line = refusal(server_config, *arguments)
    assert line.startswith(f'plugins.enabled: plugin "riddles" failed in {hook}: RuntimeError: broken (')
    assert line.endswith("acme_riddles.py:5)")


def test_a_blueprint_that_is_none(server_config: Path, riddles: Path) -> None:
    install(riddles, "riddles", f"{PREAMBLE}def register_blueprints():\n    return [7]\n")
    assert refusal(server_config) == (
        'plugins.enabled: plugin "riddles" returned 7 from register_blueprints; '
        "expected a Blueprint of strongroom.plugin_api.web"
    )


def test_a_constructor_that_fails(server_config: Path, riddles: Path) -> None:
    code = (
        "from strongroom.plugin_api import hookimpl\n"
        "from strongroom.builtin.fixed_captcha import FixedCaptcha\n"
        'API_VERSION = "2.0"\n'
        "class Riddle(FixedCaptcha):\n"
        '    name = "riddle"\n'
        "    def __init__(self, options):\n"
        '        raise KeyError("no riddles")\n'
        "@hookimpl\n"
        "def register_captcha_providers():\n"
        "    return [Riddle]\n"
    )
    install(riddles, "riddles", code)
    server_config.write_text(
        server_config.read_text() + '[captcha]\nprovider = "riddle"\nanswer = "42"\n'
    )
    assert refusal(server_config) == "captcha: riddle refuses its options: KeyError: 'no riddles'"


def test_offline_reaches_for_nothing(server_config: Path) -> None:
    change_config(server_config, {"database": {"url": "postgresql+psycopg://x:hush@127.0.0.1:1/x"}})
    assert check(server_config, "--offline").exit_code == 0


@pytest.fixture(scope="module")
def redis_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with RedisServer.serving(tmp_path_factory.mktemp("redis")) as server:
        yield int(server.url.rpartition(":")[2])


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("redis://:hush@127.0.0.1:{port}/0", "refuses the login: "),
        ("redis://127.0.0.1:{port}/99", "refuses the database /99: "),
    ],
)
def test_a_redis_that_refuses_is_told_from_one_that_is_away(
    server_config: Path, redis_port: int, url: str, message: str
) -> None:
    change_config(server_config, {"redis": {"url": url.format(port=redis_port)}})
    line = refusal(server_config)
    assert line.startswith(f"redis.url: Redis at 127.0.0.1:{redis_port} {message}")
    assert "hush" not in line
    assert "; correct the " in line


def test_an_address_of_another_machine_is_a_wrong_host(server_config: Path) -> None:
    change_config(server_config, {"server": {"host": "192.0.2.1"}})
    line = refusal(server_config)
    assert line.startswith("server.host: cannot listen on 192.0.2.1:")
    assert line.endswith("; configure an address of this machine, or 0.0.0.0 for all")
