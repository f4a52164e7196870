"""Service accounts of the server, against a server: with the client and with its command."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser
from strongroom_client import Client, errors_by_code
from strongroom_client.cli import main
from strongroom_client.models import NewKey, NewUser


def test_a_key_of_a_service_account_creates_users(server: LiveServer, administrator: Client) -> None:
    accounts = administrator.service_accounts
    account = accounts.create("Provisioning")
    assert accounts.rename(account.id, "Sync").name == "Sync"
    assert account.id in [each.id for each in accounts.iterate()]
    key = accounts.create_key(account.id, NewKey(name="Sync", scopes=["users:write"]))
    assert [each.id for each in accounts.keys(account.id)] == [key.id]
    with Client(server.url, key=key.key) as robot:
        user = robot.users.create(NewUser(name="Anna", username=f"u{key.id.replace('-', '')}"))
        assert administrator.users.get(user.id) == user
        accounts.revoke_key(account.id, key.id)
        with pytest.raises(errors_by_code.TokenInvalid):
            robot.users.get(user.id)
    accounts.delete(account.id)
    assert account.id not in [each.id for each in accounts.iterate()]


def test_keys_of_service_accounts_have_no_scopes_of_files(administrator: Client) -> None:
    account = administrator.service_accounts.create("Files")
    new = NewKey(name="Files", scopes=["files:read"])
    with pytest.raises(errors_by_code.ValidationFailed) as raised:
        administrator.service_accounts.create_key(account.id, new)
    assert raised.value.field == "scopes"


def test_the_command_manages_accounts_and_keys(
    server: LiveServer, root: LiveUser, tmp_path: Path
) -> None:
    environment = {"STRONGROOM_CLIENT_DIR": str(tmp_path)}

    def run(*arguments: str, stdin: str = "") -> str:
        result = CliRunner().invoke(main, arguments, input=stdin, env=environment)
        assert result.exit_code == 0, result.output
        return result.stdout

    run("login", server.url, "--username", root.email, "--stdin", stdin=f"{PASSWORD}\n")
    account = json.loads(run("--json", "service-accounts", "create", "Provisioning"))["id"]
    assert f"{account}  Provisioning" in run("service-accounts", "list").splitlines()
    options = ("--name", "Sync", "--scope", "users:read", "--scope", "audit:read", "--days", "2")
    secret = run("service-accounts", "create-key", account, *options, "--stdin", stdin=f"{PASSWORD}\n")
    with Client(server.url, key=secret.strip()) as robot:
        assert robot.users.find(root.email) is not None
    (key,) = map(json.loads, run("--json", "service-accounts", "keys", account).splitlines())
    assert sorted(key["scopes"]) == ["audit:read", "users:read"]
    end = datetime.fromisoformat(key["expiresAt"]) - datetime.now(UTC)
    assert timedelta(days=1) < end <= timedelta(days=2)
    assert key["id"] in run("service-accounts", "keys", account)
    run("service-accounts", "revoke-key", account, key["id"])
    run("service-accounts", "delete", account, "--yes")
    assert account not in run("service-accounts", "list")
