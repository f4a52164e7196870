"""How many nodes a page of a large folder and a search read: counted work instead of time."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from bench.archive import Archive, plant
from bench.forest import analyze
from sqlalchemy import event, text
from tests.support.api import Api
from tests.support.databases import on_postgresql, on_sqlite
from tests.support.work import counted_steps

from strongroom.assembly.container import Container
from strongroom.content.files.grants import GroupGrantRequest
from strongroom.content.files.group_grants import GroupGrantService
from strongroom.content.files.listing import FileListing
from strongroom.content.nodes.models import Permission
from strongroom.content.nodes.node_filters import SORTS, NodeFilter, NodeOrder
from strongroom.content.nodes.node_selection import NodeSelection
from strongroom.content.tenants.groups.service import GroupService
from strongroom.extensions.search import scope as search_scope
from strongroom.extensions.search.service import FileSearch, NodeSearch
from strongroom.foundation.caller import Origin
from strongroom.foundation.database.paging import Paging

SMALL: Final = 600
LARGE: Final = 8 * SMALL
PAGE: Final = 20


@pytest.fixture
def archive_of(api: Api, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Archive]:
    monkeypatch.setattr("strongroom.content.nodes.child_counts.SPLIT_ABOVE", 100)
    return lambda count: _planted(api.container, count)


def _planted(container: Container, count: int) -> Archive:
    """Plant a folder, which the member who saw nothing sees through a group."""
    archive, services = plant(container, 0, in_one_folder=count), container
    tenant, admin = archive.tenant, archive.admin
    group = services.get(GroupService).create(admin, tenant, "readers", Origin()).id
    services.get(GroupService).add_member(admin, tenant, group, archive.nothing.user_id, Origin())
    grant = GroupGrantRequest(group, Permission.READ, None)
    services.get(GroupGrantService).put(admin, tenant, archive.folder, grant, Origin())
    return archive


# As if an administrator had shared each file with a member, who does not see the folder.
_GRANTS: Final = """
INSERT INTO grants (node_id, user_id, tenant_id, permission, created_at, node_name,
                    parent_visible_until, node_type, node_size, node_updated_at, node_sort_key)
SELECT id, :user, tenant_id, 1, 1, name, 0, type, size, updated_at, sort_key
FROM nodes WHERE parent_id = :folder
"""


def _shared(api: Api, count: int) -> Archive:
    """Plant files that are the top level of the member who sees few others."""
    archive = plant(api.container, 0, in_one_folder=count)
    with api.container.database.write() as connection:
        values = {"user": archive.few.user_id, "folder": archive.folder}
        connection.execute(text(_GRANTS), values)
    analyze(api.container)
    return archive


ORDERS: Final = (*SORTS, *(f"{sort}, folders first" for sort in SORTS))


def _selection(sort: str) -> NodeSelection | None:
    sort, _, first = sort.partition(", ")
    order = NodeSelection(order=NodeOrder.parse(sort, folders_first=bool(first)))
    return None if order.is_usual else order


def _read_top_level(container: Container, archive: Archive, sort: str, number: int) -> None:
    user = archive.few
    page = container.get(FileListing).top_level(
        user, archive.tenant, user.user_id, Paging(number, PAGE), _selection(sort)
    )
    assert len(page.records) == PAGE


def _read(container: Container, archive: Archive, sort: str, number: int) -> None:
    wanted = _selection(sort)
    for user in (archive.admin, archive.everything, archive.nothing):
        page = container.get(FileListing).inside(
            user, archive.tenant, user.user_id, archive.folder, Paging(number, PAGE), wanted
        )
        assert len(page.records) == PAGE


def _work(
    api: Api,
    archive: Archive,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    read: Callable[[Container, Archive, str, int], None] = _read,
) -> dict[str, int]:
    work = {}
    for sort in ORDERS:
        for number in (1, count // PAGE // 2, count // PAGE):
            read(api.container, archive, sort, number)
            with counted_steps(api.container, monkeypatch) as steps:
                read(api.container, archive, sort, number)
            work[f"{sort}, page {number * PAGE / count:.1f}"] = steps[0]
    return work


@on_sqlite
def test_a_page_in_any_order_reads_no_more_of_a_larger_folder(
    api: Api, archive_of: Callable[[int], Archive], monkeypatch: pytest.MonkeyPatch
) -> None:
    large = _work(api, archive_of(LARGE), monkeypatch, LARGE)
    by_name = max(steps for page, steps in large.items() if page.startswith("name, page"))
    # A folder of eight times as many nodes has eight times as many runs, of which each is a row.
    assert {page: steps for page, steps in large.items() if steps > 2 * by_name} == {}
    assert by_name < LARGE


@on_sqlite
def test_a_page_of_a_top_level_in_any_order_reads_as_much_as_by_name(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _work(api, _shared(api, LARGE), monkeypatch, LARGE, _read_top_level)
    for part in ("0.0", "0.5", "1.0"):
        by_name = work[f"name, page {part}"]
        pages = {page: steps for page, steps in work.items() if page.endswith(part)}
        assert {page: steps for page, steps in pages.items() if steps > 2 * by_name} == {}


@on_postgresql
def test_no_page_of_a_top_level_in_any_order_is_sorted(api: Api) -> None:
    archive = _shared(api, LARGE)
    with _noted_statements(api.container, " grants") as statements:
        for sort in ORDERS:
            for number in (1, LARGE // PAGE // 2):
                _read_top_level(api.container, archive, sort, number)
    sorting = [each for each in statements if "ORDER BY" in each[0]]
    assert len(sorting) > 2 * len(ORDERS)
    # To sort this few nodes costs about as much as the index, so a plan may do either.
    plans = _planned(api.container, sorting, "SET LOCAL enable_sort = off")
    assert not [kind for kind in plans if _is_slow(kind)]


@on_postgresql
def test_no_page_in_any_order_is_sorted(api: Api, archive_of: Callable[[int], Archive]) -> None:
    archive = archive_of(LARGE)
    with _noted_statements(api.container, " nodes") as statements:
        for sort in ORDERS:
            for number in (1, LARGE // PAGE // 2):
                _read(api.container, archive, sort, number)
    assert len(statements) > 2 * len(ORDERS)
    assert not [kind for kind in _planned(api.container, statements) if _is_slow(kind)]


@on_postgresql
def test_a_search_in_many_folders_reads_the_nodes_around_its_candidates_only(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strongroom.extensions.search.scope.MAX_FOLDERS", 5)
    search_scope._extent_statement.cache_clear()
    archive = plant(api.container, LARGE)
    with _noted_statements(api.container, " around") as statements:
        search = api.container.get(FileSearch).search
        assert search(archive.everything, archive.tenant, NodeSearch("report"), Paging(1, PAGE)).total
    search_scope._extent_statement.cache_clear()
    assert len(statements) > 1
    assert not [kind for kind in _planned(api.container, statements) if kind == "Seq Scan nodes"]


@on_postgresql
def test_a_search_of_a_member_who_sees_few_nodes_reads_matching_names_only(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strongroom.extensions.search.service._FEW_NODES", 0)
    archive = plant(api.container, LARGE)
    with _noted_statements(api.container, " folders") as statements:
        search = api.container.get(FileSearch).search
        # A text of about one in 25 names, which is frequent for a caller who sees all of them.
        total = search(archive.tenth, archive.tenant, NodeSearch("report"), Paging(1, PAGE)).total
    kinds = _planned(api.container, statements)
    assert total
    assert "Bitmap Index Scan" in kinds
    assert not [kind for kind in kinds if kind.endswith("Scan search_names") and "Bitmap" not in kind]


def _read_recent(container: Container, archive: Archive, since: int, sort: str) -> int:
    selection = NodeSelection(None, NodeFilter(modified_after=since), NodeOrder.parse(sort))
    user = archive.everything
    page = container.get(FileListing).inside(
        user, archive.tenant, user.user_id, archive.folder, Paging(1, PAGE), selection
    )
    return page.total


@on_sqlite
@pytest.mark.parametrize("sort", ["name", "-updatedAt", "size"])
def test_nodes_that_changed_lately_are_found_without_reading_the_others(
    api: Api, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    archive = plant(api.container, 0, in_one_folder=LARGE)
    in_folder = {"folder": archive.folder}
    recent = "SELECT id FROM nodes WHERE parent_id = :folder LIMIT 5"
    with api.container.database.write() as connection:
        for condition, moment in (("parent_id = :folder", 1000), (f"id IN ({recent})", 3000)):
            connection.execute(
                text(f"UPDATE nodes SET updated_at = {moment} WHERE {condition}"),
                in_folder,
            )
    assert _read_recent(api.container, archive, 2000, sort) == 5
    with counted_steps(api.container, monkeypatch) as steps:
        _read_recent(api.container, archive, 2000, sort)
    assert steps[0] < SMALL


def _is_slow(kind: str) -> bool:
    return "Sort" in kind or kind == "Seq Scan nodes"


@contextmanager
def _noted_statements(container: Container, part: str) -> Iterator[list[tuple[str, Any]]]:
    """Note the statements that contain a text, with their parameters."""
    statements: list[tuple[str, Any]] = []

    def note(_c: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if part in statement:
            statements.append((statement, parameters))

    event.listen(container.database.engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(container.database.engine, "before_cursor_execute", note)


def _planned(container: Container, statements: list[tuple[str, Any]], *settings: str) -> list[str]:
    """Return the kinds of all nodes of the plans of PostgreSQL."""
    kinds: list[str] = []
    with container.database.engine.begin() as connection:
        for setting in settings:
            connection.exec_driver_sql(setting)
        for statement, parameters in statements:
            explained = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", parameters)
            plan = explained.scalar_one()
            kinds += _kinds(plan if isinstance(plan, list) else json.loads(plan))
    return kinds


def _kinds(plan: Any) -> Iterator[str]:
    """Yield the kinds of all nodes of a plan, with their tables."""
    if isinstance(plan, list):
        for part in plan:
            yield from _kinds(part)
    elif isinstance(plan, dict):
        if "Node Type" in plan:
            yield f"{plan['Node Type']} {plan.get('Relation Name', '')}".strip()
        for part in plan.values():
            yield from _kinds(part)
