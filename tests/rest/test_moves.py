"""Renames, moves and other content for files and folders."""

from dataclasses import replace

import pytest
from tests.support.api import PASSWORD, Answer, Json, Person, error_code
from tests.support.scene import Scene

pytestmark = pytest.mark.both_databases

UNKNOWN = "01a1fd35-41a4-7159-832d-f9df39268981"


def move(
    scene: Scene, node: Json, parent: str | None, by: Person | None = None, **more: object
) -> Answer:
    """Try to move a node."""
    query = more.pop("query", "")
    body = {"parentId": parent, **more}
    path = f"{scene.path}/files/{node['id']}/directory{query}"
    return scene.api.put(path, body, by=by or scene.admin)


def names(scene: Scene, parent: Json | None = None, by: Person | None = None) -> list[str]:
    """Return the names in a folder, or at the top."""
    path = f"{scene.path}/owners/me/files" + (f"/{parent['id']}/files" if parent else "")
    listed = scene.api.get(f"{path}?pageSize=200", by=by or scene.admin).json
    return [item["name"] for item in listed["data"]]


@pytest.fixture
def folder(scene: Scene) -> Json:
    return scene.folder("folder")


@pytest.fixture
def file(scene: Scene) -> Json:
    return scene.file("file", content=b"content")


class TestMoving:
    """PUT directory."""

    @pytest.mark.rule("4.4 PUT /api/v1/tenants/{tenantId}/files/{fileId}/directory")
    def test_a_file_moves_into_a_folder_and_back_to_the_top(
        self, scene: Scene, folder: Json, file: Json
    ) -> None:
        moved = move(scene, file, folder["id"])
        assert moved.status_code == 200
        assert moved.json == {
            **file,
            "parentId": folder["id"],
            "revision": moved.json["revision"],
            "updatedAt": moved.json["updatedAt"],
        }
        assert moved.json["revision"] > file["revision"]
        assert (names(scene), names(scene, folder)) == (
            ["folder"],
            ["file"],
        )
        assert move(scene, file, None).json["parentId"] is None
        assert names(scene) == ["file", "folder"]
        assert (
            scene.api.get(f"{scene.path}/files/{file['id']}/download", by=scene.admin).data == b"content"
        )

    def test_a_folder_moves_with_all_below_it(self, scene: Scene, folder: Json) -> None:
        other = scene.folder("other")
        deep = scene.folder("deep", folder)
        leaf = scene.file("leaf", deep)
        assert move(scene, folder, other["id"]).status_code == 200
        assert scene.api.get(f"{scene.path}/files/{leaf['id']}", by=scene.admin).json == leaf
        assert names(scene, other) == ["folder"]

    def test_a_move_may_rename(self, scene: Scene, folder: Json, file: Json) -> None:
        moved = move(scene, file, folder["id"], name="e\u0301")
        assert (moved.json["name"], moved.json["parentId"]) == ("é", folder["id"])
        assert move(scene, file, folder["id"], name="a/b").status_code == 400

    def test_a_move_that_changes_nothing_leaves_the_revision(self, scene: Scene, file: Json) -> None:
        assert move(scene, file, None).json == file

    def test_a_folder_never_moves_into_itself_or_below(self, scene: Scene, folder: Json) -> None:
        inner = scene.folder("inner", folder)
        innermost = scene.folder("innermost", inner)
        for target in (folder, inner, innermost):
            response = move(scene, folder, target["id"])
            assert (response.status_code, error_code(response)) == (409, "error.move-into-itself")
        assert names(scene) == ["folder"]

    def test_nothing_moves_into_a_file(self, scene: Scene, folder: Json, file: Json) -> None:
        response = move(scene, folder, file["id"])
        assert (response.status_code, error_code(response)) == (409, "error.not-a-folder")

    def test_a_taken_name_is_409_unless_it_may_be_numbered(
        self, scene: Scene, folder: Json, file: Json
    ) -> None:
        scene.file("file", folder, content=b"other")
        response = move(scene, file, folder["id"])
        assert (response.status_code, error_code(response)) == (409, "error.name-conflict")
        moved = move(scene, file, folder["id"], query="?onConflict=rename")
        assert (moved.status_code, moved.json["name"]) == (200, "file (1)")

    def test_a_file_takes_the_place_of_a_file_that_the_caller_manages(
        self, scene: Scene, folder: Json, file: Json
    ) -> None:
        scene.file("file", folder, content=b"other content")
        moved = move(scene, file, folder["id"], query="?onConflict=replace")
        assert (moved.status_code, moved.json["name"]) == (200, "file")
        listed = scene.api.get(
            f"{scene.path}/owners/me/files/{folder['id']}/files", by=scene.admin
        ).json["data"]
        assert [item["id"] for item in listed] == [file["id"]]
        # The other file is in the trash.
        assert scene.api.get(f"{scene.path}/usage", by=scene.admin).json["liveBytes"] == len(b"content")
        inner = scene.folder("inner")
        scene.folder("inner", folder)
        kept = move(scene, inner, folder["id"], query="?onConflict=replace")
        assert (kept.status_code, error_code(kept)) == (409, "error.name-conflict")

    def test_a_file_that_the_caller_does_not_manage_stays_in_its_place(
        self, scene: Scene, folder: Json
    ) -> None:
        scene.grant(folder, scene.alice, "write")
        stays = scene.file("name", folder, content=b"of another")
        moves = scene.file("name", by=scene.alice, content=b"own")
        refused = move(scene, moves, folder["id"], scene.alice, query="?onConflict=replace")
        assert refused.status_code == 403
        listed = scene.api.get(
            f"{scene.path}/owners/me/files/{folder['id']}/files", by=scene.admin
        ).json["data"]
        assert [item["id"] for item in listed] == [stays["id"]]

    def test_a_stale_revision_is_409_and_a_stale_tag_412(
        self, scene: Scene, folder: Json, file: Json
    ) -> None:
        path = f"{scene.path}/files/{file['id']}/directory"
        body = {"parentId": folder["id"]}
        stale = scene.api.put(path, {**body, "revision": file["revision"] - 1}, by=scene.admin)
        assert (stale.status_code, error_code(stale)) == (409, "error.revision-conflict")
        other = scene.api.put(path, body, by=scene.admin, headers={"If-Match": '"1"'})
        assert (other.status_code, error_code(other)) == (412, "error.precondition-failed")
        assert names(scene, folder) == []
        assert (
            scene.api.put(path, {**body, "revision": file["revision"]}, by=scene.admin).status_code
            == 200
        )

    @pytest.mark.parametrize(
        "body", [{}, {"parentId": 5}, {"parentId": None, "x": 1}, {"parentId": UNKNOWN}]
    )
    def test_a_malformed_move_is_400_and_an_unknown_folder_404(
        self, scene: Scene, file: Json, body: Json
    ) -> None:
        status = 404 if body.get("parentId") == UNKNOWN else 400
        assert (
            scene.api.put(f"{scene.path}/files/{file['id']}/directory", body, by=scene.admin).status_code
            == status
        )

    def test_a_folder_of_another_tenant_is_no_target(self, scene: Scene, file: Json) -> None:
        other = scene.api.tenant(scene.admin)
        theirs = scene.api.folder(other, scene.admin, "theirs")
        assert move(scene, file, theirs["id"]).status_code == 404
        root = scene.path.rpartition("/")[2]
        assert move(scene, file, root).status_code == 404

    def test_a_move_needs_manage_on_what_moves_and_write_on_where_it_goes(
        self, scene: Scene, folder: Json, file: Json
    ) -> None:

        for permission, target, status in (
            ("write", "write", 403),
            ("manage", "read", 403),
            ("manage", "write", 200),
        ):
            scene.grant(file, scene.alice, permission)
            scene.grant(folder, scene.alice, target)
            assert move(scene, file, folder["id"], scene.alice).status_code == status
        # A node that the caller manages through an ancestor has no grants that the move could extend.
        around = scene.folder("around")
        inside = scene.file("inside", around)
        scene.grant(around, scene.alice, "manage")
        scene.grant(folder, scene.alice, "read")
        assert move(scene, inside, folder["id"], scene.alice).status_code == 403

    def test_a_rename_by_its_own_folder_needs_what_a_rename_needs(
        self, scene: Scene, folder: Json, file: Json
    ) -> None:
        inside = scene.file("inside", folder)
        for node, parent in ((file, None), (inside, folder["id"])):
            for permission, status in (("read", 403), ("write", 200)):
                scene.grant(node, scene.alice, permission)
                path = f"{scene.path}/files/{node['id']}"
                renamed = scene.api.patch(path, {"name": "a"}, by=scene.alice)
                assert renamed.status_code == status
                assert move(scene, node, parent, scene.alice, name="b").status_code == status
        # From here to the top level is a move.
        refused = move(scene, inside, None, scene.alice, name="c")
        assert (refused.status_code, error_code(refused)) == (403, "error.forbidden")

    def test_an_access_key_that_may_rename_does_so_by_both_routes_and_moves_by_none(
        self, scene: Scene, folder: Json, file: Json
    ) -> None:
        body: Json = {"name": "key", "scopes": ["files:write"], "currentPassword": PASSWORD}
        key = scene.api.post("/users/me/access-keys", body, by=scene.admin).json["key"]
        robot = replace(scene.admin, token=key)
        path = f"{scene.path}/files/{file['id']}"
        assert scene.api.patch(path, {"name": "a"}, by=robot).json["name"] == "a"
        assert move(scene, file, None, robot, name="b").json["name"] == "b"
        refused = move(scene, file, folder["id"], robot)
        assert (refused.status_code, error_code(refused)) == (403, "error.insufficient-scope")

    def test_moving_a_node_out_of_the_own_sight_is_reported(self, scene: Scene, folder: Json) -> None:
        file = scene.file("inside", folder)
        scene.grant(folder, scene.alice, "manage")
        moved = move(scene, file, None, scene.alice)
        assert (moved.status_code, moved.json["permission"]) == (200, "none")
        assert scene.api.get(f"{scene.path}/files/{file['id']}", by=scene.alice).status_code == 403


class TestRenaming:
    """PATCH."""

    def test_a_node_is_renamed_on_the_revision_it_was_read_at(self, scene: Scene, file: Json) -> None:
        path = f"{scene.path}/files/{file['id']}"
        body = {"name": "renamed", "revision": file["revision"]}
        renamed = scene.api.patch(path, body, by=scene.admin)
        assert (renamed.status_code, renamed.json["name"]) == (200, "renamed")
        stale = scene.api.patch(path, {**body, "name": "again"}, by=scene.admin)
        assert (stale.status_code, error_code(stale)) == (409, "error.revision-conflict")
        assert names(scene) == ["renamed"]

    def test_if_match_holds_the_tag_of_the_details(self, scene: Scene, file: Json) -> None:
        path = f"{scene.path}/files/{file['id']}"
        tag = scene.api.get(path, by=scene.admin).headers["ETag"]
        renamed = scene.api.patch(path, {"name": "a"}, by=scene.admin, headers={"If-Match": tag})
        assert renamed.status_code == 200
        assert renamed.headers["ETag"] == scene.api.get(path, by=scene.admin).headers["ETag"] != tag
        stale = scene.api.patch(path, {"name": "b"}, by=scene.admin, headers={"If-Match": tag})
        assert (stale.status_code, error_code(stale)) == (412, "error.precondition-failed")
        assert scene.api.delete(path, by=scene.admin, headers={"If-Match": tag}).status_code == 412
        anything = scene.api.patch(path, {"name": "b"}, by=scene.admin, headers={"If-Match": "*"})
        assert anything.status_code == 200

    def test_a_taken_name_is_409_and_ones_own_is_not(
        self, scene: Scene, file: Json, folder: Json
    ) -> None:
        path = f"{scene.path}/files/{file['id']}"
        response = scene.api.patch(path, {"name": "folder"}, by=scene.admin)
        assert (response.status_code, error_code(response)) == (409, "error.name-conflict")
        assert scene.api.patch(path, {"name": "file"}, by=scene.admin).json == file
        numbered = scene.api.patch(f"{path}?onConflict=rename", {"name": "folder"}, by=scene.admin)
        assert numbered.json["name"] == "folder (1)"

    def test_lists_follow_a_new_name(self, scene: Scene) -> None:
        ids = [scene.file(name, by=scene.alice)["id"] for name in ("a", "b", "c")]
        scene.api.patch(f"{scene.path}/files/{ids[0]}", {"name": "z"}, by=scene.admin)
        assert names(scene, by=scene.alice) == ["b", "c", "z"]


class TestReplacing:
    """PUT content."""

    def test_a_file_gets_other_content_and_keeps_its_identity(self, scene: Scene, file: Json) -> None:
        scene.grant(file, scene.alice, "write")
        response = scene.api.request(
            "PUT",
            f"{scene.path}/files/{file['id']}/content",
            by=scene.alice,
            data=b"\x89PNG\r\n\x1a\n" + b"x" * 9,
        )
        assert response.status_code == 200
        kept = ("id", "name", "parentId", "owner", "createdAt")
        assert {key: response.json[key] for key in kept} == {key: file[key] for key in kept}
        assert (response.json["size"], response.json["contentType"]) == (17, "image/png")
        assert response.json["permission"] == "write"
        assert (
            scene.api.get(f"{scene.path}/files/{file['id']}/download", by=scene.alice).data[:4]
            == b"\x89PNG"
        )
        usage = scene.api.get(f"{scene.path}/usage", by=scene.admin).json
        assert (usage["liveBytes"], usage["versionBytes"]) == (17, file["size"])

    def test_content_is_replaced_only_as_it_was_seen(self, scene: Scene, file: Json) -> None:
        path = f"{scene.path}/files/{file['id']}"
        details = scene.api.get(path, by=scene.admin).headers["ETag"]
        downloaded = scene.api.get(f"{path}/download", by=scene.admin).headers["ETag"]
        for tag, status in ((downloaded, 200), (details, 412), (downloaded, 412)):
            answer = scene.api.request(
                "PUT", f"{path}/content", by=scene.admin, data=b"new", headers={"If-Match": tag}
            )
            assert answer.status_code == status

    def test_readers_and_folders_are_refused(self, scene: Scene, file: Json, folder: Json) -> None:
        scene.grant(file, scene.alice, "read")
        path = f"{scene.path}/files/{file['id']}/content"
        assert scene.api.request("PUT", path, by=scene.alice, data=b"new").status_code == 403
        response = scene.api.request(
            "PUT", f"{scene.path}/files/{folder['id']}/content", by=scene.admin, data=b"new"
        )
        assert (response.status_code, error_code(response)) == (409, "error.not-a-file")
