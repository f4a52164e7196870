"""Exports of users, which an import of another installation accepts."""

import io
import json
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pyotp
import pyrage
import pytest
from sqlalchemy import select
from tests.support.api import PASSWORD, Api, Json, error_code
from tests.support.audit import reading_sealed
from tests.support.commands import run_command
from tests.support.config import Table, merged, write_api_config
from tests.support.databases import SqliteDatabases
from tests.support.imports import (
    IMPORTED_PASSWORD,
    SIX_SCHEMES,
    errors_of,
    import_users,
)

from strongroom.activity.audit.models import audit_events
from strongroom.cli.age_files import Decrypted
from strongroom.extensions.user_imports import user_export_files as exports
from strongroom.extensions.user_imports.user_export_files import UserExports
from strongroom.foundation.caller import Origin
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.models import passwords
from strongroom.identity.users.passwords import UserPasswords

KEY = "the secret key of the first installation, 7d1f"
PLUGINS = {"enabled": ["storage_local", "password_schemes", "factor_totp"]}
CONFIG: Table = {"plugins": PLUGINS, "server": {"secret_key": KEY}}
pytestmark = pytest.mark.config(CONFIG)

SIGNER = "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
FIREBASE = {
    "algorithm": "firebase",
    "hash": SIGNER,
    "salt": "42xEC+ixf3L2lw==",
    "saltSeparator": "Bw==",
    "signerKey": SIGNER,
    "rounds": 8,
    "memCost": 14,
}
LINES: list[Json] = [
    {
        "externalId": "a-1",
        "name": "Anna 安娜",
        "email": "anna@example.com",
        "emailVerified": True,
        "mobile": "+8613800000000",
        "mobileVerified": False,
        "username": "anna.a",
        "status": "active",
        "createdAt": "2020-01-01T00:00:00.123Z",
        "metadata": {"theme": "dark"},
        "serverMetadata": {"plan": 7},
        "identities": [{"provider": "wechat_openid", "subject": "wx1:o1"}],
        "totp": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
        "password": PASSWORD,
    },
    {"name": "", "username": "ben", "status": "suspended", "createdAt": "2021-01-01T00:00:00.000Z"},
    *({"username": f"user{number}", "password": each} for number, each in enumerate(SIX_SCHEMES)),
    {"username": "fire", "password": FIREBASE},
]


def exported(api: Api, *, with_secrets: bool = False) -> list[Json]:
    """Return the lines of an export, in an order that does not depend on ids."""
    pieces = api.container.get(UserExports).create(None, Origin(), with_secrets=with_secrets)
    lines = [json.loads(line) for line in b"".join(pieces).splitlines()]
    return sorted(lines, key=lambda line: str(line.get("username")))


Start = Callable[..., AbstractContextManager[Api]]


@pytest.fixture
def installation(tmp_path: Path, sqlite_databases: SqliteDatabases) -> Start:
    """Starts an empty installation, with a database of its own."""

    @contextmanager
    def start(**server: str) -> Iterator[Api]:
        folder = tmp_path / "other"
        folder.mkdir()
        changes = merged(CONFIG, {"server": server})
        with (
            sqlite_databases.create() as url,
            Api.running(write_api_config(folder, url, changes)) as api,
        ):
            yield api

    return start


def strongroom(config: Path, *arguments: object) -> "CompletedProcess[str]":
    """Run a command on the database of an API."""
    return run_command("--config", str(config), *map(str, arguments))


def test_an_export_with_secrets_becomes_equal_users_in_an_empty_installation(
    api: Api, installation: Start
) -> None:
    assert import_users(api.container, LINES).created == len(LINES)
    lines = exported(api, with_secrets=True)
    with installation() as other:
        job = import_users(other.container, lines)
        assert (job.created, errors_of(other.container, job)) == (len(LINES), [])
        assert exported(other, with_secrets=True) == lines
        for number in range(len(SIX_SCHEMES)):
            assert other.log_in(f"user{number}", IMPORTED_PASSWORD).status_code == 200
            assert other.log_in(f"user{number}", "OtherSystem8").status_code == 401
        challenged = other.log_in("anna.a", PASSWORD)
        assert error_code(challenged) == "error.second-factor-required"
        code = pyotp.TOTP("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP").now()
        answer = {"challenge": {"id": challenged.json["challenge"]["id"], "totp": code}}
        assert other.post("/authorizations", answer).status_code == 200


def test_a_line_has_what_the_user_has_and_no_secret(api: Api) -> None:
    import_users(api.container, LINES[:2])
    expected = {name: value for name, value in LINES[0].items() if name not in ("totp", "password")}
    assert exported(api) == [expected, LINES[1]]


def test_hashes_of_another_secret_key_are_refused_with_a_code_of_their_own(
    api: Api, installation: Start
) -> None:
    import_users(api.container, LINES)
    lines = exported(api, with_secrets=True)
    with installation(secret_key=KEY[::-1]) as other:
        job = import_users(other.container, lines)
        refused = {
            (lines[error.line - 1]["username"], error.code) for error in errors_of(other.container, job)
        }
    # The digest of the last scheme is in a hash of our own.
    assert refused == {("anna.a", "other-key"), ("user5", "other-key")}
    assert job.created == len(LINES) - 2


@pytest.mark.parametrize(
    "changes",
    [
        {"hash": "$2b$24$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"},
        {"digest": "{}"},
        {"digest": '{"algorithm": "md5"}'},
        {"digest": 7},
        {"cost": "x" * 65},
        {"algorithm": "unknown"},
    ],
)
def test_a_changed_line_of_an_export_is_refused(api: Api, changes: Json) -> None:
    import_users(api.container, LINES[:1] + LINES[7:8])
    (line,) = (line for line in exported(api, with_secrets=True) if line["username"] == "user5")
    changed = {"username": "changed", "password": line["password"] | changes}
    job = import_users(api.container, [changed])
    assert [(error.field, error.code) for error in errors_of(api.container, job)] == [
        ("password", "invalid")
    ]


def test_a_temporary_password_is_not_exported(api: Api) -> None:
    import_users(api.container, [{"username": "carl", "password": SIX_SCHEMES[0]}])
    (line,) = exported(api, with_secrets=True)
    assert line["password"] == SIX_SCHEMES[0]
    with api.container.database.write() as connection:
        (row,) = connection.execute(select(passwords.c.user_id)).all()
        credentials = api.container.get(UserPasswords)
        stored = credentials.hash_password(PASSWORD)
        credentials.set_password(connection, row.user_id, stored, expires_at=api.clock.now() + 1)
        api.container.get(CredentialChanges).settle(connection, ChangedBy(None))
    (line,) = exported(api, with_secrets=True)
    assert "password" not in line


def test_administrators_services_and_deleted_users_are_not_exported(api: Api) -> None:
    admin, deleted, user = api.person(admin=True), api.person(), api.person()
    assert api.delete(f"/users/{deleted.id}", by=admin).status_code == 200
    assert [line["email"] for line in exported(api)] == [user.email]


def test_an_export_reads_pages_and_has_each_user_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"user{number:02}" for number in range(10)]
    import_users(api.container, [{"username": name} for name in names])
    monkeypatch.setattr(exports, "_USERS_AT_ONCE", 3)
    pieces = list(api.container.get(UserExports).create(None, Origin()))
    assert [piece.count(b"\n") for piece in pieces] == [3, 3, 3, 1]
    assert sorted(json.loads(line)["username"] for line in b"".join(pieces).splitlines()) == names


def records(api: Api) -> list[tuple[str | None, Any]]:
    statement = select(audit_events.c.actor_id, audit_events.c.details).where(
        audit_events.c.action == "user-export.create"
    )
    with reading_sealed(api.container.database) as connection:
        rows = connection.execute(statement.order_by(audit_events.c.sequence))
        return [(actor_id, dict(details)) for actor_id, details in rows]


def test_an_administrator_exports_over_http_without_secrets_and_the_audit_log_has_it(api: Api) -> None:
    import_users(api.container, LINES[:2])
    admin = api.person(admin=True)
    answer = api.get("/user-exports", by=admin)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="users.ndjson"'
    lines = [json.loads(line) for line in answer.data.splitlines()]
    assert {line["username"] for line in lines} == {"anna.a", "ben"}
    assert not any({"password", "totp"} & line.keys() for line in lines)
    assert records(api) == [(admin.id, {"users": "2", "secrets": "false"})]
    assert api.get("/user-exports", by=api.person()).status_code == 403
    assert len(records(api)) == 1


def test_a_command_creates_a_file_that_only_its_owner_reads(
    api: Api, config: Path, tmp_path: Path
) -> None:
    import_users(api.container, LINES[:2])
    path = tmp_path / "users.ndjson"
    assert strongroom(config, "users", "export", "--output", path).returncode == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"".join(api.container.get(UserExports).create(None, Origin())) == path.read_bytes()
    content = path.read_bytes()
    again = strongroom(config, "users", "export", "--output", path)
    assert (again.returncode, path.read_bytes()) == (1, content)
    assert "File exists" in again.stderr
    assert records(api)[0] == (None, {"users": "2", "secrets": "false"})


def test_secrets_are_never_exported_without_encryption(api: Api, config: Path, tmp_path: Path) -> None:
    path = tmp_path / "users.ndjson"
    refused = strongroom(config, "users", "export", "--with-secrets", "--output", path)
    assert (refused.returncode, path.exists(), records(api)) == (2, False, [])
    wrong = strongroom(config, "users", "export", "--recipient", "age1x", "--output", path)
    assert (wrong.returncode, path.exists(), records(api)) == (1, False, [])


@pytest.mark.parametrize("by_passphrase", [False, True])
def test_an_encrypted_export_is_imported_by_its_identity_or_passphrase(
    api: Api, config: Path, tmp_path: Path, installation: Start, *, by_passphrase: bool
) -> None:
    import_users(api.container, LINES)
    lines = exported(api, with_secrets=True)
    identity = pyrage.x25519.Identity.generate()
    secret = tmp_path / "secret"
    secret.write_text("correct horse\n" if by_passphrase else f"# created\n{identity}\n")
    kind = ("--passphrase-file", secret) if by_passphrase else ("--recipient", identity.to_public())
    path = tmp_path / "users.age"
    made = strongroom(config, "users", "export", "--with-secrets", *kind, "--output", path)
    assert made.returncode == 0, made.stderr
    assert b"anna" not in path.read_bytes()
    with installation() as other:
        target = tmp_path / "other" / "strongroom.toml"
        missing = strongroom(target, "users", "import", path)
        assert (missing.returncode, "--identity" in missing.stderr) == (2, True)
        option = "--passphrase-file" if by_passphrase else "--identity"
        done = strongroom(target, "users", "import", path, option, secret)
        assert done.returncode == 0, done.stderr
        assert exported(other, with_secrets=True) == lines


@pytest.mark.parametrize("harm", ["cut off", "changed", "of another"])
def test_a_harmed_encrypted_file_imports_nothing(
    api: Api, config: Path, tmp_path: Path, harm: str
) -> None:
    identity = pyrage.x25519.Identity.generate()
    # More than a piece of age, so that the first lines are decrypted before the fault is noticed.
    lines = b"".join(b'{"username": "user%d"}\n' % number for number in range(5000))
    content = bytearray(pyrage.encrypt(lines, [identity.to_public()]))
    if harm == "changed":
        content[-1] ^= 1
    path, secret = tmp_path / "users.age", tmp_path / "secret"
    path.write_bytes(content[: -100 if harm == "cut off" else None])
    chosen = pyrage.x25519.Identity.generate() if harm == "of another" else identity
    secret.write_text(str(chosen))
    refused = strongroom(config, "users", "import", path, "--identity", secret)
    assert (refused.returncode, exported(api)) == (1, [])
    assert "cannot be decrypted" in refused.stderr


def test_a_reader_that_stops_early_leaves_no_thread() -> None:
    identity = pyrage.x25519.Identity.generate()
    content = pyrage.encrypt(bytes(1_000_000), [identity.to_public()])
    with Decrypted(pyrage, io.BytesIO(content), [identity]) as source:
        assert source.read(10) == bytes(10)
    assert not source._thread.is_alive()
