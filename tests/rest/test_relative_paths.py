"""Uploads with a relative path create the missing folders of the path."""

import unicodedata
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import event
from tests.support.api import Answer, Json, Person, creation_headers
from tests.support.scene import Scene

pytestmark = pytest.mark.both_databases

PATCH = {"Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream"}


INVALID = (
    "/a/b.txt",
    "a//b.txt",
    "a/",
    "./b.txt",
    "a/../b.txt",
    "..",
    "a\\b.txt",
    "a/\x07/b.txt",
    f"{'x' * 256}/b.txt",
    "/".join("a" * 33),
    "/".join(["x" * 200] * 30),
)


def upload(
    scene: Scene,
    path: str,
    parent: Json | None = None,
    by: Person | None = None,
    name: str | None = None,
    **query: str,
) -> Answer:
    """Upload a raw body with a relative path, with or without a name of its own."""
    target = f"{scene.path}/files/{parent['id']}/files" if parent else f"{scene.path}/files"
    headers = {"Content-Type": "application/octet-stream"}
    if name:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    wanted = urlencode({"relativePath": path, **query})
    return scene.api.request(
        "POST", f"{target}?{wanted}", by=by or scene.admin, data=b"x", headers=headers
    )


def begin(scene: Scene, by: Person, length: int = 1, **metadata: str) -> Answer:
    headers = creation_headers(length, **metadata)
    return scene.api.request("POST", f"{scene.path}/uploads", by=by, headers=headers)


def path_of(scene: Scene, node: Json) -> str:
    """Return the path of a node, from the names of its folders."""
    names = [node["name"]]
    while node["parentId"]:
        node = scene.api.get(f"{scene.path}/files/{node['parentId']}", by=scene.admin).json
        names.append(node["name"])
    return "/".join(reversed(names))


def refusal(answer: Answer) -> tuple[int, str, str]:
    error = answer.json["error"]
    return answer.status_code, error["code"], error["details"][0]["field"]


def folders(scene: Scene) -> list[str]:
    """Return the actions of the events that created folders, and the names of the folders."""
    events = scene.api.get(f"{scene.path}/file-events?action=folder.created", by=scene.admin)
    return sorted(event["name"] for event in events.json["data"])


class TestFolders:
    """Which folders an upload creates, and which it finds."""

    def test_missing_folders_are_created_once(self, scene: Scene) -> None:
        first = upload(scene, "photos/2026/a.jpg").json
        second = upload(scene, "photos/2026/b.jpg", name="b.jpg").json
        third = upload(scene, "photos/c.jpg").json
        found = [path_of(scene, node) for node in (first, second, third)]
        assert found == ["photos/2026/a.jpg", "photos/2026/b.jpg", "photos/c.jpg"]
        assert first["parentId"] == second["parentId"]
        assert folders(scene) == ["2026", "photos"]

    def test_a_path_begins_in_the_folder(self, scene: Scene) -> None:
        folder = scene.folder("folder")
        assert path_of(scene, upload(scene, "a/b.txt", folder).json) == "folder/a/b.txt"
        form = {"file": (BytesIO(b"x"), "a/own name.txt")}
        target = f"{scene.path}/files/{folder['id']}/files?relativePath=a/c.txt"
        node = scene.api.post(target, data=form, by=scene.admin).json
        assert path_of(scene, node) == "folder/a/c.txt"

    def test_a_path_of_one_name_and_an_empty_one_create_no_folder(self, scene: Scene) -> None:
        assert path_of(scene, upload(scene, "a.txt").json) == "a.txt"
        assert path_of(scene, upload(scene, "", name="b.txt").json) == "b.txt"
        assert path_of(scene, upload(scene, "null", name="c.txt").json) == "c.txt"

    def test_names_are_normalized(self, scene: Scene) -> None:
        for form in ("NFC", "NFD"):
            name = unicodedata.normalize(form, "é")
            node = upload(scene, f"{name}/{form}.txt").json
            assert path_of(scene, node) == f"é/{form}.txt"
        assert folders(scene) == ["é"]

    def test_a_refused_file_creates_no_folder(self, scene: Scene) -> None:
        scene.api.patch(scene.path, {"quotaBytes": 0}, by=scene.api.person(admin=True))
        assert upload(scene, "a/b/c.txt").status_code == 507
        assert scene.top(scene.admin) == []

    @pytest.mark.parametrize("parent", [None, "folder"])
    def test_uploads_at_one_moment_create_one_folder(self, scene: Scene, parent: str | None) -> None:
        folder = scene.folder(parent) if parent else None
        with ThreadPoolExecutor(8) as pool:
            answers = list(
                pool.map(lambda number: upload(scene, f"a/b/{number}.txt", folder), range(16))
            )
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.json["parentId"] for answer in answers}) == 1
        assert folders(scene) == ["a", "b", *(["folder"] if folder else [])]

    def test_a_folder_that_another_upload_creates_during_the_check_is_used(self, scene: Scene) -> None:
        pending, answers = ["a/other.txt"], []

        def race(_connection: Any, _cursor: Any, _statement: str, parameters: Any, *_: Any) -> None:
            values = parameters.values() if isinstance(parameters, dict) else parameters
            if pending and "a" in values:
                # A thread has one transaction at a time.
                with ThreadPoolExecutor(1) as pool:
                    answers.append(pool.submit(upload, scene, pending.pop()).result())

        engines = scene.api.container.database.engines
        for engine in engines:
            event.listen(engine, "after_cursor_execute", race)
        answers.append(upload(scene, "a/mine.txt"))
        for engine in engines:
            event.remove(engine, "after_cursor_execute", race)
        assert [answer.status_code for answer in answers] == [201, 201]
        assert len({answer.json["parentId"] for answer in answers}) == 1

    def test_tus_creates_them_with_the_file(self, scene: Scene) -> None:
        answer = begin(scene, scene.admin, filename="c.txt", relativePath="a/b/c.txt")
        assert answer.status_code == 201
        assert scene.top(scene.admin) == []
        location = answer.headers["Location"].partition("/api/")[2]
        sent = scene.api.request(
            "PATCH",
            f"/api/{location}",
            by=scene.admin,
            data=b"x",
            headers={**PATCH, "Upload-Offset": "0"},
        )
        assert sent.status_code == 204
        found = scene.api.get(f"{scene.path}/search?query=c.txt", by=scene.admin).json["data"]
        assert [path_of(scene, node) for node in found] == ["a/b/c.txt"]


class TestRefusals:
    """Paths and places that are refused."""

    def test_invalid_paths(self, scene: Scene) -> None:
        expected = (400, "error.validation-failed", "relativePath")
        for path in INVALID:
            assert refusal(upload(scene, path, name="b.txt")) == expected, path
            answer = begin(scene, scene.admin, filename="b.txt", relativePath=path)
            assert refusal(answer) == expected, path
        assert scene.top(scene.admin) == []

    def test_as_many_names_as_allowed(self, scene: Scene) -> None:
        assert path_of(scene, upload(scene, "/".join("a" * 32)).json) == "/".join("a" * 32)

    def test_a_file_in_place_of_a_folder(self, scene: Scene) -> None:
        scene.file("a")
        expected = (409, "error.not-a-folder", "relativePath")
        assert refusal(upload(scene, "a/b.txt")) == expected
        assert refusal(begin(scene, scene.admin, relativePath="a/b.txt")) == expected
        # The rule for taken names gives the folder a number; the next file gets to the same folder.
        made = [upload(scene, f"a/{name}", onConflict="rename").json for name in "xyx"]
        assert [path_of(scene, node) for node in made] == ["a (1)/x", "a (1)/y", "a (1)/x (1)"]

    def test_a_folder_in_place_of_the_file(self, scene: Scene) -> None:
        scene.folder("b", scene.folder("a"))
        assert refusal(upload(scene, "a/b")) == (409, "error.name-conflict", "name")

    def test_a_taken_name_in_the_last_folder(self, scene: Scene) -> None:
        first = upload(scene, "a/b.txt").json
        assert refusal(upload(scene, "a/b.txt")) == (409, "error.name-conflict", "name")
        assert upload(scene, "a/b.txt", onConflict="replace").json["id"] == first["id"]

    def test_folders_of_others_need_write(self, scene: Scene) -> None:
        outer = scene.folder("outer")
        inner = scene.folder("inner", outer)
        scene.grant(outer, scene.bob, "read")
        scene.grant(inner, scene.bob, "write")
        for path in ("outer/a.txt", "outer/inner/a.txt", "outer/new/a.txt"):
            answer = upload(scene, path, by=scene.bob)
            assert (answer.status_code, answer.json["error"]["code"]) == (403, "error.forbidden")
            assert begin(scene, scene.bob, relativePath=path).status_code == 403
        assert upload(scene, "new/a.txt", inner, by=scene.bob).status_code == 201
        assert upload(scene, "new/a.txt", outer, by=scene.bob).status_code == 403
        assert folders(scene) == ["inner", "new", "outer"]

    def test_the_names_in_a_hidden_folder_are_not_revealed(self, scene: Scene) -> None:
        folder = scene.folder("folder")
        scene.file("file", folder)
        scene.folder("sub", folder)
        statuses = {
            upload(scene, f"{name}/a.txt", folder, by=scene.bob).status_code
            for name in ("file", "sub", "missing")
        }
        assert statuses == {403}

    def test_the_folder_is_deleted_before_the_last_byte(self, scene: Scene) -> None:
        upload(scene, "a/first.txt")
        answer = begin(scene, scene.admin, relativePath="a/b/c.txt")
        (folder,) = scene.api.get(f"{scene.path}/owners/me/files", by=scene.admin).json["data"]
        scene.api.delete(f"{scene.path}/files/{folder['id']}", by=scene.admin)
        location = answer.headers["Location"].partition("/api/")[2]
        headers = {**PATCH, "Upload-Offset": "0"}
        sent = scene.api.request("PATCH", f"/api/{location}", by=scene.admin, data=b"x", headers=headers)
        assert sent.status_code == 204
        # The folder is created again, because the upload was for a path.
        assert scene.top(scene.admin) == ["a"]

    def test_the_creator_s_permission_ends_with_that_of_the_folder(self, scene: Scene) -> None:
        folder = scene.folder("folder")
        scene.grant(folder, scene.bob, "write", hours=1)
        made = upload(scene, "a/b.txt", folder, by=scene.bob).json
        ends = [
            scene.api.get(f"{scene.path}/files/{node}/owners", by=scene.admin).json["data"][0][
                "expiresAt"
            ]
            for node in (made["id"], made["parentId"])
        ]
        assert None not in ends
