"""Upgrades of a PostgreSQL database that servers use: writes go on, and an interrupted one continues."""

import ast
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import psycopg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import BigInteger, Column, Index, MetaData, String, Table
from tests.support.campaign import campaign_size
from tests.support.databases import PostgresqlDatabases
from tests.support.poolers import Pooler, needs_pgbouncer
from tests.support.waiting import PATIENCE_SECONDS, SLACK_SECONDS, wait_until

from strongroom.assembly.features import import_models
from strongroom.foundation.database import Database, metadata, upgrade
from strongroom.foundation.database.metadata import is_derived
from strongroom.foundation.database.pace import BatchesStopped, Pace, paced
from strongroom.foundation.database.upgrade import TablesInUse, alembic_config
from strongroom.plugin_api.state import PluginTables

ROWS = campaign_size("UPGRADE_ROWS", 60_000)
LONGEST_WRITE = 1.0
"""Seconds that a write may wait for a migration."""
HELD_SECONDS = 8
"""Seconds for which a reader keeps its lock of the table."""

FIRST = """
import sqlalchemy as sa
from alembic import op
revision = "0001"
down_revision = None

def upgrade():
    op.create_table("acme_notes", sa.Column("id", sa.BigInteger, primary_key=True),
                    sa.Column("body", sa.String(50), nullable=False))
"""
SECOND = """
import sqlalchemy as sa
from strongroom.plugin_api import migrations
revision = "0002"
down_revision = "0001"
FILL = sa.text(
    "UPDATE acme_notes SET length = length(body) WHERE id IN "
    "(SELECT id FROM acme_notes WHERE length = -1 ORDER BY id LIMIT 2000)"
)

def upgrade():
    migrations.add_column(
        "acme_notes", sa.Column("length", sa.BigInteger, nullable=False, server_default="-1")
    )
    migrations.backfill(lambda connection: connection.execute(FILL).rowcount, 2000)
    for columns in (["body"], ["length"], ["body", "length"]):
        migrations.create_index("_".join(["acme_notes", *columns]), "acme_notes", columns)
    migrations.add_constraint("acme_notes_filled", "acme_notes", "CHECK (length >= -1)")
"""
PLAIN = """
from alembic import op
revision = "0002"
down_revision = "0001"

def upgrade():
    op.execute("ALTER TABLE acme_notes ADD COLUMN length BIGINT NOT NULL DEFAULT -1")
"""
AFTER = "0054"
"""Migrations of the core after this one create indexes of older tables by ``plugin_api.migrations``."""
FORMER = {"0002_users_of_codes.py", "0003_visitors.py"}
"""Migrations of plugins that do not, because their tables are small."""


def declare(folder: Path, *revisions: str) -> PluginTables:
    """Return the tables of the plugin ``acme``, after some of its migrations."""
    folder.mkdir(parents=True)
    for number, script in enumerate(revisions, start=1):
        (folder / f"{number:04}_some.py").write_text(script)
    tables = MetaData()
    notes = Table(
        "acme_notes",
        tables,
        Column("id", BigInteger, primary_key=True),
        Column("body", String(50), nullable=False),
    )
    if len(revisions) > 1:
        notes.append_column(Column("length", BigInteger, nullable=False, server_default="-1"))
        Index("acme_notes_body", notes.c.body)
    return PluginTables(tables, folder, f"{len(revisions):04}")


@pytest.fixture
def url(postgresql_databases: PostgresqlDatabases) -> Iterator[str]:
    with postgresql_databases.create(reusable=False) as url:
        yield url


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    database = Database(url)
    yield database
    database.close()


@pytest.fixture
def second(tmp_path: Path, url: str, database: Database) -> PluginTables:
    """The second version of the plugin, whose first version has many rows."""
    upgrade.upgrade(database.engine, {"acme": declare(tmp_path / "first", FIRST)})
    with connect(url) as connection:
        connection.execute(
            "INSERT INTO acme_notes SELECT n, md5(n::text) FROM generate_series(1, %s) n", [ROWS]
        )
    return declare(tmp_path / "second", FIRST, SECOND)


def connect(url: str) -> "psycopg.Connection[tuple[object, ...]]":
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


@contextmanager
def writing(url: str) -> Iterator[list[float]]:
    """Add and change rows until the block ends; yields how long each change took."""
    seconds: list[float] = []
    ends = threading.Event()

    def write() -> None:
        with connect(url) as connection:
            number = 0
            while not ends.is_set():
                number += 1
                began = time.monotonic()
                connection.execute("INSERT INTO acme_notes VALUES (%s, 'new')", [-number])
                connection.execute("UPDATE acme_notes SET body = 'x' WHERE id = %s", [number])
                seconds.append(time.monotonic() - began)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield seconds
    finally:
        ends.set()
        thread.join()


def start(folder: Path, url: str) -> "subprocess.Popen[bytes]":
    """Upgrade in another process, which can be killed."""
    script = f"""
        from pathlib import Path
        from sqlalchemy import BigInteger, Column, MetaData, String, Table
        from strongroom.foundation.database import Database
        from strongroom.foundation.database.upgrade import upgrade
        from strongroom.plugin_api.state import PluginTables
        tables = MetaData()
        Table("acme_notes", tables, Column("id", BigInteger, primary_key=True),
              Column("body", String(50), nullable=False), Column("length", BigInteger))
        upgrade(Database({url!r}).engine,
                {{"acme": PluginTables(tables, Path({str(folder)!r}), "0002")}})
    """
    return subprocess.Popen([sys.executable, "-c", dedent(script)])


def kill_when(condition: Callable[[], bool], folder: Path, url: str) -> None:
    """Begin an upgrade in another process, and kill it when it has come so far."""
    process = start(folder, url)
    patience = PATIENCE_SECONDS + ROWS / 2000
    wait_until(lambda: condition() or process.poll() is not None, patience)
    process.send_signal(signal.SIGKILL)
    process.wait()


def value(url: str, query: str) -> object:
    with connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    return row and row[0]


def test_a_stopped_upgrade_keeps_the_rows_that_it_has_changed(
    url: str, database: Database, second: PluginTables
) -> None:
    batches: list[int] = []
    with paced(Pace(0.001, lambda: len(batches) == 3, batches.append)), pytest.raises(BatchesStopped):
        upgrade.upgrade(database.engine, {"acme": second})
    assert batches == [2000] * 3
    filled = "SELECT count(*) FROM acme_notes WHERE length >= 0"
    assert value(url, filled) == 6000
    with paced(Pace(on_rows=batches.append)):
        upgrade.upgrade(database.engine, {"acme": second})
    assert value(url, filled) == ROWS
    # The last step has fewer rows than a batch.
    assert sum(batches) == ROWS // 2000 * 2000


def test_writes_go_on_while_an_upgrade_is_killed_and_continued(
    url: str, second: PluginTables, tmp_path: Path
) -> None:
    filled = "SELECT count(*) FROM acme_notes WHERE length >= 0"
    building = "SELECT count(*) FROM pg_stat_progress_create_index"

    def has_column() -> bool:
        query = (
            "SELECT count(*) FROM pg_attribute WHERE attrelid = 'acme_notes'::regclass AND attname = "
        )
        return value(url, f"{query}'length'") == 1

    with writing(url) as seconds:
        # Once while rows are filled, once while an index is built.
        kill_when(lambda: has_column() and value(url, filled) != 0, tmp_path / "second", url)
        kill_when(lambda: value(url, building) != 0, tmp_path / "second", url)
        database = Database(url)
        upgrade.upgrade(database.engine, {"acme": second})
        database.close()
    assert max(seconds) < LONGEST_WRITE + SLACK_SECONDS
    print(f"{ROWS} rows: {len(seconds)} writes, the longest took {max(seconds):.3f} s")  # noqa: T201
    assert value(url, "SELECT count(*) FROM acme_notes WHERE id > 0 AND length = -1") == 0
    indexes = "FROM pg_index WHERE indrelid = 'acme_notes'::regclass"
    assert value(url, f"SELECT count(*) {indexes} AND indisvalid") == 4
    assert value(url, f"SELECT count(*) {indexes}") == 4
    valid = "SELECT convalidated FROM pg_constraint WHERE conname = 'acme_notes_filled'"
    assert value(url, valid) is True


def test_an_invalid_index_is_built_again(url: str, second: PluginTables, database: Database) -> None:
    with connect(url) as connection:
        connection.execute("SET statement_timeout = '20ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute("CREATE INDEX CONCURRENTLY acme_notes_body ON acme_notes (body)")
    invalid = "SELECT count(*) FROM pg_index WHERE NOT indisvalid"
    assert value(url, invalid) == 1
    upgrade.upgrade(database.engine, {"acme": second})
    assert value(url, invalid) == 0


@needs_pgbouncer
def test_an_upgrade_goes_through_a_pooler(
    url: str, second: PluginTables, postgresql_databases: PostgresqlDatabases
) -> None:
    with Pooler.serving(postgresql_databases.server_url, "transaction", size=2) as pooler:
        pooled = Database(pooler.url(url))
        upgrade.upgrade(pooled.engine, {"acme": second})
        pooled.close()
    assert value(url, "SELECT count(*) FROM acme_notes WHERE length = -1") == 0
    indexes = "FROM pg_index WHERE indrelid = 'acme_notes'::regclass"
    assert value(url, f"SELECT count(*) {indexes} AND indisvalid") == 4


def test_a_long_transaction_delays_an_upgrade_and_no_write(
    url: str, second: PluginTables, database: Database, tmp_path: Path
) -> None:
    with connect(url) as reader, writing(url) as seconds:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM acme_notes")
        thread = threading.Thread(
            target=upgrade.upgrade, args=(database.engine, {"acme": plain(tmp_path)})
        )
        thread.start()
        time.sleep(HELD_SECONDS)
        assert thread.is_alive()
        reader.execute("COMMIT")
        thread.join()
    assert second.revision == "0002"
    assert max(seconds) < HELD_SECONDS / 2


def plain(tmp_path: Path) -> PluginTables:
    return declare(tmp_path / "plain", FIRST, PLAIN)


@pytest.mark.usefixtures("second")
def test_a_table_that_stays_locked_ends_the_upgrade(
    url: str, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade, "_LOCK_ATTEMPTS", 2)
    with connect(url) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM acme_notes")
        with pytest.raises(TablesInUse):
            upgrade.upgrade(database.engine, {"acme": plain(tmp_path)})
    upgrade.upgrade(database.engine, {"acme": plain(tmp_path / "again")})


@pytest.mark.parametrize("revision", ["0025", "0033", "0048", "0051", "0053"])
def test_an_upgrade_in_steps_leads_to_the_same_schema(
    postgresql_databases: PostgresqlDatabases, revision: str
) -> None:
    import_models()
    postgresql_databases.execute(f"CREATE DATABASE steps_{revision}")
    database = Database(postgresql_databases.url(f"steps_{revision}"))
    with database.engine.begin() as connection:
        command.upgrade(alembic_config(connection), revision)
    upgrade.upgrade(database.engine)
    with database.engine.connect() as connection:
        options = {"compare_type": True, "include_name": _is_of_a_model}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []
    database.close()
    postgresql_databases.execute(f"DROP DATABASE steps_{revision} WITH (FORCE)")


def _is_of_a_model(name: str | None, kind: str, _parents: object) -> bool:
    return kind != "table" or name is None or not is_derived(name)


def test_new_migrations_change_large_tables_without_blocking_writes() -> None:
    core = Path(upgrade.__file__).parent / "migrations/versions"
    plugins = Path(__file__).parents[4].glob("plugins/*/src/*/migrations/0*.py")
    files = [file for file in core.glob("0*.py") if file.name[:4] >= AFTER]
    files += [file for file in plugins if file.name not in FORMER]
    assert len(files) > 10
    assert [file.name for file in files if blocking(file.read_text())] == []
    assert blocking('op.create_index("i", "nodes", ["a"])')
    assert blocking("op.execute('CREATE INDEX i ON nodes (a)')")
    assert not blocking('op.create_table("a")\nop.create_index("i", "a", ["a"])')


def blocking(script: str) -> bool:
    """Return whether a migration creates an index of a table that it does not create, in one step."""
    calls = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Call)]
    by_name = {kind: list(_calls(calls, kind)) for kind in ("create_table", "create_index", "execute")}
    # Texts with quotes; a name that is computed is in neither.
    own_tables = {ast.unparse(call.args[0]) for call in by_name["create_table"]}
    tables = [ast.unparse(call.args[1]) for call in by_name["create_index"]]
    plain = any(table not in own_tables for table in tables)
    texts = [ast.unparse(call) for call in by_name["execute"]]
    return plain or any("CREATE INDEX" in text or "CREATE UNIQUE" in text for text in texts)


def _calls(calls: list[ast.Call], name: str) -> Iterator[ast.Call]:
    for call in calls:
        if ast.unparse(call.func) == f"op.{name}":
            yield call
