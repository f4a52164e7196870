"""The commands of administrators, against a server."""

import json
import secrets
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser
from strongroom_client import Client, errors_by_code
from strongroom_client.cli import main

Run = Callable[..., Result]
PHPASS = {"algorithm": "phpass", "hash": "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"}
PHPASS_PASSWORD = "test12345"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, server: LiveServer, root: LiveUser) -> Run:
    """Run the command with the login of an administrator."""
    environment = {"STRONGROOM_CLIENT_DIR": str(tmp_path_factory.mktemp("login"))}

    def run(*arguments: object, stdin: str = "", status: int = 0) -> Result:
        result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin, env=environment)
        assert result.exit_code == status, (result.output, result.exception)
        return result

    run("login", server.url, "--username", root.email, "--stdin", stdin=f"{PASSWORD}\n")
    return run


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout_bytes.splitlines()]


def created(run: Run, *options: object, stdin: str = "") -> dict[str, Any]:
    """Create a user with an e-mail address of its own."""
    email = f"{secrets.token_hex(8)}@example.com"
    command = ("--json", "users", "create", "--name", "Anna", "--email", email, *options)
    (user,) = lines(run(*command, stdin=stdin))
    return user


def logs_in(server: LiveServer, name: str, password: str) -> str:
    """Return the id of the user who logs in."""
    with Client(server.url) as client:
        return client.log_in(name, password).id


def test_users_are_created_with_a_password_from_stdin(run: Run, server: LiveServer) -> None:
    user = created(run, "--verified", "--stdin", "--external-id", "hr-1", stdin=f"{PASSWORD}\n")
    assert (user["emailVerified"], user["externalId"]) == (True, "hr-1")
    assert logs_in(server, user["email"], PASSWORD) == user["id"]


def test_users_are_created_with_a_hash_from_stdin(run: Run, server: LiveServer) -> None:
    user = created(run, "--password-hash-stdin", stdin=json.dumps(PHPASS))
    assert logs_in(server, user["email"], PHPASS_PASSWORD) == user["id"]
    both = ("users", "create", "--name", "A", "--email", "a@example.com", "--password-hash-stdin")
    assert "not both" in run(*both, "--stdin", status=2).stderr
    assert "JSON" in run(*both, stdin="{", status=2).stderr


def test_each_wrong_field_is_printed(run: Run) -> None:
    result = run("users", "create", "--name", "A", "--mobile", "12", "--username", "a", status=1)
    assert "mobile: " in result.stderr
    assert "username: " in result.stderr


def test_a_taken_name_is_status_5(run: Run) -> None:
    user = created(run)
    assert "email: " in run("users", "create", "--name", "B", "--email", user["email"], status=5).stderr


def test_users_are_listed_and_shown(run: Run, root: LiveUser) -> None:
    user = created(run)
    for name in (user["id"], user["email"]):
        assert lines(run("--json", "users", "show", name)) == [user]
    (line,) = run("users", "show", user["email"]).stdout.splitlines()
    assert line.split() == [user["id"], "active", "USER", user["email"], "Anna"]
    assert root.id in [each["id"] for each in lines(run("--json", "users", "list", "--type", "ADMIN"))]
    assert lines(run("--json", "users", "list", "--search", user["email"])) == [user]
    assert len(lines(run("--json", "users", "list", "--limit", 1))) == 1
    run("users", "show", "nobody@example.com", status=4)
    run("users", "show", "00000000-0000-7000-8000-000000000000", status=4)


def test_users_are_listed_by_external_id_and_in_an_order(run: Run) -> None:
    user = created(run, "--external-id", secrets.token_hex(8))
    options = ("users", "list", "--external-id", user["externalId"])
    assert [each["id"] for each in lines(run("--json", *options))] == [user["id"]]
    listed = lines(run("--json", "users", "list", "--sort", "-createdAt"))
    # As texts, a whole second would follow its fractions.
    created_at = [datetime.fromisoformat(each["createdAt"]) for each in listed]
    assert len(created_at) > 1
    assert created_at == sorted(created_at, reverse=True)


def test_a_command_runs_as_a_user(run: Run, server: LiveServer, tmp_path: Path) -> None:
    user, path = created(run), tmp_path / "environment.json"
    script = f"""import json, os, sys
json.dump(dict(os.environ), open({str(path)!r}, "w"))
from strongroom_client import Client
with Client(os.environ["STRONGROOM_URL"], key=os.environ["STRONGROOM_KEY"]) as client:
    sys.exit(3 if client.me().id == {user["id"]!r} else 1)
"""
    command = ("users", "impersonate", user["email"], "--reason", "Ticket 7", "--")
    result = run(*command, sys.executable, "-c", script, status=3)
    token = json.loads(path.read_text())["STRONGROOM_KEY"]
    assert token not in result.output
    with Client(server.url, key=token) as client, pytest.raises(errors_by_code.TokenInvalid):
        client.me()


def test_a_signal_that_ends_the_command_is_in_its_status(run: Run) -> None:
    user = created(run)
    command = ("users", "impersonate", user["email"], "--reason", "Ticket 7", "--minutes", 1, "--")
    run(*command, "sh", "-c", "kill -TERM $$", status=128 + 15)
    run(*command, "no-such-command", status=2)


def test_users_are_suspended_and_reinstated(run: Run) -> None:
    user = created(run)
    options = ("--reason", "left", "--days", 2)
    (suspended,) = lines(run("--json", "users", "suspend", user["email"], *options))
    assert (suspended["status"], suspended["suspensionReason"]) == ("suspended", "left")
    assert suspended["suspendedUntil"]
    assert "suspended" in run("users", "suspend", user["email"]).stdout
    listed = lines(run("--json", "users", "list", "--status", "suspended"))
    assert user["id"] in [each["id"] for each in listed]
    assert "active" in run("users", "reinstate", user["id"]).stdout


def test_logins_are_ended_and_users_deleted(run: Run, server: LiveServer) -> None:
    user = created(run, "--stdin", stdin=f"{PASSWORD}\n")
    with Client(server.url) as client:
        client.log_in(user["email"], PASSWORD)
        run("users", "end-logins", user["email"])
        with pytest.raises(errors_by_code.TokenInvalid):
            client.me()
    run("users", "delete", user["id"], stdin="n\n", status=1)
    run("users", "delete", user["id"], "--yes")
    run("users", "show", user["id"], status=4)


def test_users_are_imported_from_a_file(run: Run, server: LiveServer, tmp_path: Path) -> None:
    email, path = f"{secrets.token_hex(8)}@example.com", tmp_path / "users.ndjson"
    users = [{"name": "Anna", "email": email, "password": PHPASS}, {"name": "Ben", "mobile": "12"}]
    path.write_text("".join(json.dumps(user) + "\n" for user in users))
    result = run("users", "import", path, status=1)
    assert result.stdout == "created 1, updated 0, skipped 0, failed 1\n"
    assert result.stderr.startswith("line 2: mobile: ")
    assert logs_in(server, email, PHPASS_PASSWORD)
    path.write_text(json.dumps(users[0]) + "\n")
    (job,) = lines(run("--json", "users", "import", path, "--on-conflict", "skip"))
    assert (job["created"], job["skipped"], job["failed"]) == (0, 1, 0)


def test_users_are_exported_to_a_new_file_that_only_its_owner_reads(run: Run, tmp_path: Path) -> None:
    user, path = created(run), tmp_path / "users.ndjson"
    run("users", "export", path)
    exported = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert user["email"] in [each.get("email") for each in exported]
    assert path.stat().st_mode & 0o777 == 0o600
    assert "File exists" in run("users", "export", path, status=1).stderr
    assert user["email"] in [each.get("email") for each in lines(run("users", "export"))]


def test_a_temporary_password_is_replaced_by_the_login_command(
    run: Run, server: LiveServer, tmp_path: Path
) -> None:
    user = created(run)
    password = run("users", "temporary-password", user["email"]).stdout.strip()
    command = ["login", server.url, "--username", user["email"], "--stdin"]
    environment = {"STRONGROOM_CLIENT_DIR": str(tmp_path)}
    given = f"{password}\n{PASSWORD}\n"
    result = CliRunner().invoke(main, command, input=given, env=environment)
    assert result.exit_code == 0, result.output
    assert logs_in(server, user["email"], PASSWORD) == user["id"]


def test_a_link_is_printed_or_sent(run: Run, server: LiveServer) -> None:
    user = created(run, "--verified")
    url = run("users", "link", user["email"], "--print").stdout.strip()
    with Client(server.url) as client:
        client.redeem_link(url.partition("#")[2], PASSWORD)
    assert logs_in(server, user["email"], PASSWORD) == user["id"]
    assert run("users", "link", user["email"], "--kind", "reset").stdout.startswith("Sent; valid until ")


def test_contacts_and_metadata_are_changed(run: Run) -> None:
    user, name = created(run), f"u{secrets.token_hex(8)}"
    assert (
        lines(run("--json", "users", "set-contact", user["id"], "username", name))[0]["username"] == name
    )
    assert lines(run("--json", "users", "remove-contact", name, "email"))[0]["email"] is None
    merge = ("users", "metadata", name, "--server", "--merge")
    assert lines(run(*merge, stdin='{"plan": "gold"}')) == [{"plan": "gold"}]
    assert lines(run("users", "metadata", name)) == [{}]
    assert lines(run("users", "metadata", name, "--server")) == [{"plan": "gold"}]
