"""Pages of large lists in each order, for users who see them by different grants."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import text

from bench.archive import Archive, plant
from bench.databases import Databases, on_both_databases
from bench.forest import analyze
from bench.harness import Plan, Row, interleave
from bench.searches import get_container
from bench.work_time import Stopwatch, Taken
from strongroom.assembly.container import Container
from strongroom.content.files.list_requests import FilePage
from strongroom.content.files.listing import FileListing
from strongroom.content.nodes.node_filters import SORTS, NodeOrder
from strongroom.content.nodes.node_selection import NodeSelection
from strongroom.content.tenants.groups.service import GroupService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database.paging import Paging

PAGE: Final = 50
ORDERS: Final = (*SORTS, *(f"{sort}, folders first" for sort in SORTS))

# The times of the files are random, so these are spread over the folder.
_OWN_GRANTS: Final = """
INSERT INTO grants (node_id, user_id, tenant_id, permission, created_at, node_name,
                    parent_visible_until, node_type, node_size, node_updated_at, node_sort_key)
SELECT id, :user, tenant_id, 1, 1, name, 0, type, size, updated_at, sort_key
FROM nodes WHERE parent_id = :folder AND updated_at % 10 = 0
"""
_GROUP_GRANTS: Final = """
INSERT INTO group_grants (node_id, group_id, permission, created_at)
SELECT id, :group, 1, 1 FROM nodes WHERE parent_id = :folder AND updated_at % 100 = 1
"""


def measure(plan: Plan) -> list[Row]:
    """Measure the milliseconds of processor time of the first, the middle and the last page."""
    return on_both_databases(_measure, plan)


def _measure(kind: str, databases: Databases, folder: Path, plan: Plan) -> list[Row]:
    with ExitStack() as stack:
        container = stack.enter_context(get_container(databases, folder))
        archive = plant(container, 0, in_one_folder=plan.files)
        _grant(container, archive)
        lists = {
            "an administrator, in a folder": (archive.admin, archive.folder),
            "a member with a grant, in a folder": (archive.everything, archive.folder),
            "a member who sees a tenth of it, at the top level": (archive.tenth, None),
            "a member of a group that sees a hundredth of it, at the top level": (archive.nothing, None),
        }
        return [
            row
            for name, (user, parent) in lists.items()
            for order in ORDERS
            for row in _rows(
                f"{name}, `{order}`, {kind}", _List(container, archive, user, parent, order), plan
            )
        ]


def _grant(container: Container, archive: Archive) -> None:
    """Share single files of the folder with the members who see parts of it."""
    groups, admin, user = container.get(GroupService), archive.admin, archive.nothing.user_id
    group = groups.create(admin, archive.tenant, "readers", Origin()).id
    groups.add_member(admin, archive.tenant, group, user, Origin())
    with container.database.write() as connection:
        places = {"folder": archive.folder, "user": archive.tenth.user_id, "group": group}
        connection.execute(text(_OWN_GRANTS), places)
        connection.execute(text(_GROUP_GRANTS), places)
    analyze(container)


class _List:
    """The list of a user in one order: of a folder, or of the top level."""

    def __init__(
        self, container: Container, archive: Archive, user: Identity, parent: str | None, order: str
    ) -> None:
        self._listing, self._tenant = container.get(FileListing), archive.tenant
        self._user, self._parent = user, parent
        sort, _, first = order.partition(", ")
        selection = NodeSelection(order=NodeOrder.parse(sort, folders_first=bool(first)))
        self._wanted = None if selection.is_usual else selection
        self.page(1)
        self._stopwatch = Stopwatch(container)

    def page(self, number: int) -> FilePage:
        """Return a page."""
        own = (self._user, self._tenant, self._user.user_id)
        paging = Paging(number, PAGE)
        if self._parent is None:
            return self._listing.top_level(*own, paging, self._wanted)
        return self._listing.inside(*own, self._parent, paging, self._wanted)

    def time(self, number: int) -> Taken:
        """Return how long a page takes."""
        return self._stopwatch.measure(partial(self.page, number))


def _rows(name: str, pages: _List, plan: Plan) -> list[Row]:
    last = -(-pages.page(1).total // PAGE)
    numbers = {"first page": 1, "middle page": max(last // 2, 1), "last page": last}
    figures = interleave(plan.rounds, *(partial(pages.time, number) for number in numbers.values()))
    return [
        Row(f"{name}, {page}: processor time", "ms", [taken.processor for taken in times], is_cost=True)
        for page, times in zip(numbers, figures, strict=True)
    ]
