"""Pages of a member's list, in a large tenant compared with one of ten thousand files."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from bench.databases import CONFIG, Databases, on_both_databases
from bench.forest import SHOWN, Forest, plant
from bench.harness import Limit, Plan, Row, interleave
from strongroom.assembly.container import Container, build
from strongroom.content.files.listing import FileListing
from strongroom.foundation.config import load
from strongroom.foundation.database.paging import Paging

FEW: Final = 10_000
PAGE: Final = 50
DEEP: Final = 1000
"""The number of a page that few turn to."""
PAGES_A_TURN: Final = 20


def measure(plan: Plan) -> list[Row]:
    """Measure the milliseconds that a page costs."""
    return on_both_databases(_measure, plan)


def _measure(kind: str, databases: Databases, folder: Path, plan: Plan) -> list[Row]:
    with ExitStack() as stack:
        few, many = (
            stack.enter_context(_lists(databases, folder, count)) for count in (FEW, plan.files)
        )
        deep_page = min(DEEP, plan.files // PAGE // 2)
        top_few, top_many, first_few, first, deep = interleave(
            plan.rounds,
            few.top,
            many.top,
            lambda: few.inside(1),
            lambda: many.inside(1),
            lambda: many.inside(deep_page),
        )
    among, peer = f"{plan.files:,} files, {kind}", f"{FEW:,} files"
    return [
        Row(f"top of {SHOWN:,} among {among}", "ms", top_many, Limit(peer, top_few), is_cost=True),
        Row(f"folder of {among}", "ms", first, Limit(peer, first_few), is_cost=True),
        Row(f"its page {deep_page:,}, {kind}", "ms", deep, Limit("page 1", first), is_cost=True),
    ]


class _Lists:
    """The lists of one member."""

    def __init__(self, container: Container, forest: Forest) -> None:
        self._listing = container.get(FileListing)
        self._forest = forest

    def top(self) -> float:
        """Return the duration of the second last page of the top level, in milliseconds."""
        forest, paging = self._forest, Paging(SHOWN // PAGE - 1, PAGE)
        started = time.perf_counter()
        for _ in range(PAGES_A_TURN):
            page = self._listing.top_level(forest.member, forest.tenant, forest.member.user_id, paging)
        taken = time.perf_counter() - started
        _require(page.total == SHOWN + 1 and len(page.records) == PAGE)
        return taken * 1000 / PAGES_A_TURN

    def inside(self, number: int) -> float:
        """Return the duration of a page of the folder, in milliseconds."""
        forest, paging = self._forest, Paging(number, PAGE)
        started = time.perf_counter()
        for _ in range(PAGES_A_TURN):
            page = self._listing.inside(
                forest.member, forest.tenant, forest.member.user_id, forest.folder, paging
            )
        taken = time.perf_counter() - started
        _require(len(page.records) == PAGE)
        return taken * 1000 / PAGES_A_TURN


@contextmanager
def _lists(databases: Databases, folder: Path, count: int) -> Iterator[_Lists]:
    with databases.create() as url:
        config = folder / "strongroom.toml"
        config.write_text(CONFIG.format(folder=folder, url=url))
        container = build(load(config, {}))
        try:
            yield _Lists(container, plant(container, count))
        finally:
            container.close()


def _require(is_right: bool) -> None:
    if not is_right:
        raise RuntimeError("a page has the wrong content")
