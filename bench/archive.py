"""A tenant with a deep tree of named files, written straight into a database.

Departments contain projects, and projects files, in a random order: consecutive names are in different
folders, which is the most work for a search that decides what a member may see.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, text

from bench.forest import COUNTS, analyze, identity
from strongroom.assembly.container import Container
from strongroom.content.nodes import child_counts, order_counts
from strongroom.content.nodes.models import Permission
from strongroom.content.nodes.name_index import NAME_INDEX
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.service import TenantService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.collation import sort_key
from strongroom.foundation.database.grams import as_array
from strongroom.foundation.text_folding import fold_text

FILES_PER_PROJECT: Final = 100
PROJECTS_PER_DEPARTMENT: Final = 100

_BATCH: Final = 20_000
_WORDS: Final = (
    *("annual", "report", "quarterly", "invoice", "final", "draft", "photo", "holiday", "budget"),
    *("plan", "meeting", "notes", "contract", "scan", "image", "video", "backup", "project"),
    *("client", "summary", "data", "test"),
)
_HAN: Final = "报告总结张三李四合同项目计划会议照片视频音乐备份客户数据测试年月日财务人事"
_ENDINGS: Final = ("pdf", "docx", "jpg", "png", "xlsx")


class _Node(NamedTuple):
    id: str
    parent_id: str
    type: str
    name: str
    size: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Archive:
    """The created nodes, and users who see different parts of them.

    Args:
        tenant: the tenant.
        admin: administers the tenant, and owns its departments and projects.
        everything: may manage each department, and uploaded all files.
        tenth: may read each tenth department.
        few: may read three projects.
        nothing: is only a member.
        folder: a folder that contains files of all sizes and ages, directly.
    """

    tenant: str
    admin: Identity
    everything: Identity
    tenth: Identity
    few: Identity
    nothing: Identity
    folder: str


class Planter:
    """Writes rows in the fastest way of each database."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.is_sqlite = connection.dialect.name == "sqlite"

    def add(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        raw: Any = self._connection.connection.driver_connection
        names = ", ".join(columns)
        if self.is_sqlite:
            marks = ", ".join("?" * len(columns))
            raw.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)  # noqa: S608
            return
        with raw.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


def plant(container: Container, count: int, in_one_folder: int = 0) -> Archive:
    """Write a tenant with ``count`` files in projects, and more files directly in a folder."""
    people = {name: identity(container, name) for name in Archive.__slots__[1:-1]}
    admin = people["admin"]
    tenants = container.get(TenantService)
    tenant = tenants.create(admin, "Archive", Origin()).id
    for name, person in people.items():
        if name != "admin":
            tenants.put_member(admin, tenant, person.user_id, Role.MEMBER, Origin())
    folder = node_id(_FOLDERS_FROM + 1)
    with container.database.write() as connection:
        planter = Planter(connection)
        root = (tenant, tenant, "folder", "", 0, admin.user_id, 1, 1, 1)
        planter.add("nodes", _ROOT_COLUMNS, [root])
        _without_index(connection)
        departments, projects = _folders(tenant, count)
        folders = [*departments, *projects, _folder(folder, tenant, "flat")]
        _add(planter, tenant, admin, folders, 1)
        files = _files([project.id for project in projects], count)
        flat = _files([folder], in_one_folder, first=count)
        number = len(folders) + 1
        while batch := [*islice(files, _BATCH)] or [*islice(flat, _BATCH)]:
            _add(planter, tenant, people["everything"], batch, number)
            number += len(batch)
        roots = [*departments, folders[-1]]
        _grant(planter, tenant, people["everything"], roots, Permission.MANAGE)
        _grant(planter, tenant, people["tenth"], departments[::10], Permission.READ)
        _grant(planter, tenant, people["few"], projects[: 3 * 7 : 7], Permission.READ)
        connection.execute(text(COUNTS), {"tenant": tenant})
        if in_one_folder:
            order_counts.build(connection, folder, child_counts.SPLIT_ABOVE // 2)
        _with_index(connection)
    analyze(container)
    return Archive(tenant=tenant, folder=folder, **people)


_FOLDERS_FROM: Final = 900_000_000_000


def node_id(number: int) -> str:
    """Return the id of a node; those of files have the numbers from 0 on."""
    return f"00000000-0000-7000-8000-{number:012}"


def _folder(folder_id: str, parent_id: str, name: str) -> _Node:
    return _Node(folder_id, parent_id, "folder", name, 0, 1)


def _folders(tenant: str, count: int) -> tuple[list[_Node], list[_Node]]:
    wanted = max(count // FILES_PER_PROJECT, 3 * 7)
    departments = [
        _folder(node_id(_FOLDERS_FROM + 1000 + number), tenant, f"department {number}")
        for number in range(-(-wanted // PROJECTS_PER_DEPARTMENT))
    ]
    projects = [
        _folder(node_id(_FOLDERS_FROM + 1_000_000 + number), parent.id, f"project {number}")
        for number in range(wanted)
        for parent in [departments[number // PROJECTS_PER_DEPARTMENT]]
    ]
    return departments, projects


def _files(folder_ids: Sequence[str], count: int, first: int = 0) -> Iterator[_Node]:
    random = Random(1)  # noqa: S311  the same names each time
    for number in range(first, first + count):
        folder_id = random.choice(folder_ids)
        size, updated_at = random.randrange(1 << 30), random.randrange(1 << 40)
        yield _Node(node_id(number), folder_id, "file", _name(random, number), size, updated_at)


def _name(random: Random, number: int) -> str:
    ending = random.choice(_ENDINGS)
    if number % 2:
        pair = f"{random.choice(_WORDS)} {random.choice(_WORDS)}"
        return f"{pair}-{number} {random.randint(2000, 2026)}.{ending}"
    word = "".join(random.choices(_HAN, k=random.randint(3, 9)))
    return f"{word}{number}.{ending}"


_ROOT_COLUMNS: Final = (
    *("id", "tenant_id", "type", "name", "size", "owner_id", "created_at", "updated_at", "revision"),
)
_NODE_COLUMNS: Final = (
    *("id", "tenant_id", "parent_id", "type", "name", "size", "content_type", "checksum", "owner_id"),
    *("created_at", "updated_at", "revision", "sort_key"),
)


def _add(planter: Planter, tenant: str, owner: Identity, batch: Sequence[_Node], number: int) -> None:
    """Add nodes with the grants to their owner, and their names with numbers from ``number`` on."""
    kind = {"file": ("text/plain", ""), "folder": (None, None)}
    planter.add(
        "nodes",
        _NODE_COLUMNS,
        [
            (
                *(node[0], tenant, *node[1:5], *kind[node.type], owner.user_id),
                *(1, node.updated_at, 1, sort_key(node.name)),
            )
            for node in batch
        ],
    )
    _grant(planter, tenant, owner, [node for node in batch if node.type == "file"], is_at_top=False)
    folded = [(place, tenant, node.id, fold_text(node.name)) for place, node in enumerate(batch, number)]
    columns = ("number", "tenant_id", "node_id", "folded")
    if planter.is_sqlite:
        planter.add("search_names", columns, folded)
        documents = [NAME_INDEX.posting(place, tenant, name) for place, _, _, name in folded]
        rows = [(document["number"], document["grams"]) for document in documents]
        planter.add("name_index", ("rowid", "grams"), rows)
        return
    with_grams = [(*row, as_array(NAME_INDEX.grams.of_row(tenant, row[3]))) for row in folded]
    planter.add("search_names", (*columns, "grams"), with_grams)


def _grant(
    planter: Planter,
    tenant: str,
    user: Identity,
    granted: Sequence[_Node],
    permission: Permission = Permission.MANAGE,
    *,
    is_at_top: bool = True,
) -> None:
    columns = (
        *("node_id", "user_id", "tenant_id", "permission", "created_at", "node_name"),
        *("parent_visible_until", "node_type", "node_size", "node_updated_at", "node_sort_key"),
    )
    until = 0 if is_at_top else None
    rows = [
        (*(node.id, user.user_id, tenant, int(permission), 1, node.name, until), *_copies(node))
        for node in granted
    ]
    planter.add("grants", columns, rows)


def _copies(node: _Node) -> tuple[str, int, int, str]:
    return (node.type, node.size, node.updated_at, sort_key(node.name))


def _without_index(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        # One build is faster than a million insertions.
        connection.execute(text("DROP INDEX ix_search_names_grams"))


def _with_index(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("CREATE INDEX ix_search_names_grams ON search_names USING gin (grams)"))
        connection.execute(
            text("SELECT setval('search_names_number_seq', (SELECT max(number) FROM search_names))")
        )
