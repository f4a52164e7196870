"""Renames, moves and other content for files and folders."""

import pytest
from tests.support.api import Answer, Api, Json, Person, error_code

pytestmark = pytest.mark.both_databases

UNKNOWN = "01a1fd35-41a4-7159-832d-f9df39268981"


def move(api: Api, tenant: str, by: Person, node: str, parent: str | None, **more: object) -> Answer:
    """Try to move a node."""
    query = more.pop("query", "")
    body = {"parentId": parent, **more}
    return api.put(f"{tenant}/files/{node}/directory{query}", body, by=by)


def names(api: Api, tenant: str, by: Person, parent: str | None = None) -> list[str]:
    """Return the names in a folder, or at the top."""
    path = f"{tenant}/owners/me/files" + (f"/{parent}/files" if parent else "")
    return [item["name"] for item in api.get(f"{path}?pageSize=200", by=by).json["data"]]


@pytest.fixture
def person(api: Api) -> Person:
    return api.person()


@pytest.fixture
def tenant(api: Api, person: Person) -> str:
    return api.tenant(person)


@pytest.fixture
def folder(api: Api, person: Person, tenant: str) -> Json:
    return api.folder(tenant, person, "folder")


@pytest.fixture
def file(api: Api, person: Person, tenant: str) -> Json:
    return api.upload(tenant, person, "file", b"content")


class TestMoving:
    """PUT directory."""

    @pytest.mark.rule("4.4 PUT /api/v1/tenants/{tenantId}/files/{fileId}/directory")
    def test_a_file_moves_into_a_folder_and_back_to_the_top(
        self, api: Api, person: Person, tenant: str, folder: Json, file: Json
    ) -> None:
        moved = move(api, tenant, person, file["id"], folder["id"])
        assert moved.status_code == 200
        assert moved.json == {
            **file,
            "parentId": folder["id"],
            "revision": moved.json["revision"],
            "updatedAt": moved.json["updatedAt"],
        }
        assert moved.json["revision"] > file["revision"]
        assert (names(api, tenant, person), names(api, tenant, person, folder["id"])) == (
            ["folder"],
            ["file"],
        )
        assert move(api, tenant, person, file["id"], None).json["parentId"] is None
        assert names(api, tenant, person) == ["file", "folder"]
        assert api.get(f"{tenant}/files/{file['id']}/download", by=person).data == b"content"

    def test_a_folder_moves_with_all_below_it(
        self, api: Api, person: Person, tenant: str, folder: Json
    ) -> None:
        other = api.folder(tenant, person, "other")
        deep = api.folder(tenant, person, "deep", folder["id"])
        leaf = api.upload(tenant, person, "leaf", b"x", deep["id"])
        assert move(api, tenant, person, folder["id"], other["id"]).status_code == 200
        assert api.get(f"{tenant}/files/{leaf['id']}", by=person).json == leaf
        assert names(api, tenant, person, other["id"]) == ["folder"]

    def test_a_move_may_rename(
        self, api: Api, person: Person, tenant: str, folder: Json, file: Json
    ) -> None:
        moved = move(api, tenant, person, file["id"], folder["id"], name="e\u0301")
        assert (moved.json["name"], moved.json["parentId"]) == ("é", folder["id"])
        assert move(api, tenant, person, file["id"], folder["id"], name="a/b").status_code == 400

    def test_a_move_that_changes_nothing_leaves_the_revision(
        self, api: Api, person: Person, tenant: str, file: Json
    ) -> None:
        assert move(api, tenant, person, file["id"], None).json == file

    def test_a_folder_never_moves_into_itself_or_below(
        self, api: Api, person: Person, tenant: str, folder: Json
    ) -> None:
        inner = api.folder(tenant, person, "inner", folder["id"])
        innermost = api.folder(tenant, person, "innermost", inner["id"])
        for target in (folder, inner, innermost):
            response = move(api, tenant, person, folder["id"], target["id"])
            assert (response.status_code, error_code(response)) == (409, "error.move-into-itself")
        assert names(api, tenant, person) == ["folder"]

    def test_nothing_moves_into_a_file(
        self, api: Api, person: Person, tenant: str, folder: Json, file: Json
    ) -> None:
        response = move(api, tenant, person, folder["id"], file["id"])
        assert (response.status_code, error_code(response)) == (409, "error.not-a-folder")

    def test_a_taken_name_is_409_unless_it_may_be_numbered(
        self, api: Api, person: Person, tenant: str, folder: Json, file: Json
    ) -> None:
        api.upload(tenant, person, "file", b"other", folder["id"])
        response = move(api, tenant, person, file["id"], folder["id"])
        assert (response.status_code, error_code(response)) == (409, "error.name-conflict")
        moved = move(api, tenant, person, file["id"], folder["id"], query="?onConflict=rename")
        assert (moved.status_code, moved.json["name"]) == (200, "file (1)")

    def test_a_file_takes_the_place_of_a_file_that_the_caller_manages(
        self, api: Api, person: Person, tenant: str, folder: Json, file: Json
    ) -> None:
        api.upload(tenant, person, "file", b"other content", folder["id"])
        moved = move(api, tenant, person, file["id"], folder["id"], query="?onConflict=replace")
        assert (moved.status_code, moved.json["name"]) == (200, "file")
        listed = api.get(f"{tenant}/owners/me/files/{folder['id']}/files", by=person).json["data"]
        assert [item["id"] for item in listed] == [file["id"]]
        # The other file is in the trash.
        assert api.get(f"{tenant}/usage", by=person).json["liveBytes"] == len(b"content")
        inner = api.folder(tenant, person, "inner")
        api.folder(tenant, person, "inner", folder["id"])
        kept = move(api, tenant, person, inner["id"], folder["id"], query="?onConflict=replace")
        assert (kept.status_code, error_code(kept)) == (409, "error.name-conflict")

    def test_a_file_that_the_caller_does_not_manage_stays_in_its_place(
        self, api: Api, person: Person, tenant: str, folder: Json
    ) -> None:
        member = api.person()
        api.join(tenant, person, member)
        body = {"ownerId": member.id, "permission": "write"}
        api.post(f"{tenant}/files/{folder['id']}/owners", body, by=person)
        stays = api.upload(tenant, person, "name", b"of another", folder["id"])
        moves = api.upload(tenant, member, "name", b"own")
        refused = move(api, tenant, member, moves["id"], folder["id"], query="?onConflict=replace")
        assert refused.status_code == 403
        listed = api.get(f"{tenant}/owners/me/files/{folder['id']}/files", by=person).json["data"]
        assert [item["id"] for item in listed] == [stays["id"]]

    def test_a_stale_revision_is_409_and_a_stale_tag_412(
        self, api: Api, person: Person, tenant: str, folder: Json, file: Json
    ) -> None:
        path = f"{tenant}/files/{file['id']}/directory"
        body = {"parentId": folder["id"]}
        stale = api.put(path, {**body, "revision": file["revision"] - 1}, by=person)
        assert (stale.status_code, error_code(stale)) == (409, "error.revision-conflict")
        other = api.put(path, body, by=person, headers={"If-Match": '"1"'})
        assert (other.status_code, error_code(other)) == (412, "error.precondition-failed")
        assert names(api, tenant, person, folder["id"]) == []
        assert api.put(path, {**body, "revision": file["revision"]}, by=person).status_code == 200

    @pytest.mark.parametrize(
        "body", [{}, {"parentId": 5}, {"parentId": None, "x": 1}, {"parentId": UNKNOWN}]
    )
    def test_a_malformed_move_is_400_and_an_unknown_folder_404(
        self, api: Api, person: Person, tenant: str, file: Json, body: Json
    ) -> None:
        status = 404 if body.get("parentId") == UNKNOWN else 400
        assert api.put(f"{tenant}/files/{file['id']}/directory", body, by=person).status_code == status

    def test_a_folder_of_another_tenant_is_no_target(
        self, api: Api, person: Person, tenant: str, file: Json
    ) -> None:
        theirs = api.folder(api.tenant(person), person, "theirs")
        assert move(api, tenant, person, file["id"], theirs["id"]).status_code == 404
        root = tenant.rpartition("/")[2]
        assert move(api, tenant, person, file["id"], root).status_code == 404

    def test_a_move_needs_manage_on_what_moves_and_write_on_where_it_goes(
        self, api: Api, person: Person, tenant: str, folder: Json, file: Json
    ) -> None:
        member = api.person()
        api.join(tenant, person, member)

        def grant(node: Json, permission: str) -> None:
            body = {"ownerId": member.id, "permission": permission}
            assert api.post(f"{tenant}/files/{node['id']}/owners", body, by=person).status_code < 300

        for permission, target, status in (
            ("write", "write", 403),
            ("manage", "read", 403),
            ("manage", "write", 200),
        ):
            grant(file, permission)
            grant(folder, target)
            assert move(api, tenant, member, file["id"], folder["id"]).status_code == status
        # A node that the caller manages through an ancestor has no grants that the move could extend.
        around = api.folder(tenant, person, "around")
        inside = api.upload(tenant, person, "inside", b"x", around["id"])
        grant(around, "manage")
        grant(folder, "read")
        assert move(api, tenant, member, inside["id"], folder["id"]).status_code == 403

    def test_moving_a_node_out_of_the_own_sight_is_reported(
        self, api: Api, person: Person, tenant: str, folder: Json
    ) -> None:
        member = api.person()
        api.join(tenant, person, member)
        file = api.upload(tenant, person, "inside", b"x", folder["id"])
        body = {"ownerId": member.id, "permission": "manage"}
        api.post(f"{tenant}/files/{folder['id']}/owners", body, by=person)
        moved = move(api, tenant, member, file["id"], None)
        assert (moved.status_code, moved.json["permission"]) == (200, "none")
        assert api.get(f"{tenant}/files/{file['id']}", by=member).status_code == 403


class TestRenaming:
    """PATCH."""

    def test_a_node_is_renamed_on_the_revision_it_was_read_at(
        self, api: Api, person: Person, tenant: str, file: Json
    ) -> None:
        path = f"{tenant}/files/{file['id']}"
        body = {"name": "renamed", "revision": file["revision"]}
        renamed = api.patch(path, body, by=person)
        assert (renamed.status_code, renamed.json["name"]) == (200, "renamed")
        stale = api.patch(path, {**body, "name": "again"}, by=person)
        assert (stale.status_code, error_code(stale)) == (409, "error.revision-conflict")
        assert names(api, tenant, person) == ["renamed"]

    def test_if_match_holds_the_tag_of_the_details(
        self, api: Api, person: Person, tenant: str, file: Json
    ) -> None:
        path = f"{tenant}/files/{file['id']}"
        tag = api.get(path, by=person).headers["ETag"]
        renamed = api.patch(path, {"name": "a"}, by=person, headers={"If-Match": tag})
        assert renamed.status_code == 200
        assert renamed.headers["ETag"] == api.get(path, by=person).headers["ETag"] != tag
        stale = api.patch(path, {"name": "b"}, by=person, headers={"If-Match": tag})
        assert (stale.status_code, error_code(stale)) == (412, "error.precondition-failed")
        assert api.delete(path, by=person, headers={"If-Match": tag}).status_code == 412
        anything = api.patch(path, {"name": "b"}, by=person, headers={"If-Match": "*"})
        assert anything.status_code == 200

    def test_a_taken_name_is_409_and_ones_own_is_not(
        self, api: Api, person: Person, tenant: str, file: Json, folder: Json
    ) -> None:
        path = f"{tenant}/files/{file['id']}"
        response = api.patch(path, {"name": "folder"}, by=person)
        assert (response.status_code, error_code(response)) == (409, "error.name-conflict")
        assert api.patch(path, {"name": "file"}, by=person).json == file
        numbered = api.patch(f"{path}?onConflict=rename", {"name": "folder"}, by=person)
        assert numbered.json["name"] == "folder (1)"

    def test_lists_follow_a_new_name(self, api: Api, person: Person, tenant: str) -> None:
        member = api.person()
        api.join(tenant, person, member)
        ids = [api.upload(tenant, member, name, b"x")["id"] for name in ("a", "b", "c")]
        api.patch(f"{tenant}/files/{ids[0]}", {"name": "z"}, by=person)
        assert names(api, tenant, member) == ["b", "c", "z"]


class TestReplacing:
    """PUT content."""

    def test_a_file_gets_other_content_and_keeps_its_identity(
        self, api: Api, person: Person, tenant: str, file: Json
    ) -> None:
        member = api.person()
        api.join(tenant, person, member)
        body = {"ownerId": member.id, "permission": "write"}
        api.post(f"{tenant}/files/{file['id']}/owners", body, by=person)
        response = api.request(
            "PUT",
            f"{tenant}/files/{file['id']}/content",
            by=member,
            data=b"\x89PNG\r\n\x1a\n" + b"x" * 9,
        )
        assert response.status_code == 200
        kept = ("id", "name", "parentId", "owner", "createdAt")
        assert {key: response.json[key] for key in kept} == {key: file[key] for key in kept}
        assert (response.json["size"], response.json["contentType"]) == (17, "image/png")
        assert response.json["permission"] == "write"
        assert api.get(f"{tenant}/files/{file['id']}/download", by=member).data[:4] == b"\x89PNG"
        usage = api.get(f"{tenant}/usage", by=person).json
        assert (usage["liveBytes"], usage["versionBytes"]) == (17, file["size"])

    def test_content_is_replaced_only_as_it_was_seen(
        self, api: Api, person: Person, tenant: str, file: Json
    ) -> None:
        path = f"{tenant}/files/{file['id']}"
        details = api.get(path, by=person).headers["ETag"]
        downloaded = api.get(f"{path}/download", by=person).headers["ETag"]
        for tag, status in ((downloaded, 200), (details, 412), (downloaded, 412)):
            answer = api.request(
                "PUT", f"{path}/content", by=person, data=b"new", headers={"If-Match": tag}
            )
            assert answer.status_code == status

    def test_readers_and_folders_are_refused(
        self, api: Api, person: Person, tenant: str, file: Json, folder: Json
    ) -> None:
        reader = api.person()
        api.join(tenant, person, reader)
        body = {"ownerId": reader.id, "permission": "read"}
        api.post(f"{tenant}/files/{file['id']}/owners", body, by=person)
        path = f"{tenant}/files/{file['id']}/content"
        assert api.request("PUT", path, by=reader, data=b"new").status_code == 403
        response = api.request("PUT", f"{tenant}/files/{folder['id']}/content", by=person, data=b"new")
        assert (response.status_code, error_code(response)) == (409, "error.not-a-file")
