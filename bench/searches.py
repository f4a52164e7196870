"""Searches by name and sorted lists in a large tenant, for users who see different parts of it."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Final

from sqlalchemy import select

from bench.archive import Archive, plant
from bench.databases import CONFIG, Databases, on_both_databases
from bench.harness import Limit, Plan, Row, interleave
from bench.search_texts import drawn
from bench.work_time import Stopwatch, Taken
from strongroom.assembly.container import Container, build
from strongroom.content.files.listing import FileListing
from strongroom.content.nodes.name_index import search_names
from strongroom.content.nodes.node_filters import SORTS, NodeOrder
from strongroom.content.nodes.node_selection import NodeSelection
from strongroom.extensions.search.service import FileSearch, NodeSearch
from strongroom.foundation.caller import Identity
from strongroom.foundation.config import load
from strongroom.foundation.database.paging import Paging

PAGE: Final = 50
DEEP: Final = 1000
"""The number of a page that few turn to."""
_TURNS: Final = 5
SORTED_SHARE: Final = 10
"""A tenth of the files are in one folder, which is listed in all orders."""


def measure(plan: Plan) -> list[Row]:
    """Measure the milliseconds of searches and of sorted pages."""
    return on_both_databases(_measure, plan)


def _measure(kind: str, databases: Databases, folder: Path, plan: Plan) -> list[Row]:
    with ExitStack() as stack:
        container = stack.enter_context(get_container(databases, folder))
        archive = plant(container, plan.files)
        rows = _searches(container, archive, kind, plan)
    with ExitStack() as stack:
        # In a tenant of its own, because its files are the most recently named ones.
        container = stack.enter_context(get_container(databases, folder))
        count = plan.files // SORTED_SHARE
        archive = plant(container, 0, in_one_folder=count)
        return [*rows, *_sorted_pages(container, archive, kind, plan, count)]


@contextmanager
def get_container(databases: Databases, folder: Path) -> Iterator[Container]:
    """Yield the services of a server with a new database."""
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
    texts = [text for some in drawn(_names(container)).values() for text in some]
    stopwatch = Stopwatch(container)
    # A round without figures fills the caches of the database, as everyday use does.
    figures = interleave(
        plan.rounds,
        *(partial(_slow, container, stopwatch, user, archive, texts) for user in users.values()),
    )
    return [
        row
        for name, taken in zip(users, figures, strict=True)
        for row in _rows(f"95 % of {len(texts)} searches of {name}, {plan.files:,} names, {kind}", taken)
    ]


def _rows(name: str, taken: Sequence[Taken]) -> list[Row]:
    return [
        Row(name, "ms", [each.wall for each in taken], is_cost=True),
        Row(f"{name}: processor time", "ms", [each.processor for each in taken], is_cost=True),
    ]


def _names(container: Container) -> Sequence[str]:
    with container.database.read() as connection:
        query = select(search_names.c.folded).order_by(search_names.c.number)
        return connection.execute(query).scalars().all()


def _slow(
    container: Container, stopwatch: Stopwatch, user: Identity, archive: Archive, texts: Sequence[str]
) -> Taken:
    """Return the 95th percentiles of the times of all searches."""
    search = container.get(FileSearch).search
    calls = [partial(search, user, archive.tenant, NodeSearch(text), Paging(1, PAGE)) for text in texts]
    taken = [*map(stopwatch.measure, calls)]
    return Taken(*(quantiles(times, n=20)[-1] for times in zip(*taken, strict=True)))


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
        page = container.get(FileListing).inside(
            user, archive.tenant, user.user_id, archive.folder, Paging(number, PAGE), wanted
        )
        if not page.records:
            raise RuntimeError("a page has the wrong content")
    return (time.perf_counter() - started) * 1000 / _TURNS
