"""SQL that several threads build for the first time at once, as the first requests after a start do."""

import ast
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import CTE, literal, select

import strongroom
from strongroom.content.nodes.models import folders_around

_THREADS = 16
_SQL_TYPES = {"CTE", "ColumnElement", "FromClause", "PageQuery", "Select", "Source", "Statement"}


@pytest.fixture(autouse=True)
def frequent_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_at_once_share_the_folders_around_a_node() -> None:
    barrier = Barrier(_THREADS)

    def build(parameter: str) -> CTE:
        barrier.wait(60)
        return folders_around(parameter)

    with ThreadPoolExecutor(_THREADS) as pool:
        for number in range(50):
            made = list(pool.map(build, [f"of_round_{number}"] * _THREADS))
            assert len({id(path) for path in made}) == 1
            # SQLAlchemy refuses two of one name within a statement.
            str(select(*(select(path.c.id == literal("")).scalar_subquery() for path in made)))


def test_no_cached_sql_is_built_twice() -> None:
    """``functools.cache`` calls its function in each thread that comes before the first one is done."""
    assert list(_unguarded()) == []


def _unguarded() -> Iterator[str]:
    for path in Path(strongroom.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and _is_cached(node) and _returns_sql(node):
                yield f"{path}: {node.name}"


def _is_cached(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(item).startswith(("cache", "lru_cache")) for item in function.decorator_list)


def _returns_sql(function: ast.FunctionDef) -> bool:
    names = {node.id for node in ast.walk(function.returns or function) if isinstance(node, ast.Name)}
    return not _SQL_TYPES.isdisjoint(names)
