"""The repair of the index of names, and its migration."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import text
from tests.support.scene import Scene

from strongroom.content.files.reindexing import NameReindexing, OrderRecount
from strongroom.content.nodes import child_counts, name_index
from strongroom.content.nodes.name_index import NAME_INDEX
from strongroom.extensions.observability.checks import NameIndexCheck
from strongroom.extensions.observability.doctor import CheckState
from strongroom.foundation.collation import sort_key
from strongroom.foundation.database import Database, text_index
from strongroom.foundation.database.upgrade import alembic_config, upgrade


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_index, "BLOCK", 4)


def found(scene: Scene, query: str) -> list[str]:
    answer = scene.api.get(f"{scene.path}/search?query={query}", by=scene.admin)
    return [node["name"] for node in answer.json["data"]]


@pytest.mark.usefixtures("small_blocks")
class TestReindexing:
    """What a run corrects."""

    def test_missing_and_wrong_names_are_corrected(self, scene: Scene) -> None:
        nodes = [scene.folder(f"folder 文件{number}") for number in range(9)]
        database, reindexing = scene.api.container.database, scene.api.container.get(NameReindexing)
        assert reindexing.run() == 0
        with database.write() as connection:
            for node, change in (
                (nodes[0], "DELETE FROM search_names WHERE node_id = :id"),
                (nodes[5], "UPDATE search_names SET folded = 'other' WHERE node_id = :id"),
            ):
                connection.execute(text(change), {"id": node["id"]})
        (finding,) = NameIndexCheck(reindexing)()
        assert (finding.state, finding.part) == (CheckState.WARNING, "search")
        assert len(found(scene, "文件")) == 7
        progress: list[int] = []
        assert reindexing.run(progress.append) == 2
        assert (sum(progress), reindexing.count()) == (9, (9, 0))
        assert found(scene, "文件") == [f"folder 文件{number}" for number in range(9)]
        (finding,) = NameIndexCheck(reindexing)()
        assert finding.state is CheckState.OK
        scene.folder("文件 later")
        assert len(found(scene, "文件")) == 10

    def test_the_grams_of_deleted_and_earlier_names_are_removed_on_sqlite(self, scene: Scene) -> None:
        database, reindexing = scene.api.container.database, scene.api.container.get(NameReindexing)
        if database.engine.dialect.name != "sqlite":
            pytest.skip("PostgreSQL removes them at once")
        nodes = [scene.folder(f"报告{number}") for number in range(8)]
        for number, node in enumerate(nodes):
            scene.api.patch(f"{scene.path}/files/{node['id']}", {"name": f"{number}"}, by=scene.admin)
        (gram,) = NAME_INDEX.grams.of_search(scene.path.rpartition("/")[2], "报告")

        def entries() -> int:
            query = text("SELECT count(*) FROM name_index WHERE name_index MATCH :gram")
            with database.read() as connection:
                return int(connection.execute(query, {"gram": f'"{gram:x}"'}).scalar_one())

        assert entries() > 0
        reindexing.run()
        assert entries() == 0
        assert found(scene, "7") == ["7"]


@pytest.mark.usefixtures("small_blocks")
def test_wrong_counts_of_sorted_lists_still_find_each_page_and_are_corrected(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_counts, "SPLIT_ABOVE", 4)
    nodes = [scene.folder(f"folder {number}") for number in range(12)]
    database, recount = scene.api.container.database, scene.api.container.get(OrderRecount)

    def pages() -> list[str]:
        path = f"{scene.path}/owners/me/files?sort=updatedAt&pageSize=3&pageNumber="
        answers = [scene.api.get(f"{path}{number}", by=scene.admin).json for number in range(1, 5)]
        return [node["id"] for answer in answers for node in answer["data"]]

    def runs() -> list[Any]:
        query = text("SELECT * FROM folder_runs ORDER BY list, first_value, first_key")
        with database.read() as connection:
            return [tuple(row) for row in connection.execute(query)]

    expected = [node["id"] for node in nodes]
    assert sorted(pages()) == sorted(expected)
    with database.write() as connection:
        connection.execute(text("UPDATE folder_runs SET children = children + 3"))
    wrong, found_pages = runs(), pages()
    assert sorted(found_pages) == sorted(expected)
    assert recount.run() == 1
    assert pages() == found_pages
    assert runs() != wrong
    assert {run[1:] for run in runs() if run[1].startswith("file/")} == {
        (f"file/{key}", -1, "", 0) for key in ("name", "size", "updatedAt")
    }
    assert Counter(run[1] for run in runs() for _ in range(run[4])) == dict.fromkeys(
        ("name", "size", "updatedAt", "folder/name", "folder/updatedAt"), 12
    )


def _old_database(path: Path, revision: str, names: list[str]) -> Database:
    """Return a database of an earlier schema with folders of these names in one tenant."""
    database = Database(f"sqlite:///{path}")
    with database.engine.execution_options(strongroom_writing=True).begin() as connection:
        command.upgrade(alembic_config(connection), revision)
        columns = (
            "id, tenant_id, parent_id, type, name, size, owner_id, created_at, updated_at, revision"
        )
        row = (
            f"INSERT INTO nodes ({columns}) VALUES (:id, 't', :parent, 'folder', :name, 0, 'u', 1, 1, 1)"
        )
        user = "id, type, status, name, created_at, updated_at, revision"
        tenant = "id, name, used_bytes, reserved_bytes, created_at, updated_at, revision"
        for values in (
            f"users ({user}) VALUES ('u', 'USER', 'active', '', 1, 1, 1)",
            f"tenants ({tenant}) VALUES ('t', 'T', 0, 0, 1, 1, 1)",
        ):
            connection.execute(text(f"INSERT INTO {values}"))
        connection.execute(text(row), {"id": "t", "parent": None, "name": ""})
        rows = [{"id": f"n{n:05}", "parent": "t", "name": name} for n, name in enumerate(names)]
        connection.execute(text(row), rows)
    return database


def test_the_migration_counts_large_folders_in_all_orders(tmp_path: Path) -> None:
    names = [f"{number:04}" for number in range(2100)]
    database = _old_database(tmp_path / "old.sqlite3", "0025", names)
    with database.engine.execution_options(strongroom_writing=True).begin() as connection:
        for name, count in (("", 1000), (names[1000], 1100)):
            row = f"INSERT INTO folder_counts VALUES ('t', '{name}', {count})"
            connection.execute(text(row))
    upgrade(database.engine)
    with database.read() as connection:
        rows = connection.execute(text("SELECT * FROM folder_runs")).all()
        former = connection.execute(text("SELECT count(*) FROM folder_order_counts")).scalar()
    counted = {"folder/name": 0, "folder/updatedAt": 1, "name": 0, "size": 0, "updatedAt": 1}
    assert sorted(tuple(row) for row in rows if not row.list.startswith("file/")) == [
        ("t", each, *run)
        for each, value in counted.items()
        for run in ((-1, "", 2048), (value, sort_key(names[2048]), 52))
    ]
    assert sorted(tuple(row) for row in rows if row.list.startswith("file/")) == [
        ("t", f"file/{key}", -1, "", 0) for key in ("name", "size", "updatedAt")
    ]
    assert former == 0
    database.close()


def test_the_migration_computes_the_sort_keys_of_existing_names(tmp_path: Path) -> None:
    names = [f"img{number}" for number in range(1, 1202)]
    database = _old_database(tmp_path / "old.sqlite3", "0048", names)
    with database.engine.execution_options(strongroom_writing=True).begin() as connection:
        connection.execute(text("INSERT INTO tenant_members VALUES ('t', 'u', 'member', 1)"))
        for node in ("n00009", "n01200"):
            connection.execute(text(_GRANT), {"node": node, "until": 0})
    upgrade(database.engine)
    with database.read() as connection:
        found = connection.execute(
            text("SELECT name FROM nodes WHERE parent_id = 't' ORDER BY sort_key")
        )
        copied = connection.execute(text("SELECT node_sort_key FROM grants ORDER BY node_id"))
        assert found.scalars().all() == names
        assert copied.scalars().all() == [sort_key("img10"), sort_key("img1201")]
    database.close()


_GRANT = """
INSERT INTO grants (node_id, user_id, tenant_id, permission, created_at, node_name, parent_visible_until)
VALUES (:node, 'u', 't', 1, 1, 'name', :until)
"""
_COPIES = text(
    "SELECT node_id, node_type, node_size, node_updated_at, node_sort_key FROM grants ORDER BY node_id"
)


def test_the_migration_copies_the_values_that_top_level_lists_are_sorted_by(tmp_path: Path) -> None:
    database = _old_database(tmp_path / "old.sqlite3", "0027", ["shared", "own"])
    with database.engine.execution_options(strongroom_writing=True).begin() as connection:
        connection.execute(text("INSERT INTO tenant_members VALUES ('t', 'u', 'member', 1)"))
        for node, until in (("n00000", 0), ("n00001", None)):
            connection.execute(text(_GRANT), {"node": node, "until": until})
        connection.execute(text("UPDATE nodes SET size = 5, updated_at = 7"))
    upgrade(database.engine)
    with database.read() as connection:
        rows = [tuple(row) for row in connection.execute(_COPIES)]
    # Nodes that are not top-level get the values when they become so.
    assert rows == [
        ("n00000", "folder", 5, 7, sort_key("shared")),
        ("n00001", "file", 0, 0, sort_key("own")),
    ]
    database.close()


def test_values_of_top_level_lists_that_another_version_wrote_are_corrected(scene: Scene) -> None:
    nodes = [scene.folder(f"folder {number}") for number in range(3)]
    database, reindexing = scene.api.container.database, scene.api.container.get(NameReindexing)

    def copies() -> list[Any]:
        with database.read() as connection:
            return [tuple(row) for row in connection.execute(_COPIES)]

    right = copies()
    assert [(*row[:3], row[4]) for row in right] == [
        (node["id"], "folder", 0, sort_key(node["name"])) for node in nodes
    ]
    with database.write() as connection:
        connection.execute(text("UPDATE grants SET node_type = 'file', node_size = 3"))
        connection.execute(text("UPDATE grants SET node_sort_key = ''"))
        connection.execute(text("UPDATE nodes SET sort_key = '' WHERE name <> ''"))
    assert copies() != right
    reindexing.run()
    assert copies() == right


def test_the_migration_indexes_all_names(tmp_path: Path) -> None:
    names = [f"报告 \uff21\uff22{number}" for number in range(1300)]
    database = _old_database(tmp_path / "old.sqlite3", "0018", names)
    upgrade(database.engine)
    reindexing = NameReindexing(database)
    assert reindexing.count() == (1300, 0)
    with database.read() as connection:
        match = NAME_INDEX.match("报告 ab1299", "t")
        sources = name_index.sources(connection, match)
        rows = [
            connection.execute(source("sqlite").select(), match.parameters(NAME_INDEX)).all()
            for source in sources
        ]
        indexed = connection.execute(text("SELECT max(number) FROM search_names")).scalar()
    # The last names are not in a block yet.
    assert (indexed, [len(found) for found in rows]) == (1300, [1, 0])
    assert reindexing.run() == 0
    database.close()
