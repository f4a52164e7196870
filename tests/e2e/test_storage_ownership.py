"""A store has one owner: a restored copy of a database must not touch production's files."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from strongroom.content.storage.ownership import is_reserved
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.config import Table, change_config, main_storage
from tests.support.databases import SqliteDatabases
from tests.support.faults import Fault, FaultProxy
from tests.support.server import serving, write_config
from tests.support.stores import s3_store
from tests.support.waiting import wait_until

REFUSED = 2


@dataclass
class Production:
    """A server with a file, whose database was backed up."""

    config: Path
    archive: Path
    tenant: str
    file: str

    def command(self, *arguments: str) -> str:
        """Run a command that must succeed."""
        result = run_command("--config", str(self.config), *arguments)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def assert_whole(self) -> None:
        """Check that every file is there and served."""
        assert self.command("storage", "fsck", "--checksums").startswith("0 faults, 0 repaired")
        with serving(self.config) as server:
            client = Client.logged_in(server.url, "alice@example.com")
            assert client.download(self.tenant, self.file) == b"kept"


@contextmanager
def local_folder(folder: Path) -> Iterator[Table]:
    yield {"backend": "local", "root": f"{folder}/bytes"}


@contextmanager
def bucket(_: Path) -> Iterator[Table]:
    with s3_store() as store:
        yield store.options()


@pytest.fixture(params=[local_folder, bucket])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Table]:
    """The options of production's storage."""
    make: Callable[[Path], Iterator[Table]] = request.param
    with ExitStack() as stack:
        yield stack.enter_context(make(tmp_path))  # type: ignore[arg-type]  # a context manager


def use_storage(config: Path, options: Table) -> None:
    """Configure another store for ``main``."""
    both = {"plugins": {"enabled": ["storage_local", "storage_s3"]}}
    change_config(config, *main_storage(options), both)


@pytest.fixture
def production(
    tmp_path: Path, storage: Table, sqlite_databases: SqliteDatabases
) -> Iterator[Production]:
    with sqlite_databases.create() as url:
        config = write_config(tmp_path, url)
        use_storage(config, storage)
        with serving(config) as server:
            server.create_user("alice@example.com")
            client = Client.logged_in(server.url, "alice@example.com")
            tenant = client.make_tenant("Acme")
            file = client.upload(tenant, "note.txt", b"kept")["id"]
            archive = tmp_path / "backup.tar"
            server.command("backup", "create", str(archive))
            client.upload(tenant, "later.txt", b"stored after the backup")
        yield Production(config, archive, tenant, file)


@pytest.fixture
def drill(
    production: Production, storage: Table, tmp_path: Path, sqlite_databases: SqliteDatabases
) -> Iterator[Path]:
    """The backup, restored into another database that is configured with production's store."""
    folder = tmp_path / "drill"
    folder.mkdir()
    with sqlite_databases.create() as url:
        config = write_config(folder, url)
        if storage["backend"] == "s3":
            use_storage(config, storage)
        result = run_command("--config", str(config), "backup", "restore", str(production.archive))
        assert result.returncode == 0, result.stderr
        use_storage(config, storage)
        yield config


def test_a_drill_on_the_store_of_production_is_refused_until_it_is_claimed(
    production: Production, drill: Path
) -> None:
    refusals = {
        command: run_command("--config", str(drill), *command)
        for command in (
            ("serve",),
            ("storage", "gc"),
            ("storage", "fsck", "--repair"),
            ("storage", "migrate", "main", "main"),
        )
    }
    for command, result in refusals.items():
        assert (result.returncode, result.stdout) == (REFUSED, ""), command
        assert len(set(re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", result.stderr))) == 2
        assert "give this database a bucket, prefix or folder of its own" in result.stderr
    doctor = run_command("--config", str(drill), "doctor")
    assert (doctor.returncode, "belongs to the database" in doctor.stdout) == (1, True)
    production.assert_whole()
    assert_taken_over(production, drill)


def assert_taken_over(production: Production, drill: Path) -> None:
    """Check that the restored database gets the store by a deliberate command, and only by that."""
    claim = ("--config", str(drill), "rescue", "claim-storage", "main")
    without_owner = run_command(*claim)
    assert without_owner.returncode == REFUSED
    owner = without_owner.stderr.rpartition("--from ")[2].strip()
    assert run_command(*claim, "--from", owner).returncode == 0
    listed = run_command("--config", str(drill), "storage", "fsck")
    assert "stray main:" in listed.stdout, "the file that came after the backup"
    with serving(drill) as server:
        client = Client.logged_in(server.url, "alice@example.com")
        assert client.download(production.tenant, production.file) == b"kept"
        client.upload(production.tenant, "new.txt", b"new")
    lost = run_command("--config", str(production.config), "storage", "gc")
    assert (lost.returncode, "belongs to the database" in lost.stderr) == (REFUSED, True)


def test_a_storage_swapped_for_an_empty_one_is_noticed(
    tmp_path: Path, sqlite_databases: SqliteDatabases
) -> None:
    with sqlite_databases.create() as url:
        config = write_config(tmp_path, url)
        with serving(config) as server:
            server.create_user("alice@example.com")
            client = Client.logged_in(server.url, "alice@example.com")
            client.upload(client.make_tenant("Acme"), "note.txt", b"kept")
        change_config(config, {"storages": {"main": {"root": f"{tmp_path}/other"}}})
        for command in ("serve", "doctor"):
            result = run_command(command, "--config", str(config))
            assert result.returncode == (REFUSED if command == "serve" else 1)
            said = result.stdout + result.stderr
            assert "holds none of the files that the database has there (1 were checked)" in said


def test_a_store_without_a_marker_is_claimed_by_the_database_that_knows_its_files(
    tmp_path: Path, sqlite_databases: SqliteDatabases
) -> None:
    with sqlite_databases.create() as url, sqlite_databases.create() as other_url:
        config = write_config(tmp_path, url)
        with serving(config) as server:
            server.create_user("alice@example.com")
            client = Client.logged_in(server.url, "alice@example.com")
            client.upload(client.make_tenant("Acme"), "note.txt", b"kept")
        (marker,) = (
            path
            for path in (tmp_path / "files").rglob("*")
            if is_reserved(path.relative_to(tmp_path / "files").as_posix())
        )
        marker.unlink()
        (tmp_path / "stranger").mkdir()
        same = {"storages": {"main": {"root": f"{tmp_path}/files"}}}
        stranger = write_config(tmp_path / "stranger", other_url, same)
        refused = run_command("serve", "--config", str(stranger))
        assert refused.returncode == REFUSED
        assert "holds files that this database does not know" in refused.stderr
        assert run_command("--config", str(config), "storage", "fsck").returncode == 0
        assert marker.exists()


def test_a_server_starts_while_its_store_is_away_and_takes_files_once_it_is_back(
    tmp_path: Path, sqlite_databases: SqliteDatabases
) -> None:
    with (
        sqlite_databases.create() as url,
        s3_store() as store,
        FaultProxy(store.endpoint).running() as proxy,
    ):
        proxy.fault = Fault.REFUSED
        config = write_config(tmp_path, url)
        use_storage(config, store.options(proxy.endpoint) | {"max_attempts": 1})
        with serving(config) as server:
            server.create_user("alice@example.com")
            client = Client.logged_in(server.url, "alice@example.com")
            tenant = client.make_tenant("Acme")
            refused = client.send(tenant, "note.txt", b"kept", 4)
            assert (refused.status, refused.json()["error"]["code"]) == (503, "error.unavailable")
            ready = client.request("GET", "/readyz")
            notes = {"storages.main": "It does not answer."}
            assert (ready.status, ready.json()["notes"]) == (200, notes)
            proxy.fault = Fault.NONE
            wait_until(lambda: client.send(tenant, "note.txt", b"kept", 4).status == 201)
    said = config.with_suffix(".log").read_text()
    assert "strongroom: warning: storages.main: cannot store files now: " in said


def test_an_endpoint_without_a_scheme_is_refused_with_one_line(
    tmp_path: Path, sqlite_databases: SqliteDatabases
) -> None:
    with sqlite_databases.create() as url:
        config = write_config(tmp_path, url)
        options = {"backend": "s3", "bucket": "files", "endpoint_url": "s3.example.com"}
        use_storage(config, options)
        refused = run_command("serve", "--config", str(config))
    assert refused.returncode == REFUSED
    (line,) = refused.stderr.splitlines()
    assert 'endpoint_url: must be a URL, such as "https://s3.example.com"' in line
