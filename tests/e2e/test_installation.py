"""A database that does not fit: one clear line that says what to do, from every command."""

import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from strongroom.foundation.database.upgrade import SCHEMA_REVISION
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.config import change_config, read_toml
from tests.support.databases import on_sqlite
from tests.support.server import EMAIL, Server, serving
from tests.support.waiting import wait_until

NEWER = "0999"
LINE = (
    f"the schema is {NEWER}, newer than this version's {SCHEMA_REVISION}; "
    "run a newer version of strongroom, or restore a backup made by this one"
)
pytestmark = [on_sqlite, pytest.mark.extended]
OTHER_SECRET = "does not match this database, so all passwords would fail"


def execute(config: Path, statement: str) -> None:
    path = read_toml(config)["database"]["url"].removeprefix("sqlite:///")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def use_newer_schema(config: Path, *, oldest_code: str) -> None:
    """Do the same as the upgrade of a newer version."""
    execute(config, f"UPDATE alembic_version SET version_num = '{NEWER}'")
    execute(config, f"UPDATE installation SET value = '{oldest_code}' WHERE name = 'oldest_code'")


@pytest.mark.parametrize("command", [["serve"], ["db", "upgrade"], ["prune"]])
def test_a_database_newer_than_the_code_is_refused_in_one_line(
    server_config: Path, command: list[str]
) -> None:
    use_newer_schema(server_config, oldest_code=NEWER)
    result = run_command("--config", str(server_config), *command)
    assert result.returncode != 0
    assert result.stderr.endswith(f"{LINE}\n")
    assert result.stderr.count("\n") == 1


def test_the_doctor_says_what_to_do_with_a_database_newer_than_the_code(server_config: Path) -> None:
    use_newer_schema(server_config, oldest_code=NEWER)
    findings = examine(server_config)
    assert findings["schema"]["state"] == "failed"
    assert findings["schema"]["remedy"].startswith("run a newer version")


def examine(config: Path) -> dict[str, dict[str, str]]:
    result = run_command("--config", str(config), "doctor", "--json")
    return {item["part"]: item for item in json.loads(result.stdout)}


def test_a_server_starts_on_a_newer_schema_that_says_it_may(server_config: Path) -> None:
    use_newer_schema(server_config, oldest_code=SCHEMA_REVISION)
    with serving(server_config) as server:
        client = Client(server.url)
        wait_until(lambda: client.request("GET", "/readyz").status == 200)
        ready = client.expect(200, "GET", "/readyz").json()
        assert ready["notes"] == {
            "schema": f"It is {NEWER}, newer than this version's {SCHEMA_REVISION}, and compatible."
        }
    assert examine(server_config)["schema"]["state"] == "ok"


def test_an_older_version_makes_no_backup_of_a_newer_schema(server_config: Path, tmp_path: Path) -> None:
    use_newer_schema(server_config, oldest_code=SCHEMA_REVISION)
    result = run_command(
        "--config", str(server_config), "backup", "create", str(tmp_path / "backup.tar")
    )
    assert result.returncode == 1
    assert "back it up with the version that upgraded it" in result.stderr
    assert not list(tmp_path.glob("backup.tar*"))


def test_another_secret_key_is_refused_until_it_is_adopted(server: Server) -> None:
    change_config(server.config, {"server": {"secret_key": "Qd7" * 12}})
    for command in ("serve", "prune"):
        result = run_command("--config", str(server.config), command)
        assert result.returncode == 2
        assert OTHER_SECRET in result.stderr
        assert "strongroom rescue adopt-secret" in result.stderr
        assert result.stderr.count("\n") == 1
    assert examine(server.config)["secret"]["state"] == "failed"
    refused = run_command("--config", str(server.config), "rescue", "adopt-secret", stdin="n\n")
    assert refused.returncode == 1
    server.command("rescue", "adopt-secret", "--yes")
    assert examine(server.config)["secret"]["state"] == "ok"
    server.create_user("bob@example.com")


def test_a_reload_keeps_a_server_from_taking_another_secret_key(server: Server) -> None:
    change_config(server.config, {"server": {"secret_key": "Qd7" * 12}})
    server.process.send_signal(signal.SIGHUP)
    log = server.config.with_suffix(".log")
    wait_until(lambda: f"Reload rejected, configuration unchanged: {server.config}" in log.read_text())
    assert OTHER_SECRET in log.read_text()
    Client.logged_in(server.url, EMAIL)
