"""Groups of a tenant's members, and the grants that they hold."""

import re
from collections.abc import Callable

import pytest
from tests.support.api import PASSWORD, Answer, Api, Json, Person
from tests.support.scene import Scene

from strongroom.clock import iso_format
from strongroom.testing.clock import HOUR

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.config({"advanced": {"max_groups": 4, "max_groups_per_user": 2}}),
]


def code(answer: Answer) -> str:
    return str(answer.json["error"]["code"])


class Groups(Scene):
    """A scene with a group ``team`` that Alice is in."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.team = self.group("team", self.alice)

    def create(self, name: str, by: Person | None = None) -> Answer:
        return self.api.post(f"{self.path}/groups", {"name": name}, by=by or self.admin)

    def group(self, name: str, *members: Person) -> Json:
        """Create a group with members."""
        created = self.create(name)
        assert created.status_code == 201, created.text
        group: Json = created.json
        for member in members:
            assert self.add(group, member).status_code == 200
        return group

    def add(self, group: Json, user: Person, by: Person | None = None) -> Answer:
        path = f"{self.path}/groups/{group['id']}/members/{user.id}"
        return self.api.request("PUT", path, by=by or self.admin)

    def remove(self, group: Json, user: Person, by: Person | None = None) -> Answer:
        path = f"{self.path}/groups/{group['id']}/members/{user.id}"
        return self.api.delete(path, by=by or self.admin)

    def share(
        self,
        node: Json,
        permission: str,
        group: Json | None = None,
        *,
        by: Person | None = None,
        hours: int = 0,
    ) -> Answer:
        """Try to grant a group, by default the team, a permission."""
        body: Json = {"groupId": (group or self.team)["id"], "permission": permission}
        if hours:
            body["expiresAt"] = iso_format(self.api.clock.now() + hours * HOUR)
        path = f"{self.path}/files/{node['id']}/group-grants"
        return self.api.post(path, body, by=by or self.admin)

    def unshare(self, node: Json, group: Json | None = None, *, by: Person | None = None) -> Answer:
        path = f"{self.path}/files/{node['id']}/group-grants/{(group or self.team)['id']}"
        return self.api.delete(path, by=by or self.admin)

    def listed(self, path: str, by: Person) -> list[Json]:
        answer = self.api.get(f"{self.path}/{path}", by=by)
        assert answer.status_code == 200, answer.text
        found: list[Json] = answer.json["data"]
        assert answer.json["meta"]["totalCount"] == len(found)
        return found


@pytest.fixture
def scene(api: Api) -> Groups:
    return Groups(api)


class TestGroups:
    def test_administrators_create_rename_and_delete_them(self, scene: Groups) -> None:
        path = f"{scene.path}/groups/{scene.team['id']}"
        renamed = scene.api.patch(
            path, {"name": "crew", "revision": scene.team["revision"]}, by=scene.admin
        )
        assert renamed.json["name"] == "crew"
        assert scene.api.get(path, by=scene.bob).json == renamed.json
        stale = scene.api.patch(
            path, {"name": "other", "revision": scene.team["revision"]}, by=scene.admin
        )
        assert code(stale) == "error.revision-conflict"
        assert scene.api.delete(path, by=scene.admin).status_code == 200
        assert scene.api.delete(path, by=scene.admin).status_code == 404
        assert scene.listed("groups", scene.bob) == []

    def test_names_are_unique_in_a_tenant(self, scene: Groups) -> None:
        other = scene.group("other")
        assert code(scene.create("team")) == "error.group-name-taken"
        renamed = scene.api.patch(f"{scene.path}/groups/{other['id']}", {"name": "team"}, by=scene.admin)
        assert code(renamed) == "error.group-name-taken"
        assert Groups(scene.api).team["name"] == "team"

    @pytest.mark.parametrize(
        "act",
        [
            lambda scene, by: scene.create("new", by),
            lambda scene, by: scene.api.patch(
                f"{scene.path}/groups/{scene.team['id']}", {"name": "x"}, by=by
            ),
            lambda scene, by: scene.api.delete(f"{scene.path}/groups/{scene.team['id']}", by=by),
            lambda scene, by: scene.add(scene.team, scene.bob, by),
            lambda scene, by: scene.remove(scene.team, scene.alice, by),
        ],
    )
    def test_members_change_none(self, scene: Groups, act: Callable[[Groups, Person], Answer]) -> None:
        assert act(scene, scene.bob).status_code == 403
        assert act(scene, scene.api.person()).status_code == 403
        assert [group["name"] for group in scene.listed("groups", scene.bob)] == ["team"]

    def test_members_see_all_groups_and_who_is_in_their_own(self, scene: Groups) -> None:
        scene.group("empty")
        assert [group["name"] for group in scene.listed("groups", scene.bob)] == ["empty", "team"]
        members = f"groups/{scene.team['id']}/members"
        for person in (scene.alice, scene.admin):
            found = scene.listed(members, person)
            assert [member["user"]["$ref"] for member in found] == [scene.alice.id]
        assert scene.api.get(f"{scene.path}/{members}", by=scene.bob).status_code == 403
        stranger = scene.api.person()
        assert scene.api.get(f"{scene.path}/groups", by=stranger).status_code == 403

    def test_the_groups_of_a_user_are_for_that_user_and_administrators(self, scene: Groups) -> None:
        scene.group("other", scene.bob)
        assert [group["name"] for group in scene.listed("groups?userId=me", scene.alice)] == ["team"]
        of_alice = f"groups?userId={scene.alice.id}"
        assert [group["name"] for group in scene.listed(of_alice, scene.admin)] == ["team"]
        assert scene.api.get(f"{scene.path}/{of_alice}", by=scene.bob).status_code == 403

    def test_only_members_of_the_tenant_are_in_groups(self, scene: Groups) -> None:
        stranger = scene.api.person()
        assert code(scene.add(scene.team, stranger)) == "error.not-a-member"
        other = Groups(scene.api)
        path = f"{scene.path}/groups/{other.team['id']}/members/{scene.bob.id}"
        assert scene.api.request("PUT", path, by=scene.admin).status_code == 404

    def test_users_remove_themselves(self, scene: Groups) -> None:
        assert scene.remove(scene.team, scene.alice, by=scene.alice).status_code == 200
        assert scene.listed("groups?userId=me", scene.alice) == []
        assert scene.remove(scene.team, scene.alice).status_code == 200

    def test_numbers_are_limited(self, scene: Groups) -> None:
        second, third = scene.group("second", scene.alice), scene.group("third")
        assert code(scene.add(third, scene.alice)) == "error.too-many-groups"
        assert scene.add(second, scene.alice).status_code == 200
        scene.group("fourth")
        assert code(scene.create("fifth")) == "error.too-many-groups"

    def test_whoever_leaves_the_tenant_leaves_its_groups(self, scene: Groups) -> None:
        scene.api.delete(f"{scene.path}/members/{scene.alice.id}", by=scene.admin)
        scene.api.join(scene.path, scene.admin, scene.alice)
        assert scene.listed("groups?userId=me", scene.alice) == []
        assert scene.listed(f"groups/{scene.team['id']}/members", scene.admin) == []


class TestGrants:
    def test_members_hold_the_permission_as_long_as_they_are_in_the_group(self, scene: Groups) -> None:
        folder = scene.folder("folder")
        inner = scene.file("inner", folder)
        assert scene.share(folder, "write").status_code == 201
        assert scene.permission(inner, scene.alice) == "write"
        assert scene.permission(inner, scene.bob) is None
        scene.add(scene.team, scene.bob)
        assert scene.permission(inner, scene.bob) == "write"
        assert scene.top(scene.bob) == ["folder"]
        scene.remove(scene.team, scene.bob)
        assert scene.permission(inner, scene.bob) is None
        assert scene.top(scene.bob) == []

    def test_a_member_of_another_group_holds_none(self, scene: Groups) -> None:
        folder = scene.folder("folder")
        scene.share(folder, "manage")
        scene.group("other", scene.bob)
        assert scene.permission(folder, scene.bob) is None
        assert scene.top(scene.bob) == []

    def test_the_highest_of_own_and_group_grants_counts(self, scene: Groups) -> None:
        folder = scene.folder("folder")
        scene.grant(folder, scene.alice, "write")
        scene.share(folder, "read")
        assert scene.permission(folder, scene.alice) == "write"
        assert scene.share(folder, "manage").status_code == 200
        assert scene.permission(folder, scene.alice) == "manage"
        listed = scene.listed("owners/me/files", scene.alice)
        assert [(node["name"], node["permission"]) for node in listed] == [("folder", "manage")]
        scene.unshare(folder)
        assert scene.permission(folder, scene.alice) == "write"

    def test_grants_are_listed_by_group(self, scene: Groups) -> None:
        node = scene.file("file")
        scene.share(node, "write", scene.group("crew"))
        scene.share(node, "read", hours=1)
        path = f"files/{node['id']}/group-grants"
        found = scene.listed(path, scene.admin)
        assert [(grant["groupName"], grant["permission"]) for grant in found] == [
            ("crew", "write"),
            ("team", "read"),
        ]
        assert scene.api.get(f"{scene.path}/{path}", by=scene.alice).status_code == 403
        scene.api.clock.advance(HOUR)
        for person in (scene.admin, scene.alice):
            scene.token_of(person)
        assert [grant["groupName"] for grant in scene.listed(path, scene.admin)] == ["crew"]
        assert scene.permission(node, scene.alice) is None
        assert scene.top(scene.alice) == []

    def test_a_group_of_another_tenant_holds_none(self, scene: Groups) -> None:
        node, other = scene.file("file"), Groups(scene.api)
        answer = scene.share(node, "read", other.team)
        assert (answer.status_code, answer.json["error"]["details"][0]["field"]) == (400, "groupId")

    def test_a_deleted_group_holds_none(self, scene: Groups) -> None:
        folder = scene.folder("folder")
        scene.share(folder, "write")
        made = scene.file("made", folder, by=scene.alice)
        assert scene.top(scene.alice) == ["folder"]
        scene.api.delete(f"{scene.path}/groups/{scene.team['id']}", by=scene.admin)
        assert scene.permission(folder, scene.alice) is None
        # What a member created is the member's own.
        assert scene.top(scene.alice) == ["made"]
        assert scene.permission(made, scene.alice) == "manage"

    def test_a_manager_through_a_group_grants_and_explains(self, scene: Groups) -> None:
        folder = scene.folder("folder")
        inner = scene.folder("inner", folder)
        scene.share(folder, "manage")
        assert scene.grant(inner, scene.bob, "read", by=scene.alice).status_code == 201
        assert scene.share(inner, "read", scene.group("crew"), by=scene.alice).status_code == 201
        path = f"{scene.path}/files/{inner['id']}/access"
        explained = scene.api.get(f"{path}?userId={scene.alice.id}", by=scene.alice).json
        assert explained["permission"] == "manage"
        assert [(grant["groupName"], grant["fileName"]) for grant in explained["grants"]] == [
            ("team", "folder")
        ]

    def test_no_permission_outlasts_the_group_s_grant(self, scene: Groups) -> None:
        folder = scene.folder("folder")
        scene.share(folder, "manage", hours=1)
        assert scene.grant(folder, scene.bob, "read", by=scene.alice).status_code == 403
        assert scene.grant(folder, scene.bob, "read", by=scene.alice, hours=1).status_code == 201
        crew = scene.group("crew", scene.bob)
        assert scene.share(folder, "read", crew, by=scene.alice).status_code == 403
        made = scene.folder("made", folder, by=scene.alice)
        scene.api.clock.advance(HOUR)
        for person in (scene.alice, scene.bob):
            scene.token_of(person)
            assert scene.permission(made, person) is None
            assert scene.top(person) == []

    def test_a_move_does_not_extend_a_group_s_permission(self, scene: Groups) -> None:
        lent, target = scene.folder("lent"), scene.folder("target")
        scene.grant(lent, scene.bob, "manage", hours=1)
        scene.grant(target, scene.bob, "write", hours=1)
        scene.share(target, "read")
        move = f"{scene.path}/files/{lent['id']}/directory"
        assert scene.api.put(move, {"parentId": target["id"]}, by=scene.bob).status_code == 403
        scene.share(target, "read", hours=1)
        assert scene.api.put(move, {"parentId": target["id"]}, by=scene.bob).status_code == 200

    def test_a_move_does_not_bring_a_group_into_a_folder_lent_for_writing(self, scene: Groups) -> None:
        target = scene.folder("target")
        scene.grant(target, scene.bob, "write", hours=1)
        own = scene.folder("own", by=scene.bob)
        inner = scene.folder("inner", own, by=scene.bob)
        scene.grant(target, scene.bob, "write")
        assert scene.share(inner, "write", by=scene.bob).status_code == 201
        scene.grant(target, scene.bob, "write", hours=1)
        scene.grant(own, scene.bob, "manage", hours=1)
        scene.grant(inner, scene.bob, "manage", hours=1)
        move = f"{scene.path}/files/{own['id']}/directory"
        assert scene.api.put(move, {"parentId": target["id"]}, by=scene.bob).status_code == 403
        scene.unshare(inner)
        assert scene.api.put(move, {"parentId": target["id"]}, by=scene.bob).status_code == 200

    def test_an_access_key_of_a_member_reaches_its_folder_only(self, scene: Groups) -> None:
        shared, other = scene.folder("shared"), scene.folder("other")
        scene.share(shared, "write")
        scene.share(other, "write")
        wanted = {
            "name": "robot",
            "scopes": ["files:read"],
            "tenantId": scene.path.rpartition("/")[2],
            "fileId": shared["id"],
            "currentPassword": PASSWORD,
        }
        key = scene.api.post("/users/me/access-keys", wanted, by=scene.alice)
        assert key.status_code == 201, key.text
        robot = Person(scene.alice.id, scene.alice.email, key.json["key"])
        assert scene.permission(shared, robot) == "read"
        assert scene.permission(other, robot) is None
        assert scene.top(robot) == ["shared"]
        scene.remove(scene.team, scene.alice)
        assert scene.permission(shared, robot) is None


class TestLists:
    def test_nodes_are_at_the_top_once_and_sorted(self, scene: Groups) -> None:
        crew = scene.group("crew", scene.alice)
        nodes = {name: scene.folder(name) for name in "dcba"}
        own = scene.folder("bb", by=scene.alice)
        for name in "ac":
            scene.share(nodes[name], "read")
            scene.share(nodes[name], "write", crew)
        scene.grant(nodes["c"], scene.alice, "read")
        assert own["permission"] == "manage"
        listed = scene.listed("owners/me/files", scene.alice)
        assert [(node["name"], node["permission"]) for node in listed] == [
            ("a", "write"),
            ("bb", "manage"),
            ("c", "write"),
        ]
        for number, name in enumerate(["a", "bb", "c"], start=1):
            path = f"{scene.path}/owners/me/files?pageSize=1&pageNumber={number}"
            page = scene.api.get(path, by=scene.alice).json
            assert page["meta"]["totalCount"] == 3
            assert [node["name"] for node in page["data"]] == [name]

    def test_nodes_below_a_visible_folder_are_not_at_the_top(self, scene: Groups) -> None:
        crew = scene.group("crew", scene.alice)
        folder = scene.folder("folder")
        inner = scene.folder("inner", folder)
        scene.share(inner, "write")
        assert scene.top(scene.alice) == ["inner"]
        scene.share(folder, "read", crew)
        assert scene.top(scene.alice) == ["folder"]
        inside = scene.listed(f"owners/me/files/{folder['id']}/files", scene.alice)
        assert [(node["name"], node["permission"]) for node in inside] == [("inner", "write")]
        scene.remove(crew, scene.alice)
        assert scene.top(scene.alice) == ["inner"]
        scene.grant(folder, scene.alice, "read")
        assert scene.top(scene.alice) == ["folder"]

    def test_what_a_member_creates_in_a_group_s_folder_is_not_at_the_top(self, scene: Groups) -> None:
        folder = scene.folder("folder")
        scene.share(folder, "write")
        scene.file("made", folder, by=scene.alice)
        assert scene.top(scene.alice) == ["folder"]
        scene.remove(scene.team, scene.alice)
        assert scene.top(scene.alice) == ["made"]
        scene.add(scene.team, scene.alice)
        assert scene.top(scene.alice) == ["folder"]
        scene.unshare(folder)
        assert scene.top(scene.alice) == ["made"]


def reads_of_nodes(api: Api) -> list[str]:
    """Return the paths of all routes of the core that read a node."""
    rules = [rule for rule in api.app.url_map.iter_rules() if "GET" in (rule.methods or ())]
    paths = [rule.rule for rule in rules if {"file_id", "parent_id"} & set(rule.arguments)]
    assert len(paths) >= 6
    return [path for path in paths if path.startswith("/api/v1/tenants/")]


def test_a_removed_member_has_no_access_on_the_next_request(scene: Groups) -> None:
    folder = scene.folder("folder")
    file = scene.file("file", folder)
    scene.share(folder, "manage")
    values = {"tenant_id": scene.path.rpartition("/")[2], "owner_id": "me", "parent_id": folder["id"]}
    checked = 0
    for rule in reads_of_nodes(scene.api):
        for node in (folder, file):
            named = {**values, "file_id": node["id"]}
            path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: named.get(found[1], "1"), rule)  # noqa: B023
            if scene.api.get(path, by=scene.alice).status_code != 200:
                continue
            checked += 1
            scene.remove(scene.team, scene.alice)
            assert scene.api.get(path, by=scene.alice).status_code == 403, path
            scene.add(scene.team, scene.alice)
    assert checked >= 11


def test_a_removed_member_has_no_access_to_archives_changes_and_lists(scene: Groups) -> None:
    folder = scene.folder("folder")
    scene.file("file", folder)
    scene.share(folder, "manage")
    bundle = {"fileIds": [folder["id"]]}
    archive = f"{scene.path}/multi-files-download"
    made = scene.api.post(archive, bundle, by=scene.alice)
    assert made.status_code == 200
    scene.remove(scene.team, scene.alice)
    assert scene.api.post(archive, bundle, by=scene.alice).status_code == 403
    again = scene.api.get(made.headers["Content-Location"], by=scene.alice)
    assert again.status_code in (403, 404)
    changes = scene.api.get(f"{scene.path}/changes", by=scene.alice)
    assert folder["id"] not in changes.text
    assert scene.top(scene.alice) == []
