"""No statement of the core and of plugins with tables reads a large table as a whole.

Each constant of the code is planned for 10^7 users, 10^8 nodes and 10^9 events. Sequential scans are
off: the planner uses one only where no index can find the rows. Statements made for a call, such
as lists with filters, have tests of their own.
"""

import gc
import pkgutil
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final

import psycopg
import pytest
from sqlalchemy import Dialect
from tests.support.databases import PostgresqlDatabases
from tests.support.table_sizes import LARGE, pretend_sizes, size

from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement, _Dynamic
from strongroom.foundation.database.upgrade import upgrade

PLUGINS: Final = ("login_pages", "oidc_provider", "share_links", "webhooks")

EXCEPTIONS: Final = {
    "audit.verifier.records": "`StepwiseVerification` streams them, and stops after two seconds",
    "backup.restore.revoke_all": "a restore ends all logins",
    "files.reindexing.count": "`doctor` counts the names that are missing",
    "limits.backends.reset": "tests empty the counters",
    "nodes.order_counts.large": "`files reindex` reads the folders with several runs",
    "sessions.store.revocation": "`users end-sessions --all` ends all logins",
    "storage_maintenance.fsck.by_storage": "`fsck` looks for storages that are not configured",
    "users.user_reindexing.missing": "`doctor` counts the users who are missing",
}
"""Statements that read all rows because of what they do, with the reason."""

_PARTS: Final = re.compile(r"%%|%\((\w+)\)s")
_LIMITS: Final = re.compile(r"\b(LIMIT|OFFSET)\s+%\(\w+\)s(::\w+)?")


def _imported() -> None:
    names = ["strongroom", *(f"strongroom_{plugin}" for plugin in PLUGINS)]
    for name in names:
        for module in pkgutil.walk_packages(import_module(name).__path__, f"{name}."):
            if not re.search(r"\.(migrations|testing|cli)\b", module.name):
                import_module(module.name)


def _statements() -> Iterator[Statement[Any]]:
    # Frozen objects are not among those of the collector.
    gc.unfreeze()
    for item in gc.get_objects():
        if isinstance(item, Statement) and not isinstance(item, _Dynamic):
            module = item._module["__name__"]
            if module.startswith("strongroom") and ".testing" not in module:
                yield item


def _text(statement: Statement[Any], dialect: Dialect) -> str:
    compiled = statement.compiled(dialect)
    text = compiled._text
    if compiled._lists:
        lists = {name: _items(compiled._compiled.binds[name]) for name in compiled._lists}
        values = {**dict.fromkeys(compiled._compiled.params, 1), **lists}
        text = compiled._compiled.construct_expanded_state(values).statement
    return _numbered(_LIMITS.sub(lambda match: f"{match[1]} 50", text))


def _items(parameter: Any) -> list[Any]:
    # A list of rows has a tuple of values for each.
    types = getattr(parameter.type, "types", None)
    return [tuple("x" for _ in types)] * 4 if types else ["x"] * 4


def _numbered(text: str) -> str:
    """Return a statement with numbers in place of the names of its parameters."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] is None:
            return "%"
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    return _PARTS.sub(number, text)


def _scans(plan: Mapping[str, Any], *, is_limited: bool = False) -> Iterator[Mapping[str, Any]]:
    """Yield the scans that no limit above them ends."""
    is_limited = is_limited or plan["Node Type"] == "Limit"
    if "Relation Name" in plan and (not is_limited or plan["Node Type"] == "Seq Scan"):
        yield plan
    for part in plan.get("Plans", ()):
        yield from _scans(part, is_limited=is_limited)


def _is_unbounded(scan: Mapping[str, Any], partial: set[str]) -> bool:
    if size(scan["Relation Name"]) < LARGE:
        return False
    if scan["Node Type"] == "Seq Scan":
        return True
    is_whole = scan["Node Type"] in ("Index Scan", "Index Only Scan") and "Index Cond" not in scan
    return is_whole and scan["Index Name"] not in partial


def _unbounded(connection: "psycopg.Connection[Any]", dialect: Dialect) -> dict[str, str]:
    query = "SELECT indexrelid::regclass::text FROM pg_index WHERE indpred IS NOT NULL"
    partial = {name for (name,) in connection.execute(query).fetchall()}
    unbounded = {}
    for statement in _statements():
        text = _text(statement, dialect)
        if not text.lstrip().startswith(("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")):
            continue
        try:
            explain = f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {text}".encode()
            ((rows,),) = connection.execute(explain, prepare=False).fetchall()
        except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedFunction):
            # It is of SQLite only, or is part of another statement.
            continue
        if any(_is_unbounded(scan, partial) for scan in _scans(rows[0]["Plan"])):
            unbounded[statement.name] = text
    return unbounded


@pytest.fixture
def connection(postgresql_databases: PostgresqlDatabases) -> Iterator["psycopg.Connection[Any]"]:
    _imported()
    with postgresql_databases.create(reusable=False) as url:
        tables = {
            plugin: import_module(f"strongroom_{plugin}.plugin").register_tables() for plugin in PLUGINS
        }
        database = Database(url)
        upgrade(database.engine, tables)
        database.close()
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            pretend_sizes(connection, postgresql_databases.data_folder)
            connection.execute("SET enable_seqscan = off")
            yield connection


def test_no_statement_reads_a_large_table_as_a_whole(
    connection: "psycopg.Connection[Any]",
) -> None:
    dialect = Database("postgresql+psycopg://localhost/none").engine.dialect
    # Without an index, the check finds it.
    connection.execute("CREATE TABLE without_index (name text)")
    ((plan,),) = connection.execute("EXPLAIN (FORMAT JSON) SELECT FROM without_index").fetchall()
    assert any(_is_unbounded(scan, set()) for scan in _scans(plan[0]["Plan"]))
    unbounded = _unbounded(connection, dialect)
    assert {name: text for name, text in unbounded.items() if name not in EXCEPTIONS} == {}
    assert sorted(EXCEPTIONS.keys() - unbounded.keys()) == []
