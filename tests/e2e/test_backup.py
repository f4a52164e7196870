"""Backups under writes: each is restored, and contains the server's state at one moment."""

import json
import os
import stat
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from strongroom.assembly.container import build
from strongroom.foundation.config import load
from strongroom.foundation.database.installation import database_id
from tests.e2e.archives import Writers, assert_whole, back_up, place
from tests.e2e.offline import services
from tests.support.campaign import campaign_size
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.config import change_config
from tests.support.databases import PostgresqlDatabases, SqliteDatabases, on_sqlite
from tests.support.server import EMAIL, Server, serving, write_config
from tests.support.stores import stored_files

BACKUPS = campaign_size("BACKUPS", 2)


def test_backups_under_writes_are_each_of_one_moment(
    server: Server, client: Client, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    databases: SqliteDatabases | PostgresqlDatabases = request.getfixturevalue("sqlite_databases")
    writers = Writers(client, client.make_tenant("Acme"))
    with writers.at_work():
        for number in range(BACKUPS):
            gone, there_before = set(writers.deleted), writers.surely_there()
            back_up(server, tmp_path / f"{number}.tar")
            with databases.create() as url, place(tmp_path, url, f"place{number}") as there:
                there.restore(tmp_path / f"{number}.tar")
                found = assert_whole(there)
                assert there_before - writers.deleting <= found
                assert not found & gone
    # Bytes that were deleted during the backup are removed now.
    server.command("storage", "gc")
    stored = stored_files(tmp_path / "files")
    assert len(stored) == len(writers.acknowledged)


def test_a_restored_server_knows_passwords_and_files_but_no_login(
    server: Server, client: Client, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    tenant = client.make_tenant("Acme")
    folder = client.expect(201, "POST", f"{tenant}/folders", {"name": "Letters"}).json()
    node = client.upload(f"{tenant}/files/{folder['id']}", "note.txt", b"kept")
    revoked = Client.logged_in(server.url, EMAIL)
    back_up(server, tmp_path / "backup.tar")
    revoked.expect(200, "DELETE", "/authorizations/current")
    kind = "postgresql" if "sqlite" in server.config.read_text() else "sqlite"
    databases = request.getfixturevalue(f"{kind}_databases")
    with databases.create() as url, place(tmp_path, url, "place") as there:
        there.restore(tmp_path / "backup.tar")
        with serving(there.config) as restored:
            for old in (client, revoked):
                assert Client(restored.url, old.token).request("GET", "/users/me").status == 401
            again = Client.logged_in(restored.url, EMAIL)
            assert again.download(tenant, node["id"]) == b"kept"
            listed = again.expect(200, "GET", f"{tenant}/owners/me/files/{folder['id']}/files").json()
            assert [item["name"] for item in listed["data"]] == ["note.txt"]


@on_sqlite
def test_a_restored_database_has_an_id_of_its_own(
    server: Server, tmp_path: Path, sqlite_databases: SqliteDatabases
) -> None:
    back_up(server, tmp_path / "backup.tar")
    with sqlite_databases.create() as url, place(tmp_path, url, "place") as there:
        there.restore(tmp_path / "backup.tar")
        with services(there.config) as restored, closing(build(load(server.config, {}))) as original:
            assert database_id(restored.database) != database_id(original.database)


@on_sqlite
def test_logins_can_be_kept_by_an_option(
    server: Server, client: Client, tmp_path: Path, sqlite_databases: SqliteDatabases
) -> None:
    back_up(server, tmp_path / "backup.tar")
    with sqlite_databases.create() as url, place(tmp_path, url, "place") as there:
        issuer = server.url
        change_config(there.config, {"server": {"public_url": issuer}})
        there.restore(tmp_path / "backup.tar", "--keep-sessions")
        with serving(there.config) as restored:
            assert Client(restored.url, client.token).request("GET", "/users/me").status == 200


def refused(config: Path, archive: Path) -> str:
    """Try to restore, and return why not."""
    result = run_command("--config", str(config), "backup", "restore", str(archive))
    assert result.returncode == 1, result.stdout
    return result.stderr


@on_sqlite
def test_an_archive_is_for_its_owner_alone_and_no_file_is_overwritten(
    server: Server, tmp_path: Path
) -> None:
    archive = tmp_path / "backup.tar"
    back_up(server, archive)
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    again = run_command("--config", str(server.config), "backup", "create", str(archive))
    assert (again.returncode, "exists already" in again.stderr) == (1, True)
    assert list(tmp_path.glob("backup.tar*")) == [archive]


@on_sqlite
def test_only_an_empty_place_takes_an_archive(
    server: Server, client: Client, tmp_path: Path, sqlite_databases: SqliteDatabases
) -> None:
    client.upload(client.make_tenant("Acme"), "note.txt", b"kept")
    back_up(server, tmp_path / "backup.tar")
    assert "the database is not empty" in refused(server.config, tmp_path / "backup.tar")
    with sqlite_databases.create() as url, place(tmp_path, url, "place") as there:
        (tmp_path / "place/files/00").mkdir(parents=True)
        (tmp_path / "place/files/00/leftover").write_text("not from the archive")
        assert 'the storage "main" is not empty' in refused(there.config, tmp_path / "backup.tar")


def middle_of(archive: Path, prefix: str) -> int:
    """Return the position of a byte in the middle of the first member whose name begins so."""
    with tarfile.open(archive) as tar:
        member = next(item for item in tar if item.name.startswith(prefix) and item.size > 100)
        return member.offset_data + member.size // 2


@pytest.mark.parametrize("member", ["signing-keys.json", "rows/", "blobs/", "manifest.json"])
def test_a_damaged_archive_changes_nothing(
    member: str, tmp_path: Path, sqlite_databases: SqliteDatabases
) -> None:
    archive = tmp_path / "backup.tar"
    with sqlite_databases.create() as url, serving(write_config(tmp_path, url)) as server:
        server.create_user(EMAIL)
        client = Client.logged_in(server.url, EMAIL)
        client.upload(client.make_tenant("Acme"), "note.txt", os.urandom(100_000))
        back_up(server, archive)
    content = bytearray(archive.read_bytes())
    where = middle_of(archive, member)
    content[where] ^= 1
    (tmp_path / "flipped.tar").write_bytes(content)
    (tmp_path / "cut.tar").write_bytes(content[:where])
    with sqlite_databases.create() as url, place(tmp_path, url, "place") as there:
        for name in ("flipped.tar", "cut.tar"):
            assert "Error: " in refused(there.config, tmp_path / name)
        assert not (tmp_path / "place/data/secret.key").exists()


@on_sqlite
def test_missing_or_damaged_bytes_are_reported_and_the_rest_is_kept(
    server: Server, client: Client, tmp_path: Path, sqlite_databases: SqliteDatabases
) -> None:
    tenant = client.make_tenant("Acme")
    for name in ("good", "missing", "damaged"):
        client.upload(tenant, name, name.encode())
    paths = {path.read_text(): path for path in stored_files(tmp_path / "files")}
    paths["missing"].unlink()
    paths["damaged"].write_text("demaged")
    archive = tmp_path / "backup.tar"
    result = run_command("--config", str(server.config), "backup", "create", str(archive), "--json")
    assert (result.returncode, "2 blobs are missing or damaged" in result.stderr) == (1, True)
    assert sorted(json.loads(result.stdout)["faults"].values()) == ["damaged", "missing"]
    with sqlite_databases.create() as url, place(tmp_path, url, "place") as there:
        there.restore(archive)
        assert {path.read_text() for path in stored_files(tmp_path / "place/files")} == {
            "good",
            "demaged",
        }
