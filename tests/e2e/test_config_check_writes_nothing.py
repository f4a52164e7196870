"""``strongroom config check`` changes no file, no row and no object, whatever the back ends are."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import MetaData, create_engine

from strongroom.assembly.app import create_app, get_container
from strongroom.cli.main import root
from strongroom.cli.startup import application
from strongroom.content.storage.ownership import read_owner
from strongroom.content.storage.service import BlobService
from strongroom.foundation.config import load
from strongroom.testing.server import free_port
from tests.support.config import Table, write_toml
from tests.support.stores import oss_store, s3_store

Store = Callable[[Path], AbstractContextManager[Table]]
Snapshot = Mapping[str, object]


def local(folder: Path) -> AbstractContextManager[Table]:
    return nullcontext({"backend": "local", "root": f"{folder}/outside/files"})


def pyfilesystem(folder: Path) -> AbstractContextManager[Table]:
    return nullcontext({"backend": "pyfilesystem", "url": f"osfs://{folder}/outside"})


def fsspec(folder: Path) -> AbstractContextManager[Table]:
    return nullcontext({"backend": "fsspec", "url": f"file://{folder}/outside"})


@contextmanager
def s3(_: Path) -> Iterator[Table]:
    with s3_store() as store:
        yield store.options()


@contextmanager
def oss(_: Path) -> Iterator[Table]:
    with oss_store() as store:
        yield store.options()


STORES = [local, pyfilesystem, fsspec, s3, oss]


@contextmanager
def configured(folder: Path, store: Store, *changes: Table) -> Iterator[Path]:
    """Yield the configuration of a development server whose store is outside of its data_dir."""
    with store(folder) as options:
        tables: Table = {
            "server": {"data_dir": f"{folder}/data", "port": free_port()},
            "plugins": {"enabled": ["storage_local", *_plugin_of(options)]},
            "storages": {"main": options},
        }
        yield write_toml(folder / "strongroom.toml", tables, *changes)


def _plugin_of(options: Table) -> list[str]:
    return [] if options["backend"] in {"local", "pyfilesystem"} else [f"storage_{options['backend']}"]


def files_in(folder: Path) -> Snapshot:
    """Return the content and the times of everything in a folder."""
    paths = sorted(folder.rglob("*"))
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_mode, _digest(path)) for path in paths}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def objects_in(config: Path) -> Snapshot:
    """Return the objects of the store, with their sizes and times; no file is created by that."""
    container = get_container(create_app(load(config, {}), read_only=True))
    backend = container.get(BlobService).storages["main"].backend
    try:
        return {item.key: item for item in backend.scan()}
    finally:
        container.close()


def rows_of(url: str) -> Snapshot:
    """Return all rows of a database by table."""
    engine, metadata = create_engine(url), MetaData()
    metadata.reflect(engine)
    with engine.connect() as connection:
        rows = {
            name: sorted(map(repr, connection.execute(table.select())))
            for name, table in metadata.tables.items()
            # Indexes of texts on SQLite cannot be listed.
            if not name.startswith(("name_index", "user_search_index"))
        }
    engine.dispose()
    return rows


def check(config: Path) -> tuple[int, str]:
    result = CliRunner().invoke(root, ["config", "check", "--config", str(config)])
    return result.exit_code, result.output


@pytest.mark.parametrize("store", STORES)
def test_a_check_before_the_first_start_leaves_the_store_to_the_database_that_starts(
    tmp_path: Path, store: Store
) -> None:
    with configured(tmp_path, store) as config:
        before, objects = files_in(tmp_path), objects_in(config)
        assert check(config) == (0, "the configuration is fine\n")
        assert (files_in(tmp_path), objects_in(config)) == (before, objects)
        with application(load(config, {})) as container:
            assert container.get(BlobService).storages["main"].ownership_fault() is None


@pytest.mark.parametrize("store", STORES)
def test_a_check_after_a_start_changes_nothing_of_it(tmp_path: Path, store: Store) -> None:
    with configured(tmp_path, store) as config:
        with application(load(config, {})):
            pass
        before, objects = files_in(tmp_path), objects_in(config)
        assert objects != {}
        assert check(config) == (0, "the configuration is fine\n")
        assert (files_in(tmp_path), objects_in(config)) == (before, objects)


def test_a_check_changes_no_row(tmp_path: Path, database_url: str) -> None:
    with configured(tmp_path, local, {"database": {"url": database_url}}) as config:
        # The fixture has made the schema, so that the database lacks the secret and an owner only.
        before, files = rows_of(database_url), files_in(tmp_path)
        assert check(config) == (0, "the configuration is fine\n")
        assert (rows_of(database_url), files_in(tmp_path)) == (before, files)


def test_a_check_next_to_open_connections_leaves_the_log_of_the_database_as_it_is(
    tmp_path: Path,
) -> None:
    with configured(tmp_path, local) as config, application(load(config, {})) as container:
        with container.database.write() as connection:
            connection.exec_driver_sql("UPDATE installation SET value = value")
        before = files_in(tmp_path)
        assert any(path.endswith("-wal") for path in before)
        assert check(config) == (0, "the configuration is fine\n")
        assert _without_index(files_in(tmp_path)) == _without_index(before)


def _without_index(snapshot: Snapshot) -> Snapshot:
    # SQLite's index of the log holds the locks of readers.
    return {path: state for path, state in snapshot.items() if not path.endswith("-shm")}


def test_a_check_of_an_encrypted_storage_creates_no_key(tmp_path: Path) -> None:
    encrypted: Table = {
        "plugins": {"enabled": ["storage_local", "storage_encrypted"]},
        "storages": {"secret": {"backend": "encrypted", "over": "main"}},
        "files": {"storage": "secret"},
    }
    with configured(tmp_path, local, encrypted) as config:
        made = CliRunner().invoke(root, ["--config", str(config), "keys", "create-master-key"])
        assert made.exit_code == 0, made.output
        before = files_in(tmp_path)
        assert check(config) == (0, "the configuration is fine\n")
        assert files_in(tmp_path) == before


def test_a_store_of_another_database_is_refused_before_the_first_start(tmp_path: Path) -> None:
    with configured(tmp_path, local) as config, application(load(config, {})) as container:
        owner = read_owner(container.get(BlobService).storages["main"].backend)
    assert owner is not None
    write_toml(
        config,
        {"server": {"data_dir": f"{tmp_path}/other", "port": free_port()}},
        {"plugins": {"enabled": ["storage_local"]}},
        {"storages": {"main": {"backend": "local", "root": f"{tmp_path}/outside/files"}}},
    )
    before = files_in(tmp_path)
    result = CliRunner().invoke(root, ["config", "check", "--config", str(config)])
    assert f"storages.main: belongs to the database {owner.database} since " in str(result.exception)
    assert files_in(tmp_path) == before


def test_a_folder_that_the_server_cannot_create_is_refused(tmp_path: Path) -> None:
    blocked = tmp_path / "outside"
    blocked.write_text("a file")
    with configured(tmp_path, local) as config:
        result = CliRunner().invoke(root, ["config", "check", "--config", str(config)])
    reason = os.strerror(20)
    assert "storages.main.root: cannot be used: " in str(result.exception)
    assert reason in str(result.exception)
