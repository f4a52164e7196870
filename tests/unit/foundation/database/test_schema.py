"""The schema: models and migrations agree, and newcomers find it migrated once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeGuard

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    Constraint,
    Index,
    PrimaryKeyConstraint,
    UniqueConstraint,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import ColumnCollectionConstraint

from strongroom.assembly.features import import_models
from strongroom.foundation.collation import sort_key
from strongroom.foundation.database import Database, metadata
from strongroom.foundation.database.metadata import WHERE, is_derived
from strongroom.foundation.database.upgrade import (
    SCHEMA_REVISION,
    alembic_config,
    current_revision,
    upgrade,
)
from strongroom.foundation.errors import Unavailable

pytestmark = pytest.mark.both_databases


def test_migrations_create_the_schema_of_the_models(database_url: str) -> None:
    import_models()
    database = Database(database_url)
    with database.engine.connect() as connection:
        options = {"compare_type": True, "include_name": _is_of_a_model}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []
    database.close()


def _is_of_a_model(name: str | None, kind: str, parents: object) -> bool:
    return kind != "table" or name is None or not is_derived(name)


def test_migrations_make_partial_indexes_with_the_conditions_of_the_models(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'new.sqlite3'}")
    upgrade(database.engine)
    query = text("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'")
    with database.engine.connect() as connection:
        made = {name: sql.partition(" WHERE ")[2] for name, sql in connection.execute(query)}
    database.close()
    indexes = [index for table in metadata.tables.values() for index in table.indexes]
    assert made == {index.name: index.info[WHERE] for index in indexes if WHERE in index.info}


def test_no_index_is_the_beginning_of_another() -> None:
    import_models()
    superfluous = []
    for table in metadata.tables.values():
        ordered = [
            *(tuple(key.columns.keys()) for key in table.constraints if _has_index(key)),
            *(_keys(index) for index in table.indexes if WHERE not in index.info),
        ]
        for index in table.indexes:
            keys = _keys(index)
            longer = [other for other in ordered if other[: len(keys)] == keys and other != keys]
            if longer and not index.unique:
                superfluous.append(index.name)
    assert superfluous == []


def _has_index(constraint: Constraint) -> TypeGuard[ColumnCollectionConstraint]:
    return isinstance(constraint, (PrimaryKeyConstraint, UniqueConstraint))


def _keys(index: Index) -> tuple[str, ...]:
    return tuple(getattr(key, "key", None) or str(key) for key in index.expressions)


def test_the_newest_revision_is_said_in_the_code(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'new.sqlite3'}")
    with database.engine.connect() as connection:
        heads = ScriptDirectory.from_config(alembic_config(connection)).get_heads()
    assert heads == [SCHEMA_REVISION]
    database.close()


def test_several_processes_may_upgrade_at_once(tmp_path: Path) -> None:
    databases = [Database(f"sqlite:///{tmp_path / 'new.sqlite3'}") for _ in range(4)]
    assert current_revision(databases[0].engine) is None
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda database: upgrade(database.engine), databases))
    assert {current_revision(database.engine) for database in databases} == {SCHEMA_REVISION}
    for database in databases:
        database.close()


def test_logins_of_the_version_before_keep_the_time_of_their_proof(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'old.sqlite3'}")
    with database.engine.execution_options(strongroom_writing=True).begin() as connection:
        command.upgrade(alembic_config(connection), "0007")
        connection.execute(
            text("INSERT INTO users VALUES ('u', 'USER', 'active', '', 1, 1, 1, '', 0, 0)")
        )
        row = "('{}', 'u', 'USER', '{}', 1, '', '', '', 7, 8, 9, NULL)"
        for login, method in (("a", "password"), ("b", "wechat")):
            connection.execute(text(f"INSERT INTO authorizations VALUES {row.format(login, method)}"))
    upgrade(database.engine)
    query = text("SELECT id, amr, acr, auth_time FROM authorizations ORDER BY id")
    with database.engine.connect() as connection:
        rows = [tuple(row) for row in connection.execute(query)]
    database.close()
    single = "urn:strongroom:single"
    assert rows == [("a", "pwd", single, 7), ("b", "", single, 7)]


def test_accounts_of_the_version_before_keep_the_platform_that_they_came_with(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'old.sqlite3'}")
    with database.engine.execution_options(strongroom_writing=True).begin() as connection:
        command.upgrade(alembic_config(connection), "0044")
        columns = "id, type, status, name, created_at, updated_at, revision"
        connection.execute(
            text(f"INSERT INTO users ({columns}) VALUES ('u', 'USER', 'active', '', 5000, 1, 1)")
        )
        for number, (kind, at) in enumerate([("acme", 5900), ("late", 6001), ("email", 5000)]):
            connection.execute(
                text(
                    "INSERT INTO credentials (id, user_id, kind, value, created_at) "
                    f"VALUES ('{number}', 'u', '{kind}', 'x', {at})"
                )
            )
    upgrade(database.engine)
    with database.engine.connect() as connection:
        origins = (
            connection.execute(text("SELECT kind FROM credentials WHERE is_origin")).scalars().all()
        )
    database.close()
    assert origins == ["acme"]


def test_records_of_the_version_before_get_the_sort_key_of_their_name(tmp_path: Path) -> None:
    names = ["img 10", "Äpfel", *(f"name {number}" for number in range(1500))]
    database = Database(f"sqlite:///{tmp_path / 'old.sqlite3'}")
    with database.engine.execution_options(strongroom_writing=True).begin() as connection:
        command.upgrade(alembic_config(connection), "0051")
        rows = [{"id": f"{number:05}", "name": name} for number, name in enumerate(names)]
        for table, columns, values in (
            ("users", "type, status, created_at, updated_at, revision", "'USER', 'active', 1, 1, 1"),
            ("tenants", "used_bytes, reserved_bytes, created_at, updated_at, revision", "0, 0, 1, 1, 1"),
            ("groups", "tenant_id, created_at, updated_at, revision", "'00000', 1, 1, 1"),
        ):
            query = f"INSERT INTO {table} (id, name, {columns}) VALUES (:id, :name, {values})"
            connection.execute(text(query), rows)
    upgrade(database.engine)
    with database.engine.connect() as connection:
        for table in ("users", "tenants", "groups"):
            keys = connection.execute(text(f"SELECT sort_key FROM {table} ORDER BY id")).scalars().all()
            assert keys == [sort_key(name) for name in names], table
    database.close()


def test_sqlite_is_durable_and_checks_references(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'new.sqlite3'}")
    with database.read() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    full = 2
    assert pragmas == {"journal_mode": "wal", "synchronous": full, "foreign_keys": 1}
    database.close()


def test_on_sqlite_a_transaction_waits_for_the_disk_if_it_is_to_be_durable(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'new.sqlite3'}")
    normal, full = 1, 2
    for durable in (True, False, False, True, True, False):
        with database.write(durable=durable) as connection:
            synchronous = connection.exec_driver_sql("PRAGMA synchronous").scalar()
        assert synchronous == (full if durable else normal)
    database.close()


def test_a_database_in_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="must be a file"):
        Database("sqlite://")


def test_a_database_that_is_away_is_unavailable() -> None:
    database = Database("postgresql+psycopg://nobody@127.0.0.1:1/none?connect_timeout=2")
    with pytest.raises(Unavailable), database.read():
        pytest.fail("there is no such database")
    database.close()


def test_a_transaction_within_another_is_a_mistake(database_url: str) -> None:
    database = Database(database_url)
    with database.read(), pytest.raises(RuntimeError, match="within another"), database.read():
        pytest.fail("the thread has one already")
    with database.read():
        pass
    database.close()


def test_a_pool_that_is_used_up_is_unavailable(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("engine", "sqlite_engines"):
        monkeypatch.setattr(f"strongroom.foundation.database.{module}.POOL_SECONDS", 0.01)
    database = Database(database_url, pool_size=1)
    taken = [database.engine.connect() for _ in range(2)]
    with pytest.raises(Unavailable), database.snapshot():
        pytest.fail("there is no connection left")
    for connection in taken:
        connection.close()
    database.close()


def test_a_fault_that_waiting_does_not_mend_is_not_unavailable(database_url: str) -> None:
    database = Database(database_url)
    with pytest.raises(DBAPIError) as fault, database.read() as connection:
        connection.execute(text("SELECT * FROM nowhere WHERE x = :x"), {"x": "planted-secret"})
    assert "planted-secret" not in str(fault.value)
    database.close()


def test_a_transaction_that_raises_changes_nothing(database_url: str) -> None:
    database = Database(database_url)

    def insert_and_fail() -> None:
        with database.write() as connection:
            connection.exec_driver_sql(
                "INSERT INTO counters (subject, count, expires_at) VALUES ('x', 1, 1)"
            )
            raise RuntimeError

    with pytest.raises(RuntimeError):
        insert_and_fail()
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM counters").scalar() == 0
    database.close()
