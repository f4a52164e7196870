"""Free names in a folder that holds very many of one kind."""

import pytest
from sqlalchemy import Connection, insert, select
from tests.support.api import Api

from strongroom.content.files.service import FileService
from strongroom.content.nodes.models import Node, nodes
from strongroom.content.nodes.names import numbered
from strongroom.content.nodes.tree import Tree

TAKEN = 20_000
MAX_QUERIES = 40


def test_a_name_taken_many_times_is_numbered_after_few_queries(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    first = api.upload(tenant, alice, "a.txt", b"x")
    with api.container.database.write() as connection:
        row = connection.execute(select(nodes).where(nodes.c.id == first["id"])).mappings().one()
        copies = [
            {**row, "id": f"copy-{number}", "name": numbered("a.txt", number)}
            for number in range(1, TAKEN + 1)
        ]
        connection.execute(insert(nodes), copies)
    tree, queries = api.container.get(FileService)._tree, []
    find = Tree.find_child

    def counted(tree: Tree, connection: Connection, parent_id: str, name: str) -> Node | None:
        queries.append(name)
        return find(tree, connection, parent_id, name)

    monkeypatch.setattr(Tree, "find_child", counted)
    with api.container.database.read() as connection:
        free = tree.free_name(connection, row["parent_id"], "a.txt")
    assert free == f"a ({TAKEN + 1}).txt"
    assert len(queries) <= MAX_QUERIES


def test_the_first_numbers_are_used_in_order(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    names = [
        api.send(tenant, alice, "a.txt", b"x", query="?onConflict=rename").json["name"]
        for _ in range(12)
    ]
    assert names == ["a.txt", *(f"a ({number}).txt" for number in range(1, 12))]
