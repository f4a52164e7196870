"""Grants on files and folders: set, listed, revoked and explained; and their effect on lists."""

import pytest
from tests.support.api import Json, Person, error_code
from tests.support.scene import Scene

from strongroom.clock import iso_format
from strongroom.testing.clock import HOUR, MINUTE

pytestmark = pytest.mark.both_databases

UNKNOWN = "01a1fd35-41a4-7159-832d-f9df39268981"


class TestSetting:
    """POST owners."""

    @pytest.mark.rule("4.4 POST /api/v1/tenants/{tenantId}/files/{fileId}/owners")
    def test_a_grant_is_answered_and_holds_for_all_below(self, scene: Scene) -> None:
        folder = scene.folder("folder")
        leaf = scene.file("leaf", scene.folder("inner", folder))
        answer = scene.grant(folder, scene.alice, "write")
        assert answer.status_code == 201
        assert answer.json == {
            "fileId": folder["id"],
            "ownerId": scene.alice.id,
            "owner": {"$ref": scene.alice.id},
            "permission": "write",
            "expiresAt": None,
            "grantedBy": {"$ref": scene.admin.id},
            "createdAt": iso_format(scene.api.clock.now()),
        }
        assert scene.permission(leaf, scene.alice) == "write"
        assert scene.permission(leaf, scene.bob) is None

    def test_another_grant_takes_its_place_up_or_down(self, scene: Scene) -> None:
        file = scene.file("file")
        assert scene.grant(file, scene.alice, "manage").status_code == 201
        assert scene.grant(file, scene.alice, "read").status_code == 200
        assert scene.permission(file, scene.alice) == "read"

    def test_the_highest_grant_on_the_way_up_counts(self, scene: Scene) -> None:
        folder = scene.folder("folder")
        file = scene.file("file", folder)
        scene.grant(folder, scene.alice, "manage")
        scene.grant(file, scene.alice, "read")
        assert scene.permission(file, scene.alice) == "manage"

    def test_an_expired_grant_is_none_and_may_be_renewed(self, scene: Scene) -> None:
        file = scene.file("file")
        assert scene.grant(file, scene.alice, "read", hours=1).json["expiresAt"] == iso_format(
            scene.api.clock.now() + HOUR
        )
        scene.api.clock.advance(HOUR - 1)
        scene.token_of(scene.alice)
        assert scene.permission(file, scene.alice) == "read"
        scene.api.clock.advance(1)
        assert scene.permission(file, scene.alice) is None
        scene.token_of(scene.admin)
        assert scene.grant(file, scene.alice, "read").status_code == 201

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"permission": "none"}, "permission"),
            ({"permission": "owner"}, "permission"),
            ({"expiresAt": "2026-01-01T00:00:00Z"}, "expiresAt"),
            ({"expiresAt": "2036-01-01T00:00:00"}, "expiresAt"),
            ({"expiresAt": "9999-12-31T23:59:59-14:00"}, "expiresAt"),
            ({"expiresAt": "soon"}, "expiresAt"),
            ({"expiresAt": 5}, "expiresAt"),
            ({"ownerId": None}, "ownerId"),
            ({"until": "x"}, "until"),
        ],
    )
    def test_a_malformed_grant_names_the_field(self, scene: Scene, change: Json, field: str) -> None:
        file = scene.file("file")
        body = {"ownerId": scene.alice.id, "permission": "read", **change}
        answer = scene.api.post(f"{scene.path}/files/{file['id']}/owners", body, by=scene.admin)
        assert (answer.status_code, error_code(answer)) == (400, "error.validation-failed")
        assert answer.json["error"]["details"][0]["field"] == field

    def test_only_members_get_grants_and_the_refusal_does_not_reveal_users(self, scene: Scene) -> None:
        file, stranger = scene.file("file"), scene.api.person()
        nobody = Person(UNKNOWN, "nobody@example.com")
        answers = [scene.grant(file, user, "read") for user in (stranger, nobody)]
        assert {answer.status_code for answer in answers} == {409}
        bodies = [{**answer.json["error"], "requestId": ""} for answer in answers]
        assert bodies[0] == bodies[1]
        assert bodies[0]["code"] == "error.not-a-member"

    def test_only_who_manages_grants(self, scene: Scene) -> None:
        file = scene.file("file")
        for permission in ("read", "write"):
            scene.grant(file, scene.alice, permission)
            assert scene.grant(file, scene.bob, "read", by=scene.alice).status_code == 403
            assert scene.grant(file, scene.alice, "manage", by=scene.alice).status_code == 403
            assert scene.revoke(file, scene.alice, by=scene.alice).status_code == 403
        scene.grant(file, scene.alice, "manage")
        assert scene.grant(file, scene.bob, "manage", by=scene.alice).status_code == 201

    def test_a_grant_does_not_outlast_the_own_permission(self, scene: Scene) -> None:
        file = scene.file("file")
        scene.grant(file, scene.alice, "manage", hours=2)
        for user in (scene.alice, scene.bob):
            assert scene.grant(file, user, "read", by=scene.alice).status_code == 403
            assert scene.grant(file, user, "manage", by=scene.alice, hours=3).status_code == 403
        assert scene.grant(file, scene.bob, "manage", by=scene.alice, hours=2).status_code == 201

    def test_grants_are_recorded(self, scene: Scene) -> None:
        file, auditor = scene.file("file"), scene.api.person(admin=True)
        scene.grant(file, scene.alice, "read", hours=1)
        scene.revoke(file, scene.alice)
        path = f"/audit-events?targetId={file['id']}"
        events = scene.api.get(path, by=auditor).json["data"]
        assert [event["action"] for event in events] == ["grant.remove", "grant.put"]
        assert {event["actor"]["$ref"] for event in events} == {scene.admin.id}
        assert events[1]["details"] == {
            "tenant": scene.path.rpartition("/")[2],
            "user": scene.alice.id,
            "permission": "read",
            "expiresAt": iso_format(scene.api.clock.now() + HOUR),
        }


class TestListing:
    """GET owners."""

    def test_grants_in_force_are_listed_with_who_is_named(self, scene: Scene) -> None:
        file = scene.file("file")
        scene.grant(file, scene.alice, "read")
        scene.grant(file, scene.bob, "write", hours=1)
        path = f"{scene.path}/files/{file['id']}/owners"
        listed = scene.api.get(path, by=scene.admin).json
        found = {item["ownerId"]: item["permission"] for item in listed["data"]}
        assert found == {scene.admin.id: "manage", scene.alice.id: "read", scene.bob.id: "write"}
        assert {item["name"] for item in listed["included"].values()} == {"Admin", "Alice", "Bob"}
        second = scene.api.get(f"{path}?pageSize=2&pageNumber=2", by=scene.admin).json
        assert second["data"] == listed["data"][2:]
        scene.api.clock.advance(HOUR)
        scene.token_of(scene.admin)
        assert scene.api.get(path, by=scene.admin).json["meta"]["totalCount"] == 2
        scene.token_of(scene.alice)
        assert scene.api.get(path, by=scene.alice).status_code == 403


class TestRemoving:
    """DELETE owners."""

    @pytest.mark.rule("4.4 DELETE /api/v1/tenants/{tenantId}/files/{fileId}/owners/{ownerId}")
    def test_a_grant_is_revoked_and_twice_is_no_error(self, scene: Scene) -> None:
        file = scene.file("file")
        scene.grant(file, scene.alice, "read")
        for _ in range(2):
            answer = scene.revoke(file, scene.alice)
            assert (answer.status_code, answer.json) == (200, {"success": True})
        assert scene.permission(file, scene.alice) is None
        assert scene.top(scene.alice) == []

    def test_a_creator_may_lose_an_own_node(self, scene: Scene) -> None:
        file = scene.file("file", by=scene.alice)
        scene.revoke(file, scene.alice)
        assert scene.permission(file, scene.alice) is None
        assert scene.permission(file, scene.admin) == "manage"

    def test_who_leaves_the_tenant_loses_all_grants_for_good(self, scene: Scene) -> None:
        file, own = scene.file("file"), scene.file("own", by=scene.alice)
        scene.grant(file, scene.alice, "manage")
        scene.api.delete(f"{scene.path}/members/{scene.alice.id}", by=scene.admin)
        assert scene.permission(file, scene.alice) is None
        scene.api.join(scene.path, scene.admin, scene.alice)
        assert scene.permission(file, scene.alice) is None
        assert scene.permission(own, scene.alice) is None
        assert scene.top(scene.alice) == []


class TestExplaining:
    """GET access."""

    def test_the_sources_of_a_permission_are_returned(self, scene: Scene) -> None:
        outer = scene.folder("outer")
        folder = scene.folder("folder", outer)
        file = scene.file("file", folder)
        scene.grant(folder, scene.alice, "write")
        scene.grant(file, scene.alice, "manage", hours=1)
        scene.api.clock.advance(HOUR)
        scene.token_of(scene.admin)
        path = f"{scene.path}/files/{file['id']}/access"
        answer = scene.api.get(f"{path}?userId={scene.alice.id}", by=scene.admin)
        assert answer.status_code == 200
        assert answer.json == {
            "userId": scene.alice.id,
            "role": "member",
            "permission": "write",
            "grants": [
                {
                    "fileId": file["id"],
                    "fileName": "file",
                    "permission": "manage",
                    "expiresAt": iso_format(scene.api.clock.now()),
                    "inForce": False,
                    "groupId": None,
                    "groupName": None,
                },
                {
                    "fileId": folder["id"],
                    "fileName": "folder",
                    "permission": "write",
                    "expiresAt": None,
                    "inForce": True,
                    "groupId": None,
                    "groupName": None,
                },
            ],
        }
        mine = scene.api.get(path, by=scene.admin).json
        assert (mine["userId"], mine["role"], mine["permission"]) == (scene.admin.id, "admin", "manage")

    def test_nothing_is_returned_about_non_members(self, scene: Scene) -> None:
        file, stranger = scene.file("file"), scene.api.person()
        for user_id in (stranger.id, UNKNOWN):
            answer = scene.api.get(
                f"{scene.path}/files/{file['id']}/access?userId={user_id}", by=scene.admin
            )
            assert answer.json == {"userId": user_id, "role": None, "permission": "none", "grants": []}

    def test_a_folder_that_the_caller_does_not_see_is_not_named(self, scene: Scene) -> None:
        outer = scene.folder("outer")
        file = scene.file("file", outer)
        scene.grant(file, scene.alice, "manage")
        scene.grant(outer, scene.bob, "read")
        path = f"{scene.path}/files/{file['id']}/access?userId={scene.bob.id}"
        assert scene.api.get(path, by=scene.alice).json["grants"][0]["fileName"] is None
        assert scene.api.get(path, by=scene.admin).json["grants"][0]["fileName"] == "outer"
        assert scene.api.get(path, by=scene.bob).status_code == 403


class TestTopOfTheList:
    """A user's top-level nodes: visible nodes whose parent is not visible."""

    @pytest.mark.rule("4.4 GET /api/v1/tenants/{tenantId}/owners/{ownerId}/files")
    def test_nodes_in_a_visible_folder_are_not_at_the_top(self, scene: Scene) -> None:
        folder = scene.folder("folder")
        inner = scene.folder("inner", folder)
        file = scene.file("file", inner)
        scene.grant(file, scene.alice, "read")
        assert scene.top(scene.alice) == ["file"]
        scene.grant(folder, scene.alice, "read")
        assert scene.top(scene.alice) == ["folder"]
        scene.revoke(folder, scene.alice)
        assert scene.top(scene.alice) == ["file"]
        scene.grant(inner, scene.alice, "read")
        assert scene.top(scene.alice) == ["inner"]

    def test_what_hides_a_file_shows_it_again_once_it_has_expired(self, scene: Scene) -> None:
        folder = scene.folder("folder")
        file = scene.file("file", folder)
        scene.grant(file, scene.alice, "read", hours=2)
        scene.grant(folder, scene.alice, "read", hours=1)
        assert scene.top(scene.alice) == ["folder"]
        scene.api.clock.advance(HOUR - MINUTE)
        scene.token_of(scene.alice)
        assert scene.top(scene.alice) == ["folder"]
        scene.api.clock.advance(MINUTE)
        assert scene.top(scene.alice) == ["file"]
        scene.api.clock.advance(HOUR)
        scene.token_of(scene.alice)
        assert scene.top(scene.alice) == []

    def test_lists_follow_a_move(self, scene: Scene) -> None:
        seen, hidden = scene.folder("seen"), scene.folder("hidden")
        folder = scene.folder("folder", hidden)
        file = scene.file("file", folder)
        scene.grant(seen, scene.alice, "read")
        scene.grant(file, scene.alice, "read")
        assert scene.top(scene.alice) == ["file", "seen"]

        def move(parent: Json) -> None:
            path = f"{scene.path}/files/{folder['id']}/directory"
            assert scene.api.put(path, {"parentId": parent["id"]}, by=scene.admin).status_code == 200

        move(seen)
        assert scene.top(scene.alice) == ["seen"]
        move(hidden)
        assert scene.top(scene.alice) == ["file", "seen"]

    def test_nodes_in_own_folders_are_not_at_the_top(self, scene: Scene) -> None:
        shared = scene.folder("shared")
        scene.grant(shared, scene.alice, "write")
        scene.file("mine", shared, by=scene.alice)
        assert scene.top(scene.alice) == ["shared"]
        scene.revoke(shared, scene.alice)
        assert scene.top(scene.alice) == ["mine"]

    def test_pages_of_the_top_are_cut_from_either_end(self, scene: Scene) -> None:
        names = [f"{number:02}" for number in range(25)]
        for name in names:
            scene.file(name, by=scene.alice)
        for size in (1, 7, 24, 25):
            path = f"{scene.path}/owners/me/files?pageSize={size}"
            found = []
            for number in range(1, -(-25 // size) + 2):
                page = scene.api.get(f"{path}&pageNumber={number}", by=scene.alice).json
                assert page["meta"]["totalCount"] == 25
                found += [item["name"] for item in page["data"]]
            assert found == names
