"""Searching a tenant's files and folders by name."""

from urllib.parse import quote

import pytest
from tests.support.api import Json, Person
from tests.support.scene import Scene

pytestmark = pytest.mark.both_databases


class Search:
    """Searches of a scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def page(self, text: str, by: Person, more: str = "") -> Json:
        path = f"{self.scene.path}/search?query={quote(text)}{more}"
        page: Json = self.scene.api.get(path, by=by).json
        return page

    def names(self, text: str, by: Person, more: str = "") -> list[str]:
        page = self.page(text, by, more)
        names = [node["name"] for node in page["data"]]
        assert page["meta"]["totalCount"] == len(names)
        return names


@pytest.fixture
def search(scene: Scene) -> Search:
    return Search(scene)


class TestNames:
    """Which names a text finds."""

    @pytest.mark.parametrize(
        "text",
        ["总结报告.pdf", "报告", "告", "总结", "报告.P", ".pdf", "f", "\uff30\uff24\uff26", "pdf"],
    )
    def test_parts_of_any_length_in_any_case_and_width(self, search: Search, text: str) -> None:
        search.scene.file("总结报告.pdf")
        search.scene.file("张三李四")
        assert search.names(text, search.scene.admin) == ["总结报告.pdf"]

    def test_wildcards_and_operators_are_ordinary_characters(self, search: Search) -> None:
        for name in ("100% sure", 'a "quoted" name', "x_y", "a AND b*"):
            search.scene.folder(name)
        for text, name in (("%", "100% sure"), ('"', 'a "quoted" name'), ("_", "x_y")):
            assert search.names(text, search.scene.admin) == [name]
        for text, name in (("AND b*", "a AND b*"), ("' OR 1", ""), ("*", "a AND b*")):
            assert search.names(text, search.scene.admin) == ([name] if name else [])

    def test_the_index_follows_each_change_of_the_tree(self, search: Search) -> None:
        scene = search.scene
        folder, file = scene.folder("old folder"), scene.file("old file")
        renamed = {"name": "new file"}
        scene.api.patch(f"{scene.path}/files/{file['id']}", renamed, by=scene.admin)
        assert search.names("old", scene.admin) == ["old folder"]
        moved = {"parentId": folder["id"], "name": "newest file"}
        scene.api.put(f"{scene.path}/files/{file['id']}/directory", moved, by=scene.admin)
        assert search.names("new", scene.admin) == ["newest file"]
        scene.api.delete(f"{scene.path}/files/{folder['id']}", by=scene.admin)
        assert search.names("e", scene.admin) == []

    def test_without_a_text_the_other_criteria_find(self, search: Search) -> None:
        scene = search.scene
        for name in ("Dockerfile", "a.txt"):
            scene.file(name)
        scene.folder("plans")
        path = f"{scene.path}/search?type=file&sort=-updatedAt"
        found = scene.api.get(path, by=scene.admin).json
        assert {node["name"] for node in found["data"]} == {"Dockerfile", "a.txt"}
        assert scene.api.get(path, by=scene.bob).json["data"] == []

    @pytest.mark.parametrize("query", ["?query=", "?query=%00", "?query=a&sort=x", "?query=a&x=1"])
    def test_a_search_without_a_valid_text_is_400(self, search: Search, query: str) -> None:
        scene = search.scene
        assert scene.api.get(f"{scene.path}/search{query}", by=scene.admin).status_code == 400


class TestVisibility:
    """Who finds a node."""

    def test_only_visible_nodes_are_found_and_counted(self, search: Search) -> None:
        scene = search.scene
        outer = scene.folder("report folder")
        inner = scene.folder("report inside", outer)
        scene.file("report 1", inner)
        scene.file("report 2")
        own = scene.file("report 3", by=scene.alice)
        assert search.names("report", scene.bob) == []
        scene.grant(inner, scene.bob, "read", hours=1)
        assert search.names("report", scene.bob) == ["report 1", "report inside"]
        assert [node["permission"] for node in search.page("report", scene.bob)["data"]] == ["read"] * 2
        assert search.names("report", scene.alice) == ["report 3"]
        assert len(search.names("report", scene.admin)) == 5
        scene.api.clock.advance(3_600_000)
        for user in (scene.admin, scene.alice, scene.bob):
            scene.token_of(user)
        assert search.names("report", scene.bob) == []
        scene.grant(own, scene.bob, "write")
        assert search.names("report", scene.bob) == ["report 3"]

    def test_grants_of_groups_count(self, search: Search) -> None:
        scene = search.scene
        folder = scene.folder("a team folder")
        scene.file("a team file", folder)
        group = scene.api.post(f"{scene.path}/groups", {"name": "team"}, by=scene.admin).json["id"]
        body = {"groupId": group, "permission": "read"}
        scene.api.post(f"{scene.path}/files/{folder['id']}/group-grants", body, by=scene.admin)
        assert search.names("team", scene.bob) == []
        member = f"{scene.path}/groups/{group}/members/{scene.bob.id}"
        scene.api.put(member, by=scene.admin)
        assert search.names("team", scene.bob) == ["a team file", "a team folder"]
        scene.api.delete(member, by=scene.admin)
        assert search.names("team", scene.bob) == []

    def test_strangers_are_refused(self, search: Search) -> None:
        path = f"{search.scene.path}/search?query=a"
        assert search.scene.api.get(path, by=search.scene.api.person()).status_code == 403
        assert search.scene.api.get(path).status_code == 401

    def test_another_tenant_is_not_searched(self, search: Search) -> None:
        scene = search.scene
        other = scene.api.tenant(scene.admin)
        scene.api.folder(other, scene.admin, "elsewhere")
        assert search.names("elsewhere", scene.admin) == []

    def test_an_access_key_finds_the_content_of_its_folder_and_the_folder(self, search: Search) -> None:
        scene = search.scene
        folder = scene.folder("a key folder")
        scene.file("a key file", folder)
        scene.file("a key elsewhere")
        body = {
            "name": "key",
            "scopes": ["files:read"],
            "tenantId": folder["tenantId"],
            "fileId": folder["id"],
        }
        made = scene.api.post("/users/me/access-keys", body, by=scene.admin)
        assert made.status_code == 201, made.text
        by = Person(scene.admin.id, scene.admin.email, made.json["key"])
        assert search.names("a key", by) == ["a key file", "a key folder"]
        assert {node["permission"] for node in search.page("a key", by)["data"]} == {"read"}
        assert search.names("a key", by, f"&parentId={folder['id']}") == ["a key file"]


class TestCriteria:
    """Further criteria and sort orders."""

    @pytest.fixture(autouse=True)
    def nodes(self, search: Search) -> Json:
        scene = search.scene
        folder = scene.folder("a folder")
        for name, content in (("a 1.txt", b"one"), ("a 2.txt", b"")):
            scene.api.upload(scene.path, scene.admin, name, content, folder["id"])
            scene.api.clock.advance(1000)
        return folder

    @pytest.mark.parametrize(
        ("criteria", "names"),
        [
            ("&type=folder", ["a folder"]),
            ("&type=file&minSize=1", ["a 1.txt"]),
            ("&contentType=text/plain&sort=-name", ["a 2.txt", "a 1.txt"]),
            ("&contentType=text/*&sort=-size", ["a 1.txt", "a 2.txt"]),
            ("&contentType=t_xt/*", []),
            ("&contentType=image/*", []),
            ("&owner=me&sort=type", ["a 1.txt", "a 2.txt", "a folder"]),
            ("&owner=nobody", []),
            ("&modifiedAfter=2026-06-21T00:00:00.500Z", ["a 2.txt"]),
            ("&sort=-updatedAt", ["a 2.txt", "a folder", "a 1.txt"]),
        ],
    )
    def test_each_narrows_or_sorts(self, search: Search, criteria: str, names: list[str]) -> None:
        assert search.names("a", search.scene.admin, criteria) == names

    @pytest.mark.parametrize("size", [2**63, 10**60])
    def test_a_size_beyond_all_files_is_refused(self, search: Search, size: int) -> None:
        scene = search.scene
        answer = scene.api.get(f"{scene.path}/search?query=a&minSize={size}", by=scene.admin)
        assert (answer.status_code, answer.json["error"]["details"][0]["field"]) == (400, "minSize")

    def test_a_folder_that_the_caller_cannot_see_is_refused(self, search: Search, nodes: Json) -> None:
        scene = search.scene
        path = f"{scene.path}/search?query=a&parentId="
        assert scene.api.get(path + nodes["id"], by=scene.bob).status_code == 403
        assert scene.api.get(path + "missing", by=scene.admin).status_code == 404

    def test_pages_follow_each_other(self, search: Search) -> None:
        first = search.page("a", search.scene.admin, "&pageSize=2")
        assert first["meta"]["totalCount"] == 3
        link = first["meta"]["nextPageLink"].partition("/api")
        second = search.scene.api.get("/api" + link[2], by=search.scene.admin).json
        names = [node["name"] for page in (first, second) for node in page["data"]]
        assert names == ["a 1.txt", "a 2.txt", "a folder"]


class TestLists:
    """Filters and sort orders of lists."""

    NAMES = ("b.txt", "A report.txt", "c 报告")

    @pytest.fixture
    def folder(self, scene: Scene) -> Json:
        folder = scene.folder("folder")
        for place in (folder, None):
            parent = place["id"] if place else None
            for number, name in enumerate(self.NAMES[:2]):
                scene.api.upload(
                    scene.path, scene.alice if not place else scene.admin, name, b"x" * number, parent
                )
                scene.api.clock.advance(1000)
        scene.folder(self.NAMES[2], folder)
        scene.folder(self.NAMES[2], by=scene.alice)
        return folder

    def listed(self, scene: Scene, folder: Json | None, query: str) -> list[str]:
        inside = f"/{folder['id']}/files" if folder else ""
        by = scene.admin if folder else scene.alice
        path, names, total = f"{scene.path}/owners/me/files{inside}?pageSize=2&{query}", list[str](), 1
        number = 0
        while len(names) < total:
            number += 1
            page = scene.api.get(f"{path}&pageNumber={number}", by=by).json
            total = page["meta"]["totalCount"]
            names += [node["name"] for node in page["data"]]
        return names

    @pytest.mark.parametrize("inside", [True, False])
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("", [1, 0, 2]),
            ("sort=-name", [2, 0, 1]),
            ("sort=size", [0, 2, 1]),
            ("sort=-size", [1, 2, 0]),
            ("sort=updatedAt", [0, 1, 2]),
            ("sort=-updatedAt", [2, 1, 0]),
            ("sort=type", [1, 0, 2]),
            ("q=REPORT", [1]),
            ("q=%E6%8A%A5%E5%91%8A", [2]),
            ("q=zz", []),
            ("type=file&sort=-name", [0, 1]),
            ("contentType=text/*", [1, 0]),
            ("contentType=image/png", []),
        ],
    )
    def test_of_a_folder_and_of_the_top(
        self, scene: Scene, folder: Json, inside: bool, query: str, expected: list[int]
    ) -> None:
        names = self.listed(scene, folder if inside else None, query)
        assert names == [self.NAMES[number] for number in expected]

    def test_nodes_that_the_caller_cannot_see_are_in_no_list(self, scene: Scene, folder: Json) -> None:
        path = f"{scene.path}/owners/me/files"
        assert scene.api.get(f"{path}?q=report", by=scene.bob).json["meta"]["totalCount"] == 0
        refused = scene.api.get(f"{path}/{folder['id']}/files?sort=-name", by=scene.bob)
        assert refused.status_code == 403
