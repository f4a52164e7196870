"""Copying files and folders."""

import hashlib

import pytest
from tests.support.api import Answer, Json, Person
from tests.support.scene import Scene

from strongroom.content.files import copying
from strongroom.content.storage.service import BlobService


def copy(
    scene: Scene,
    node: Json,
    parent: Json | None,
    by: Person | None = None,
    query: str = "",
    **body: str,
) -> Answer:
    path = f"{scene.path}/files/{node['id']}/copies{query}"
    wanted = {"parentId": parent["id"] if parent else None, **body}
    return scene.api.post(path, wanted, by=by or scene.admin)


def content(scene: Scene, node: Json) -> bytes:
    answer = scene.api.get(f"{scene.path}/files/{node['id']}/download", by=scene.admin)
    return bytes(answer.data)


class TestFiles:
    """Copies of files."""

    def test_a_copy_has_the_same_content_and_no_bytes_of_its_own(self, scene: Scene) -> None:
        file, folder = scene.file("a.txt"), scene.folder("folder")
        objects = scene.api.stored_objects()
        answer = copy(scene, file, folder)
        made = answer.json
        assert answer.status_code == 201
        assert answer.headers["Location"].endswith(f"/files/{made['id']}")
        assert (made["name"], made["parentId"]) == ("a.txt", folder["id"])
        assert made["checksum"] == file["checksum"] == f"sha256:{hashlib.sha256(b'x').hexdigest()}"
        assert scene.api.stored_objects() == objects
        scene.api.delete(f"{scene.path}/files/{file['id']}?permanently=true", by=scene.admin)
        scene.api.container.get(BlobService).collect()
        assert content(scene, made) == b"x"
        scene.api.delete(f"{scene.path}/files/{made['id']}?permanently=true", by=scene.admin)
        scene.api.container.get(BlobService).collect()
        assert scene.api.stored_objects() == objects - 1

    def test_replacing_one_does_not_change_the_other(self, scene: Scene) -> None:
        file = scene.file("a.txt")
        made = copy(scene, file, None, name="b.txt").json
        headers = {"Content-Disposition": 'attachment; filename="a.txt"'}
        path = f"{scene.path}/files/{file['id']}/content"
        scene.api.request("PUT", path, by=scene.admin, headers=headers, data=b"other")
        assert (content(scene, file), content(scene, made)) == (b"other", b"x")

    def test_copies_count_in_the_quota(self, scene: Scene) -> None:
        file = scene.file("a.txt")
        copy(scene, file, None, name="b.txt")
        tenant = scene.api.get(scene.path, by=scene.admin).json
        assert tenant["usedBytes"] == 2

    @pytest.mark.parametrize(("query", "status"), [("", 409), ("?onConflict=rename", 201)])
    def test_a_taken_name(self, scene: Scene, query: str, status: int) -> None:
        file = scene.file("a.txt")
        answer = copy(scene, file, None, query=query)
        assert answer.status_code == status
        if status == 201:
            assert answer.json["name"] == "a (1).txt"

    def test_a_copy_replaces_a_file(self, scene: Scene) -> None:
        file, folder = scene.file("a.txt"), scene.folder("folder")
        other = scene.api.upload(scene.path, scene.admin, "a.txt", b"longer", folder["id"])
        made = copy(scene, file, folder, query="?onConflict=replace").json
        assert (made["id"], made["size"], content(scene, other)) == (other["id"], 1, b"x")


class TestFolders:
    """Copies of folders."""

    def test_content_is_copied_and_grants_are_not(self, scene: Scene) -> None:
        folder = scene.folder("outer")
        inner = scene.folder("inner", folder)
        scene.file("a.txt", inner)
        scene.grant(folder, scene.bob, "read")
        made = copy(scene, folder, None, by=scene.bob, name="copy").json
        assert made["permission"] == "manage"
        found = scene.api.get(f"{scene.path}/search?query=a.txt&parentId={made['id']}", by=scene.bob)
        assert [node["permission"] for node in found.json["data"]] == ["manage"]
        assert found.json["data"][0]["owner"] == {"$ref": scene.bob.id}
        assert scene.permission(made, scene.alice) is None
        assert scene.top(scene.bob) == ["copy", "outer"]

    def test_a_folder_is_not_copied_into_itself(self, scene: Scene) -> None:
        folder = scene.folder("outer")
        inner = scene.folder("inner", folder)
        assert [copy(scene, folder, place).status_code for place in (folder, inner)] == [409, 409]

    def test_too_many_nodes_are_refused_as_a_whole(
        self, scene: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(copying, "MAX_NODES", 2)
        folder = scene.folder("outer")
        for name in "ab":
            scene.file(name, folder)
        answer = copy(scene, folder, None, name="copy")
        assert (answer.status_code, answer.json["error"]["code"]) == (409, "error.too-many-nodes")
        assert scene.top(scene.admin) == ["outer"]


class TestPermissions:
    """Who may copy."""

    def test_reading_the_original_and_writing_to_the_folder_are_needed(self, scene: Scene) -> None:
        file, folder = scene.file("a.txt"), scene.folder("folder")
        assert copy(scene, file, None, by=scene.bob).status_code == 403
        scene.grant(file, scene.bob, "read")
        assert copy(scene, file, folder, by=scene.bob).status_code == 403
        scene.grant(folder, scene.bob, "read")
        assert copy(scene, file, folder, by=scene.bob).status_code == 403
        scene.grant(folder, scene.bob, "write")
        assert copy(scene, file, folder, by=scene.bob).status_code == 201

    def test_a_node_of_another_tenant_is_not_copied(self, scene: Scene) -> None:
        other = scene.api.tenant(scene.admin)
        file = scene.api.upload(other, scene.admin, "a.txt", b"x")
        assert copy(scene, file, None).status_code == 404
        folder = scene.api.folder(other, scene.admin, "folder")
        assert copy(scene, scene.file("b.txt"), folder).status_code == 404
