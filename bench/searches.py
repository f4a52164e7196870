"""Searches by name in a large tenant: the slowest of twenty, for administrators and members."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from sqlalchemy import text
from tests.support.databases import PostgresqlDatabases, SqliteDatabases

from bench.forest import Forest, plant
from bench.harness import Plan, Row
from bench.lists import CONFIG
from strongroom.config import load
from strongroom.container.services import Container, build
from strongroom.database.paging import Paging
from strongroom.files.name_index import fts_row, grams_of, int_array
from strongroom.files.names import fold_name
from strongroom.files.search import NodeSearch
from strongroom.identity import Identity, Origin
from strongroom.tenants.models import Role
from strongroom.users.models import UserType

_BATCH: Final = 5000
_WORDS: Final = (
    *("annual", "report", "quarterly", "invoice", "final", "draft", "photo", "holiday", "budget"),
    *("plan", "meeting", "notes", "contract", "scan", "image", "video", "backup", "project"),
    *("client", "summary", "data", "test"),
)
_HAN: Final = "报告总结张三李四合同项目计划会议照片视频音乐备份客户数据测试年月日财务人事"
_TEXTS: Final = (
    *("报告", "张三", "报", "总结报告", "合同项目", "年", "财务人"),
    *(
        "re",
        "e",
        "report",
        "quarterly bud",
        ".pdf",
        "photo holiday",
        "12",
        "1",
        "123456",
        "zz",
        "q",
        "IMG",
    ),
)
_ADD: Final = "INSERT INTO search_names (number, tenant_id, node_id, folded"
_VALUES: Final = "VALUES (:number, :tenant_id, :node_id, :folded"


def measure(plan: Plan) -> list[Row]:
    """Measure the milliseconds below which 95 of 100 searches stay."""
    with TemporaryDirectory(prefix="strongroom-bench-") as name:
        postgresql, sqlite = PostgresqlDatabases(Path(name)), SqliteDatabases(Path(name))
        try:
            return [
                row
                for kind, databases in (("SQLite", sqlite), ("PostgreSQL", postgresql))
                for row in _measure(kind, databases, Path(name), plan)
            ]
        finally:
            postgresql.stop()


def _measure(
    kind: str, databases: SqliteDatabases | PostgresqlDatabases, folder: Path, plan: Plan
) -> list[Row]:
    with ExitStack() as stack:
        container = stack.enter_context(_container(databases, folder))
        forest = plant(container, plan.files)
        _index(container, forest)
        with container.database.read() as connection:
            admin = connection.execute(
                text("SELECT user_id FROM tenant_members WHERE role = 'admin'")
            ).scalar_one()
        stranger = _member(container, forest, admin)
        users = {
            "an administrator": Identity(admin, "USER", "bench"),
            "a member who sees all": forest.member,
            "a member who sees nothing": stranger,
        }
        return [
            Row(
                f"95 % of the searches of {name} among {plan.files:,} names, {kind}",
                "ms",
                [_slowest(container, user, forest) for _ in range(plan.rounds)],
                is_cost=True,
            )
            for name, user in users.items()
        ]


@contextmanager
def _container(databases: SqliteDatabases | PostgresqlDatabases, folder: Path) -> Iterator[Container]:
    with databases.create() as url:
        config = folder / "strongroom.toml"
        # Planting a million rows on PostgreSQL is one statement.
        patient = CONFIG.replace("[plugins]", "timeout_seconds = 600\n[plugins]")
        config.write_text(patient.format(folder=folder, url=url))
        container = build(load(config, {}))
        try:
            yield container
        finally:
            container.close()


def _member(container: Container, forest: Forest, admin: str) -> Identity:
    with container.database.write() as connection:
        user = container.base.users.create(connection, "Stranger", UserType.USER)
    tenants = container.keeping.tenants
    tenants.put_member(Identity(admin, "USER", "bench"), forest.tenant, user.id, Role.MEMBER, Origin())
    return Identity(user.id, user.type, "bench")


def _index(container: Container, forest: Forest) -> None:
    """Give each node a name in the index, as if its name had always been that."""
    is_sqlite = container.database.engine.dialect.name == "sqlite"
    random = Random(1)  # noqa: S311  the same names each time
    add = f"{_ADD}) {_VALUES})" if is_sqlite else f"{_ADD}, grams) {_VALUES}, :grams)"
    fts = text("INSERT INTO name_index (rowid, grams) VALUES (:number, :grams)")
    with container.database.write() as connection:
        query = text("SELECT id FROM nodes WHERE id <> tenant_id ORDER BY id")
        ids = connection.execute(query).scalars().all()
        for start in range(0, len(ids), _BATCH):
            rows = []
            for number, node_id in enumerate(ids[start : start + _BATCH], start + 1):
                folded = fold_name(_name(random, number))
                row = {"number": number, "tenant_id": forest.tenant, "node_id": node_id}
                grams = [] if is_sqlite else int_array(grams_of(forest.tenant, folded))
                rows.append({**row, "folded": folded, "grams": grams})
            connection.execute(text(add), rows)
            if is_sqlite:
                documents = [fts_row(row["number"], forest.tenant, row["folded"]) for row in rows]
                connection.execute(fts, documents)
    raw = container.database.engine.execution_options(isolation_level="AUTOCOMMIT")
    with raw.connect() as connection:
        connection.exec_driver_sql("ANALYZE" if is_sqlite else "VACUUM ANALYZE search_names")


def _name(random: Random, number: int) -> str:
    ending = random.choice(["pdf", "docx", "jpg", "png", "xlsx"])
    if number % 2:
        pair = f"{random.choice(_WORDS)} {random.choice(_WORDS)}"
        return f"{pair}-{number} {random.randint(2000, 2026)}.{ending}"
    word = "".join(random.choices(_HAN, k=random.randint(3, 9)))
    return f"{word}{random.randint(1, 9999)}.{ending}"


def _slowest(container: Container, user: Identity, forest: Forest) -> float:
    """Return the 95th percentile of the durations of all searches, in milliseconds."""
    taken = []
    for wanted in _TEXTS:
        started = time.perf_counter()
        container.keeping.search.search(user, forest.tenant, NodeSearch(wanted), Paging(1, 50))
        taken.append((time.perf_counter() - started) * 1000)
    return sorted(taken)[len(taken) * 95 // 100]
