"""The tables of plugins: rules, upgrades that keep data, and transactions."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import (
    Column,
    DateTime,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    delete,
    insert,
    inspect,
    select,
    text,
    update,
)
from tests.support.databases import on_postgresql
from tests.support.interleaving import Interleaving

from strongroom.assembly.plugin_host.state import HostDatabase
from strongroom.foundation.database import Database
from strongroom.foundation.database.plugin_tables import (
    PluginTablesError,
    left_tables,
    plugin_schemas,
    tables_fault,
)
from strongroom.foundation.database.upgrade import NewerSchema, upgrade
from strongroom.plugin_api.state import PluginTables, Transaction

pytestmark = pytest.mark.both_databases

FIRST = """
import sqlalchemy as sa
from alembic import op
revision = "0001"
down_revision = None

def upgrade():
    op.create_table("acme_notes", sa.Column("id", sa.Integer, primary_key=True),
                    sa.Column("body", sa.String(50), nullable=False))
"""
SECOND = """
import sqlalchemy as sa
from alembic import op
revision = "0002"
down_revision = "0001"

def upgrade():
    with op.batch_alter_table("acme_notes") as table:
        table.add_column(sa.Column("stars", sa.Integer, nullable=False, server_default="1"))
"""


def declare(folder: Path, *revisions: str) -> PluginTables:
    """Return the tables of a version of the plugin ``acme`` with these migrations."""
    folder.mkdir(parents=True)
    for number, script in enumerate(revisions, start=1):
        (folder / f"{number:04}_some.py").write_text(script)
    metadata = MetaData()
    notes = Table(
        "acme_notes",
        metadata,
        Column("id", Integer, primary_key=True),
        Column("body", String(50), nullable=False),
    )
    if len(revisions) > 1:
        notes.append_column(Column("stars", Integer, nullable=False, server_default="1"))
    return PluginTables(metadata, folder, f"{len(revisions):04}")


@pytest.fixture
def first(tmp_path: Path) -> PluginTables:
    return declare(tmp_path / "a folder with 100% odd names" / "first", FIRST)


@pytest.fixture
def second(tmp_path: Path) -> PluginTables:
    return declare(tmp_path / "second", FIRST, SECOND)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    database = Database(database_url)
    yield database
    database.close()


def test_an_upgrade_from_one_version_to_the_next_keeps_data(
    database: Database, first: PluginTables, second: PluginTables
) -> None:
    notes = first.metadata.tables["acme_notes"]
    own = HostDatabase("acme", lambda: database)
    upgrade(database.engine, {"acme": first})
    with own.write() as transaction:
        transaction.execute(insert(notes), [{"id": 1, "body": "one"}, {"id": 2, "body": "two"}])
    (found,) = plugin_schemas(database.engine, {"acme": second})
    assert (str(found), found.remedy) == ("0001, not 0002", "run: strongroom db upgrade")
    upgrade(database.engine, {"acme": second})
    upgrade(database.engine, {"acme": second})
    (found,) = plugin_schemas(database.engine, {"acme": second})
    assert found.is_current
    with own.read() as transaction:
        rows = transaction.all(select(second.metadata.tables["acme_notes"]))
    assert [(row.id, row.body, row.stars) for row in rows] == [(1, "one", 1), (2, "two", 1)]


def test_an_older_version_uses_tables_that_a_newer_one_has_only_expanded(
    database: Database, first: PluginTables, second: PluginTables
) -> None:
    upgrade(database.engine, {"acme": second})
    (found,) = plugin_schemas(database.engine, {"acme": first})
    assert (found.is_current, found.is_served) == (False, True)
    with HostDatabase("acme", lambda: database).write() as transaction:
        notes = first.metadata.tables["acme_notes"]
        transaction.execute(insert(notes), [{"id": 1, "body": "one"}])
        assert len(transaction.all(select(notes))) == 1


def test_an_older_version_refuses_tables_that_a_newer_one_has_contracted(
    database: Database, first: PluginTables, second: PluginTables, tmp_path: Path
) -> None:
    contracting = SECOND.replace("0002", "0003").replace("0001", "0002").replace("stars", "score")
    third = declare(tmp_path / "third", FIRST, SECOND, f'oldest_code = "0002"\n{contracting}')
    upgrade(database.engine, {"acme": third})
    served = [plugin_schemas(database.engine, {"acme": each})[0].is_served for each in (first, second)]
    assert served == [False, True]


def test_a_newer_version_of_a_plugin_without_a_recorded_range_is_refused(
    database: Database, first: PluginTables, second: PluginTables
) -> None:
    upgrade(database.engine, {"acme": second})
    with database.write() as connection:
        connection.execute(text("DELETE FROM installation WHERE name = 'oldest_code acme'"))
    (found,) = plugin_schemas(database.engine, {"acme": first})
    assert not found.is_served


def test_an_older_version_does_not_upgrade_the_tables_of_a_newer_one(
    database: Database, first: PluginTables, second: PluginTables
) -> None:
    upgrade(database.engine, {"acme": second})
    with pytest.raises(NewerSchema, match='plugin "acme" is 0002, not 0001; install a newer version'):
        upgrade(database.engine, {"acme": first})


def test_a_migration_that_fails_changes_nothing(database: Database, tmp_path: Path) -> None:
    broken = declare(tmp_path / "broken", FIRST + '    op.execute("not SQL")\n')
    with pytest.raises(Exception, match=r"not SQL|syntax"):
        upgrade(database.engine, {"acme": broken})
    assert "acme_notes" not in inspect(database.engine).get_table_names()


def test_a_transaction_executes_statements_and_rolls_back(
    database: Database, first: PluginTables
) -> None:
    notes = first.metadata.tables["acme_notes"]
    upgrade(database.engine, {"acme": first})
    own = HostDatabase("acme", lambda: database)
    with pytest.raises(ZeroDivisionError), own.write() as transaction:
        _insert_and_raise(transaction, notes)
    with own.write() as transaction:
        assert transaction.dialect == database.engine.dialect.name
        assert transaction.execute(insert(notes), {"id": 1, "body": "one"}) == 1
        locked = select(notes.c.id).with_for_update(skip_locked=True)
        assert transaction.scalars(locked) == [1]
        assert transaction.execute(update(notes).values(body="changed")) == 1
    with own.read() as transaction:
        assert transaction.scalar(select(notes.c.body)) == "changed"
        assert transaction.first(select(notes)).body == "changed"
        assert transaction.first(select(notes).where(notes.c.id == 2)) is None


@on_postgresql
@pytest.mark.parametrize(("lock", "counts"), [("notes", {1}), (None, {1, 2})])
def test_of_transactions_with_the_same_lock_one_runs_at_a_time(
    database: Database, first: PluginTables, lock: str | None, counts: set[int]
) -> None:
    notes = first.metadata.tables["acme_notes"]
    upgrade(database.engine, {"acme": first})
    own, ids = HostDatabase("acme", lambda: database), count(1)

    def add_one() -> bool:
        with own.write(lock=lock) as transaction:
            is_first = transaction.first(select(notes)) is None
            return is_first and transaction.execute(insert(notes), {"id": next(ids), "body": ""}) == 1

    def prepare() -> tuple[Callable[[], bool], Callable[[], bool]]:
        with own.write() as transaction:
            transaction.execute(delete(notes))
        return add_one, add_one

    assert {sum(outcomes) for outcomes in Interleaving(database).every(prepare)} == counts


def _insert_and_raise(transaction: Transaction, notes: Table) -> None:
    transaction.execute(insert(notes), {"id": 1, "body": "lost"})
    raise ZeroDivisionError


def test_a_name_of_the_core_is_refused(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "none"
    folder.mkdir()
    metadata = MetaData()
    Table("audit_events", metadata, Column("id", Integer, primary_key=True))
    with pytest.raises(PluginTablesError, match="the table audit_events is of the core"):
        upgrade(database.engine, {"audit": PluginTables(metadata, folder, "0001")})


def test_a_missing_folder_is_refused(database: Database, first: PluginTables) -> None:
    declared = PluginTables(first.metadata, "strongroom:no_such_folder", "0001")
    with pytest.raises(PluginTablesError, match="no_such_folder, does not exist"):
        upgrade(database.engine, {"acme": declared})


def test_the_tables_of_a_disabled_plugin_are_found(database: Database, first: PluginTables) -> None:
    upgrade(database.engine, {"acme": first})
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE acme_more_x (id INTEGER PRIMARY KEY)"))
        connection.execute(text("CREATE TABLE acme_more_alembic_version (version_num VARCHAR(32))"))
    found = set(inspect(database.engine).get_table_names())
    assert left_tables(found, {}) == {
        "acme": ["acme_alembic_version", "acme_notes"],
        "acme_more": ["acme_more_alembic_version", "acme_more_x"],
    }
    assert list(left_tables(found, {"acme": first})) == ["acme_more"]


def fault(*columns: Column[object], name: str = "acme_notes", revision: str = "0001") -> str | None:
    metadata = MetaData()
    Table(name, metadata, *columns)
    return tables_fault("acme", PluginTables(metadata, "somewhere", revision))


def _key() -> Column[object]:
    return Column("id", Integer, primary_key=True)


def test_the_rules_of_tables() -> None:
    assert fault(_key()) is None
    assert tables_fault("acme", MetaData()) == (
        "returned MetaData() from register_tables; expected PluginTables"
    )
    assert fault(_key(), revision="1") == ('the revision "1" must have four digits, such as "0001"')
    assert fault(_key(), name="notes") == 'the name of the table notes must begin with "acme_"'
    assert fault(Column("id", Integer)) == "the table acme_notes has no primary key"
    for kind in (LargeBinary, DateTime):
        assert fault(_key(), Column("x", kind)) == (
            "the column acme_notes.x has a type that backups cannot write as JSON"
        )
    reference: Column[object] = Column("user_id", String, ForeignKey("users.id"))
    assert fault(_key(), reference) == "acme_notes.user_id refers to a table of another owner"
