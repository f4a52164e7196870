"""Searches by name and sorted lists in a large tenant, for users who see different parts of it."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.support.databases import PostgresqlDatabases, SqliteDatabases

from bench.archive import Archive, plant
from bench.harness import Limit, Plan, Row, interleave
from bench.lists import CONFIG
from strongroom.assembly.container import Container, build
from strongroom.content.files.search import NodeSearch
from strongroom.content.nodes.node_filters import SORTS, NodeOrder
from strongroom.content.nodes.node_selection import NodeSelection
from strongroom.foundation.caller import Identity
from strongroom.foundation.config import load
from strongroom.foundation.database.paging import Paging

_TEXTS: Final = (
    *("报告", "张三", "报", "总结报告", "合同项目", "年", "财务人"),
    *("re", "e", "report", "quarterly bud", ".pdf", "photo holiday", "12", "1", "123456", "zz", "q"),
    "IMG",
)
PAGE: Final = 50
DEEP: Final = 1000
"""The number of a page that few turn to."""
_TURNS: Final = 5
SORTED_SHARE: Final = 10
"""A tenth of the files are in one folder, which is listed in all orders."""


def measure(plan: Plan) -> list[Row]:
    """Measure the milliseconds of searches and of sorted pages."""
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
        archive = plant(container, plan.files)
        rows = _searches(container, archive, kind, plan)
    with ExitStack() as stack:
        # In a tenant of its own, because its files are the most recently named ones.
        container = stack.enter_context(_container(databases, folder))
        count = plan.files // SORTED_SHARE
        archive = plant(container, 0, in_one_folder=count)
        return [*rows, *_sorted_pages(container, archive, kind, plan, count)]


@contextmanager
def _container(databases: SqliteDatabases | PostgresqlDatabases, folder: Path) -> Iterator[Container]:
    with databases.create() as url:
        config = folder / "strongroom.toml"
        config.write_text(CONFIG.format(folder=folder, url=url))
        container = build(load(config, {}))
        try:
            yield container
        finally:
            container.close()


def _searches(container: Container, archive: Archive, kind: str, plan: Plan) -> list[Row]:
    """Return the milliseconds below which 95 of 100 searches stay, in each round."""
    users = {
        "an administrator": archive.admin,
        "a member who sees all": archive.everything,
        "a member who sees a tenth": archive.tenth,
        "a member who sees few": archive.few,
        "a member who sees nothing": archive.nothing,
    }
    among = f"among {plan.files:,} names, {kind}"
    # A round without figures fills the caches of the database, as everyday use does.
    figures = interleave(
        plan.rounds, *(partial(_slowest, container, user, archive) for user in users.values())
    )
    return [
        Row(f"95 % of the searches of {name} {among}", "ms", values, is_cost=True)
        for name, values in zip(users, figures, strict=True)
    ]


def _slowest(container: Container, user: Identity, archive: Archive) -> float:
    """Return the 95th percentile of the durations of all searches, in milliseconds."""
    taken = []
    for wanted in _TEXTS:
        started = time.perf_counter()
        container.keeping.search.search(user, archive.tenant, NodeSearch(wanted), Paging(1, PAGE))
        taken.append((time.perf_counter() - started) * 1000)
    return sorted(taken)[len(taken) * 95 // 100]


def _sorted_pages(
    container: Container, archive: Archive, kind: str, plan: Plan, count: int
) -> list[Row]:
    """Return the duration of a deep page in each order, compared with the first page."""
    deep = max(min(DEEP, count // PAGE), 1)
    rows = []
    for sort in SORTS:
        first, last = interleave(
            plan.rounds,
            partial(_page, container, archive, sort, 1),
            partial(_page, container, archive, sort, deep),
        )
        name = f"page {deep:,} of {count:,} nodes by `{sort}`, {kind}"
        rows.append(Row(name, "ms", last, Limit("page 1", first), is_cost=True))
    return rows


def _page(container: Container, archive: Archive, sort: str, number: int) -> float:
    """Return the mean duration of a page of the folder, in milliseconds."""
    user = archive.everything
    order = NodeSelection(order=NodeOrder.parse(sort))
    wanted = None if order.is_usual else order
    started = time.perf_counter()
    for _ in range(_TURNS):
        page = container.keeping.listing.inside(
            user, archive.tenant, user.user_id, archive.folder, Paging(number, PAGE), wanted
        )
        if not page.records:
            raise RuntimeError("a page has the wrong content")
    return (time.perf_counter() - started) * 1000 / _TURNS
