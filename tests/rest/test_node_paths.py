"""``include=path``: the names on the path of a node, from the top that the caller can see."""

from typing import Any

import pytest
from tests.support.api import Api, Json, Person, error_code
from tests.support.scene import Scene


class Tree(Scene):
    """The folders ``a/b/c`` with a file, of which Alice may read the content of ``b``."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.a = self.folder("a")
        self.b = self.folder("b", self.a)
        self.c = self.folder("c", self.b)
        self.note = self.file("note.txt", self.c)
        assert self.grant(self.b, self.alice, "read").status_code == 201

    def details(self, node: Json, by: Person, **options: Any) -> Any:
        url = f"{self.path}/files/{node['id']}?include=path"
        return self.api.get(url, by=by, **options).json.get("path")

    def paths(self, url: str, by: Person) -> list[Any]:
        mark = "&" if "?" in url else "?"
        answer = self.api.get(f"{self.path}/{url}{mark}include=path", by=by)
        assert answer.status_code == 200, answer.text
        return [node["path"] for node in answer.json["data"]]


@pytest.fixture
def tree(api: Api) -> Tree:
    return Tree(api)


def test_details_have_the_names_that_the_caller_can_see(tree: Tree) -> None:
    assert tree.details(tree.note, tree.admin) == ["a", "b", "c", "note.txt"]
    assert tree.details(tree.note, tree.alice) == ["b", "c", "note.txt"]


def test_lists_have_them(tree: Tree) -> None:
    inside = f"owners/me/files/{tree.c['id']}/files"
    assert tree.paths(inside, tree.admin) == [["a", "b", "c", "note.txt"]]
    assert tree.paths(inside, tree.alice) == [["b", "c", "note.txt"]]
    assert tree.paths("owners/me/files", tree.admin) == [["a"]]
    assert tree.paths("owners/me/files", tree.alice) == [["b"]]
    assert tree.paths(f"{inside}?sort=-size&q=note", tree.alice) == [["b", "c", "note.txt"]]


def test_searches_have_them(tree: Tree) -> None:
    assert tree.paths("search?query=note", tree.admin) == [["a", "b", "c", "note.txt"]]
    assert tree.paths("search?query=note", tree.alice) == [["b", "c", "note.txt"]]
    assert tree.paths("search?query=note", tree.bob) == []


def test_a_grant_further_up_lengthens_the_path_and_its_end_shortens_it(tree: Tree) -> None:
    tree.grant(tree.a, tree.alice, "read")
    assert tree.details(tree.note, tree.alice) == ["a", "b", "c", "note.txt"]
    tree.revoke(tree.a, tree.alice)
    assert tree.details(tree.note, tree.alice) == ["b", "c", "note.txt"]


def test_a_grant_to_a_group_counts(tree: Tree) -> None:
    group = tree.api.post(f"{tree.path}/groups", {"name": "team"}, by=tree.admin).json
    tree.api.put(f"{tree.path}/groups/{group['id']}/members/{tree.bob.id}", by=tree.admin)
    body = {"groupId": group["id"], "permission": "read"}
    tree.api.post(f"{tree.path}/files/{tree.c['id']}/group-grants", body, by=tree.admin)
    assert tree.details(tree.note, tree.bob) == ["c", "note.txt"]


def test_an_access_key_of_a_folder_sees_nothing_above_it(tree: Tree) -> None:
    body = {
        "name": "backup",
        "scopes": ["files:read"],
        "tenantId": tree.path.rpartition("/")[2],
        "fileId": tree.b["id"],
    }
    for owner, names in ((tree.admin, ["b", "c", "note.txt"]), (tree.alice, ["b", "c", "note.txt"])):
        key = tree.api.post("/users/me/access-keys", body, by=owner).json["key"]
        user = Person(owner.id, owner.email, key)
        assert tree.details(tree.note, user) == names
        assert tree.paths("owners/me/files", user) == [["b"]]
        assert tree.paths("search?query=note", user) == [names]


def test_a_rename_above_is_seen_although_the_node_did_not_change(tree: Tree) -> None:
    plain = tree.api.get(f"{tree.path}/files/{tree.note['id']}", by=tree.admin)
    renamed = tree.api.patch(f"{tree.path}/files/{tree.a['id']}", {"name": "new"}, by=tree.admin)
    assert renamed.status_code == 200
    known = {"If-None-Match": plain.headers["ETag"]}
    assert tree.details(tree.note, tree.admin, headers=known) == ["new", "b", "c", "note.txt"]


def test_without_it_nodes_have_no_path_and_other_values_are_400(tree: Tree) -> None:
    url = f"{tree.path}/files/{tree.note['id']}"
    assert "path" not in tree.api.get(url, by=tree.admin).json
    for place in (url, f"{tree.path}/owners/me/files", f"{tree.path}/search"):
        answer = tree.api.get(f"{place}?query=n&include=owner", by=tree.admin)
        assert (answer.status_code, error_code(answer)) == (400, "error.validation-failed")
        assert "include" in {item["field"] for item in answer.json["error"]["details"]}


def test_links_to_other_pages_keep_it(tree: Tree) -> None:
    tree.folder("z")
    url = f"{tree.path}/owners/me/files?include=path&pageSize=1"
    meta = tree.api.get(url, by=tree.admin).json["meta"]
    assert "include=path" in meta["nextPageLink"]
