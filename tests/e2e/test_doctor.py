"""The doctor: each fault has a name and a remedy, and working parts are reported."""

import json
from pathlib import Path
from typing import Any

import pytest

from strongroom.testing.server import free_port
from tests.support.commands import run_command
from tests.support.config import change_config, write_toml
from tests.support.databases import on_postgresql, on_sqlite
from tests.support.mail import MailServer
from tests.support.outbox import messages_in
from tests.support.server import write_config
from tests.support.stores import stored_files

SMTP = {"host": "127.0.0.1", "sender": "no-reply@example.com", "encryption": "none"}

Findings = dict[str, dict[str, Any]]

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")


def examine(config: Path, *options: str) -> tuple[int, Findings]:
    """Return the exit status, and the findings by their part."""
    result = run_command("doctor", "--config", str(config), "--json", *options)
    findings = json.loads(result.stdout)
    assert all(item["remedy"] for item in findings if item["state"] != "ok")
    return result.returncode, {item["part"]: item for item in findings}


def test_a_healthy_server_has_nothing_to_mend(server_config: Path) -> None:
    status, findings = examine(server_config)
    assert status == 0
    assert {item["state"] for item in findings.values()} == {"ok"}
    assert {"database.url", "schema", "clock", "limits", "storages.main"} <= findings.keys()
    assert not stored_files(server_config.parent / "files")


@on_sqlite
def test_unavailable_and_unsafe_parts_are_found(server_config: Path, tmp_path: Path) -> None:
    change_config(
        server_config,
        {
            "server": {"public_url": "https://files.example.com"},
            "storages": {"main": {"reserve_bytes": 10**15}},
            "redis": {"url": f"redis://127.0.0.1:{free_port()}"},
        },
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "data/signing-keys.json").write_text('{"keys": []}')
    status, findings = examine(server_config)
    assert status == 1
    assert "is no private JWK Set" in findings["tokens.keys_file"]["message"]
    (tmp_path / "data/signing-keys.json").unlink()
    status, findings = examine(server_config)
    assert (status, findings["limits"]["state"]) == (1, "failed")
    assert "would stay free" in findings["storages.main"]["message"]
    assert findings["server.trusted_proxies"]["state"] == "warning"


@on_sqlite
def test_a_schema_that_is_old_is_named(tmp_path: Path, server_config: Path) -> None:
    change_config(server_config, {"database": {"url": f"sqlite:///{tmp_path}/empty.sqlite3"}})
    status, findings = examine(server_config)
    assert (status, findings["schema"]["remedy"]) == (1, "strongroom db upgrade")


def test_a_database_that_is_away_is_the_only_thing_said_of_it(tmp_path: Path) -> None:
    url = f"postgresql+psycopg://somebody:hush@127.0.0.1:{free_port()}/none"
    status, findings = examine(write_config(tmp_path, url))
    assert (status, findings["database.url"]["state"]) == (1, "failed")
    assert "schema" not in findings
    assert "hush" not in json.dumps(findings)


def test_a_configuration_that_cannot_be_served_is_a_finding(tmp_path: Path) -> None:
    config = write_toml(tmp_path / "strongroom.toml", {"server": {"prot": 1}})
    status, findings = examine(config)
    assert (status, findings["server.prot"]["remedy"]) == (1, f"see {config}:2")


@on_sqlite
def test_senders_are_tried_on_request(server_config: Path, tmp_path: Path) -> None:
    with MailServer().serving() as mails:
        senders = {"email": ["console", "smtp"], "smtp": SMTP | {"port": mails.port}}
        change_config(server_config, {"messages": senders})
        assert examine(server_config)[1].keys().isdisjoint({"messages.smtp", "messages.console"})
        status, findings = examine(server_config, "--send-to", "alice@example.com")
        assert (status, findings["messages.smtp"]["state"]) == (0, "ok")
        assert len(mails.texts("alice@example.com")) == len(messages_in(tmp_path / "data")) == 1
    status, findings = examine(server_config, "--send-to", "alice@example.com")
    assert (status, findings["messages.smtp"]["state"]) == (1, "failed")


@on_postgresql
def test_more_connections_than_postgresql_allows_are_named(server_config: Path) -> None:
    change_config(server_config, {"database": {"pool_size": 400}})
    finding = examine(server_config)[1]["database.pool_size"]
    assert finding["state"] == "warning"
    assert finding["message"].startswith("2 workers open up to 2000 connections, and PostgreSQL allows ")
