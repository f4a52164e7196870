"""Changes of many files and folders by one request."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.support.api import PASSWORD, Answer, Api, Json, Person
from tests.support.campaign import campaign_size
from tests.support.pages import blocks_of
from tests.support.scene import Scene

from strongroom.content.files import copying
from strongroom.extensions.batches.service import MAX_ITEMS

MEMBERS: list[tuple[Json, list[str]]] = [
    ({"operation": "burn", "fileId": "x"}, ["items.0.operation"]),
    ({"operation": "trash"}, ["items.0.fileId"]),
    ({"operation": "trash", "fileId": "x", "name": "a"}, ["items.0.name"]),
    ({"operation": "move", "fileId": "x"}, ["items.0.parentId"]),
    (
        {"operation": "copy", "fileId": "x", "parentId": None, "revision": 1},
        ["items.0.revision"],
    ),
    ({"operation": "grant", "fileId": "x", "ownerId": "y"}, ["items.0.permission"]),
    ({"operation": "grant", "fileId": "x", "permission": "read"}, ["items.0.ownerId"]),
    (
        {"operation": "revoke", "fileId": "x", "ownerId": "y", "groupId": "z"},
        ["items.0.ownerId"],
    ),
    ({"operation": "trash", "fileId": "x", "more": 1}, ["items.0.more"]),
]


def item(operation: str, node: Json, **members: Any) -> Json:
    return {"operation": operation, "fileId": node["id"], **members}


def send(scene: Scene, *items: Json, by: Person | None = None, atomic: bool = True) -> Answer:
    body = {"atomic": atomic, "items": list(items)}
    return scene.api.post(f"{scene.path}/files-batches", body, by=by or scene.admin)


def outcomes(answer: Answer) -> list[int | str]:
    """Return the status of each item, or its error code."""
    assert answer.status_code == 200, answer.text
    results = answer.json["results"]
    return [result["error"]["code"] if result["error"] else result["status"] for result in results]


def failure(answer: Answer) -> tuple[int, str, list[str]]:
    """Return the status, the code and the fields of an error."""
    error = answer.json["error"]
    return answer.status_code, error["code"], [detail["field"] for detail in error["details"]]


def names(scene: Scene, folder: Json) -> list[str]:
    path = f"{scene.path}/owners/me/files/{folder['id']}/files"
    return [node["name"] for node in scene.api.get(path, by=scene.admin).json["data"]]


class TestOperations:
    """Each operation does what its own request does."""

    def test_one_batch_does_them_all(self, scene: Scene) -> None:
        folder, (a, b, c) = scene.folder("folder"), (scene.file(name) for name in "abc")
        answer = send(
            scene,
            item("move", a, parentId=folder["id"], name="moved"),
            item("copy", b, parentId=folder["id"]),
            item("trash", c),
            item("restore", c, parentId=folder["id"]),
            item("grant", folder, ownerId=scene.bob.id, permission="read"),
            item("revoke", folder, ownerId=scene.bob.id),
            item("trash", b),
        )
        assert outcomes(answer) == [200, 201, 200, 200, 201, 200, 200]
        files = [result["file"] for result in answer.json["results"]]
        assert [file and file["name"] for file in files] == ["moved", "b", None, "c", *[None] * 3]
        assert [result["fileId"] for result in answer.json["results"]][:2] == [a["id"], b["id"]]
        assert names(scene, folder) == ["b", "c", "moved"]
        assert scene.top(scene.admin) == ["folder"]
        assert scene.top(scene.bob) == []

    def test_the_nodes_are_those_of_single_requests(self, scene: Scene) -> None:
        a, folder = scene.file("a"), scene.folder("folder")
        moved = send(scene, item("move", a, parentId=folder["id"])).json["results"][0]["file"]
        assert moved == scene.api.get(f"{scene.path}/files/{a['id']}", by=scene.admin).json

    def test_groups_are_granted_and_revoked(self, scene: Scene) -> None:
        folder = scene.folder("folder")
        group = scene.api.post(f"{scene.path}/groups", {"name": "Staff"}, by=scene.admin).json["id"]
        path = f"{scene.path}/groups/{group}/members/{scene.bob.id}"
        assert scene.api.put(path, {}, by=scene.admin).status_code < 300
        one = {"groupId": group}
        assert outcomes(send(scene, item("grant", folder, permission="write", **one))) == [201]
        assert outcomes(send(scene, item("grant", folder, permission="read", **one))) == [200]
        assert scene.permission(folder, scene.bob) == "read"
        assert outcomes(send(scene, item("revoke", folder, **one))) == [200]
        assert scene.permission(folder, scene.bob) is None

    def test_each_item_has_its_event_and_each_grant_its_audit_record(self, scene: Scene) -> None:
        a, b = scene.file("a"), scene.file("b")
        send(
            scene,
            item("move", a, parentId=None, name="c"),
            item("grant", a, ownerId=scene.bob.id, permission="read"),
            item("trash", b),
        )
        events = scene.api.get(f"{scene.path}/file-events", by=scene.admin).json["data"]
        assert [event["action"] for event in events][:2] == ["file.deleted", "file.renamed"]
        records = scene.api.get("/audit-events?pageSize=5", by=scene.api.person(admin=True)).json["data"]
        assert "grant.put" in [record["action"] for record in records]

    @pytest.mark.parametrize(
        ("rule", "expected"),
        [("fail", "error.name-conflict"), ("rename", "a (1)"), ("replace", "a")],
    )
    @pytest.mark.parametrize("operation", ["move", "copy", "restore"])
    def test_a_taken_name(self, scene: Scene, operation: str, rule: str, expected: str) -> None:
        folder, a = scene.folder("folder"), scene.file("a")
        scene.file("a", folder)
        if operation == "restore":
            assert outcomes(send(scene, item("trash", a))) == [200]
        answer = send(scene, item(operation, a, parentId=folder["id"], onConflict=rule), atomic=False)
        result = answer.json["results"][0]
        if result["error"]:
            assert [detail["field"] for detail in result["error"]["details"]] == ["name"]
        assert (result["error"] or {"code": (result["file"] or {}).get("name")})["code"] == expected


GUIDE = Path(__file__).parents[2] / "docs/guides/batches.md"


def test_the_guide(scene: Scene) -> None:
    """The example of the guide, and the members of its results."""
    request, response = (block.content for block in blocks_of(GUIDE))
    ids = {f"FILE-{number}": scene.file(f"{number}.txt")["id"] for number in (1, 2, 3)}
    ids |= {"FOLDER": scene.folder("folder")["id"], "USER": scene.bob.id}
    for name, id_ in ids.items():
        request = request.replace(name, id_)
    answer = scene.api.post(f"{scene.path}/files-batches", json.loads(request), by=scene.admin)
    assert outcomes(answer) == [200, 201, 200, 200, 201, 200]
    described = json.loads(response)["results"]
    failing = item("move", {"id": ids["FILE-1"]}, parentId=None, name="copy.txt")
    failed = send(scene, failing, atomic=False).json["results"][0]
    assert failed.keys() == described[1].keys() == answer.json["results"][0].keys()
    assert failed["error"]["code"] == described[1]["error"]["code"]
    assert failed["error"]["details"][0].items() >= described[1]["error"]["details"][0].items()


class TestOrder:
    """Each item sees the tree that the previous ones left."""

    def test_the_same_node_twice(self, scene: Scene) -> None:
        a, x, y = scene.file("a"), scene.folder("x"), scene.folder("y")
        moves = [item("move", a, parentId=folder["id"]) for folder in (x, y, y)]
        assert outcomes(send(scene, *moves)) == [200, 200, 200]
        assert (names(scene, x), names(scene, y)) == ([], ["a"])
        twice = send(scene, item("trash", a), item("trash", a), atomic=False)
        assert outcomes(twice) == [200, "error.not-found"]

    def test_a_folder_and_its_content(self, scene: Scene) -> None:
        outer, target = scene.folder("outer"), scene.folder("target")
        a = scene.file("a", outer)
        both = (item("trash", outer), item("trash", a))
        assert failure(send(scene, *both)) == (404, "error.not-found", ["items.1"])
        assert outcomes(send(scene, *both, atomic=False)) == [200, "error.not-found"]
        assert outcomes(send(scene, item("restore", outer), *reversed(both))) == [200] * 3
        both = (item("restore", outer), item("restore", a))
        assert outcomes(send(scene, *both)) == [200, 200]
        both = (
            item("move", outer, parentId=target["id"]),
            item("move", a, parentId=target["id"]),
        )
        assert outcomes(send(scene, *both)) == [200, 200]
        assert (names(scene, target), names(scene, outer)) == (["a", "outer"], [])

    @pytest.mark.parametrize("atomic", [True, False])
    def test_two_folders_are_not_moved_into_each_other(self, scene: Scene, atomic: bool) -> None:
        a, b = scene.folder("a"), scene.folder("b")
        answer = send(
            scene,
            item("move", a, parentId=b["id"]),
            item("move", b, parentId=a["id"]),
            atomic=atomic,
        )
        if atomic:
            assert failure(answer) == (409, "error.move-into-itself", ["items.1"])
        else:
            assert outcomes(answer) == [200, "error.move-into-itself"]
        assert scene.top(scene.admin) == (["a", "b"] if atomic else ["b"])

    def test_the_top_level_follows_a_moved_folder(self, scene: Scene) -> None:
        outer, seen = scene.folder("outer"), scene.folder("seen")
        for node in (scene.file("a", outer), seen):
            scene.grant(node, scene.bob, "read")
        assert scene.top(scene.bob) == ["a", "seen"]
        assert outcomes(send(scene, item("move", outer, parentId=seen["id"]))) == [200]
        assert scene.top(scene.bob) == ["seen"]
        assert outcomes(send(scene, item("move", outer, parentId=None))) == [200]
        assert scene.top(scene.bob) == ["a", "seen"]

    def test_names_are_exchanged(self, scene: Scene) -> None:
        a, b = scene.file("a"), scene.file("b")
        steps = [(a, "c"), (b, "a"), (a, "b")]
        moves = [item("move", node, parentId=None, name=name) for node, name in steps]
        assert outcomes(send(scene, *moves)) == [200] * 3
        found = [scene.api.get(f"{scene.path}/files/{x['id']}", by=scene.admin).json for x in (a, b)]
        assert [node["name"] for node in found] == ["b", "a"]


class TestSharedReads:
    """Items read their destination together, as long as no item changes what they read."""

    @pytest.fixture
    def target(self, scene: Scene) -> Json:
        """A folder within another one that Alice manages."""
        outer = scene.folder("outer")
        assert scene.grant(outer, scene.alice, "manage").status_code == 201
        return scene.folder("target", outer)

    def test_a_lost_permission_counts_for_the_next_item(self, scene: Scene, target: Json) -> None:
        moves = [
            item("move", scene.file(name, by=scene.alice), parentId=target["id"]) for name in "abcd"
        ]
        outer = {"id": target["parentId"]}
        lost = item("revoke", outer, ownerId=scene.alice.id)
        answer = send(scene, *moves[:2], lost, moves[2], by=scene.alice, atomic=False)
        assert outcomes(answer) == [200, 200, 200, "error.forbidden"]
        scene.grant(outer, scene.alice, "manage")
        out = item("move", target, parentId=None)
        answer = send(scene, moves[2], out, moves[3], by=scene.alice, atomic=False)
        assert outcomes(answer) == [200, 200, "error.forbidden"]

    def test_a_destination_goes_to_the_trash_and_returns(self, scene: Scene, target: Json) -> None:
        moves = [item("move", scene.file(name, by=scene.alice), parentId=target["id"]) for name in "abc"]
        trash, restore = item("trash", target), item("restore", target)
        items = [moves[0], trash, moves[1], restore, moves[1], moves[2]]
        answer = send(scene, *items, by=scene.alice, atomic=False)
        assert outcomes(answer) == [200, 200, "error.not-found", 200, 200, 200]

    @pytest.mark.parametrize("seed", range(campaign_size("BATCHES", 3)))
    def test_results_are_those_of_batches_of_one(self, api: Api, seed: int) -> None:
        together, apart = Trees(api), Trees(api)
        choices = [together.choose(Random(f"{seed} {number}")) for number in range(60)]
        of_one = [together.item(choice) for choice in choices]
        expected = [outcomes(apart.send(apart.item(choice)))[0] for choice in choices]
        assert outcomes(together.send(*of_one)) == expected
        assert together.seen() == apart.seen()
        assert len(set(expected)) > 3, expected


class Trees:
    """Folders and files whose permissions Alice may lose, by their position in the order of creation."""

    def __init__(self, api: Api) -> None:
        self.scene = scene = Scene(api)
        a, d = scene.folder("a"), scene.folder("d")
        scene.grant(a, scene.alice, "manage")
        b, own = scene.folder("b", a), scene.folder("own", by=scene.alice)
        c = scene.folder("c", b)
        scene.grant(d, scene.alice, "write", hours=1)
        self.folders = [a, b, c, d, own]
        self.files = [
            scene.file(name, folder, by=scene.alice)
            for folder in self.folders
            for name in ("x", f"of {folder['name']}")
        ]
        self.members = [scene.alice, scene.bob]

    def choose(self, random: Random) -> Json:
        """Return an item with positions instead of ids; files are most of its nodes."""
        nodes = [*range(len(self.folders)), *range(len(self.folders), 3 * len(self.folders))]
        operation = random.choice(
            ["move"] * 6 + ["copy", "trash", "restore", "restore", "grant", "revoke"]
        )
        chosen: Json = {"operation": operation, "fileId": random.choice(nodes)}
        if operation in ("move", "copy", "restore"):
            chosen["parentId"] = random.choice([None, *range(len(self.folders))])
            chosen["onConflict"] = random.choice(["fail", "rename", "replace"])
        if operation in ("grant", "revoke"):
            chosen["ownerId"] = random.randrange(2)
        if operation == "grant":
            chosen["permission"] = random.choice(["read", "write", "manage"])
        return chosen

    def item(self, chosen: Json) -> Json:
        """Return a chosen item with the ids of this tenant."""
        nodes, found = [*self.folders, *self.files], dict(chosen)
        for name in ("fileId", "parentId"):
            if chosen.get(name) is not None:
                found[name] = nodes[chosen[name]]["id"]
        if "ownerId" in chosen:
            found["ownerId"] = self.members[chosen["ownerId"]].id
        return found

    def send(self, *items: Json) -> Answer:
        """Send a batch as Alice."""
        return send(self.scene, *items, by=self.scene.alice, atomic=False)

    def seen(self) -> list[Any]:
        """Return the name, the folder and the permission of each node for each user."""
        by_id = {node["id"]: number for number, node in enumerate([*self.folders, *self.files])}
        found: list[Any] = []
        for by in (self.scene.admin, *self.members):
            for node_id in by_id:
                answer = self.scene.api.get(f"{self.scene.path}/files/{node_id}", by=by)
                node = answer.json if answer.status_code == 200 else {"code": answer.status_code}
                folder = by_id.get(node.get("parentId"))
                found.append((node.get("code"), node.get("name"), folder, node.get("permission")))
            found.append(self.scene.top(by))
        return found


class TestFailures:
    """An item that fails."""

    def test_it_undoes_an_atomic_batch(self, scene: Scene) -> None:
        a, b, folder = scene.file("a"), scene.file("b"), scene.folder("folder")
        before = scene.api.get(f"{scene.path}/file-events", by=scene.admin).json["meta"]
        used = scene.api.get(scene.path, by=scene.admin).json["usedBytes"]
        answer = send(
            scene,
            item("move", a, parentId=folder["id"]),
            item("copy", b, parentId=folder["id"]),
            item("grant", b, ownerId=scene.bob.id, permission="read"),
            item("trash", b),
            item("move", folder, parentId=None, name="a/b"),
        )
        assert failure(answer) == (400, "error.validation-failed", ["items.4.name"])
        assert scene.top(scene.admin) == ["a", "b", "folder"]
        assert scene.permission(b, scene.bob) is None
        assert scene.api.get(f"{scene.path}/file-events", by=scene.admin).json["meta"] == before
        assert scene.api.get(scene.path, by=scene.admin).json["usedBytes"] == used

    def test_it_changes_nothing_itself_and_the_others_are_applied(self, scene: Scene) -> None:
        a, b, folder = scene.file("a"), scene.file("b"), scene.folder("folder")
        taken = scene.file("b", folder)
        answer = send(
            scene,
            item("move", a, parentId=folder["id"]),
            item("copy", b, parentId="unknown"),
            item("move", b, parentId=folder["id"], revision=1),
            item("trash", taken),
            item("move", b, parentId=folder["id"]),
            atomic=False,
        )
        expected = [200, "error.not-found", "error.revision-conflict", 200, 200]
        assert outcomes(answer) == expected
        recorded = scene.api.get(f"{scene.path}/file-events", by=scene.admin).json["data"]
        assert [event["action"] for event in recorded[:3]] == [
            "file.moved",
            "file.deleted",
            "file.moved",
        ]
        assert [result["status"] for result in answer.json["results"]] == [200, 404, 409, 200, 200]
        assert names(scene, folder) == ["a", "b"]

    def test_an_error_after_the_first_change_of_an_item_undoes_the_item(self, scene: Scene) -> None:
        # The owner's grant is replaced before the rule is checked that protects it.
        folder = scene.folder("folder", by=scene.alice)
        scene.grant(folder, scene.bob, "manage", by=scene.alice)
        answer = send(
            scene,
            item("grant", folder, ownerId=scene.alice.id, permission="read"),
            item("grant", folder, ownerId=scene.admin.id, permission="read"),
            by=scene.bob,
            atomic=False,
        )
        assert outcomes(answer) == ["error.forbidden", 201]
        assert scene.permission(folder, scene.alice) == "manage"

    def test_more_than_a_transaction_s_items(self, scene: Scene) -> None:
        folder = scene.folder("folder")
        moves = [item("move", {"id": "unknown"}, parentId=None)] * 150
        last = item("move", scene.file("a"), parentId=folder["id"])
        answer = send(scene, *moves, last, atomic=False)
        assert outcomes(answer) == ["error.not-found"] * 150 + [200]
        assert names(scene, folder) == ["a"]

    @pytest.mark.parametrize("atomic", [True, False])
    def test_the_quota_is_that_of_all_copies(self, scene: Scene, atomic: bool) -> None:
        a = scene.file("a")
        scene.api.patch(scene.path, {"quotaBytes": 3}, by=scene.api.person(admin=True))
        copies = [item("copy", a, parentId=None, onConflict="rename")] * 3
        answer = send(scene, *copies, atomic=atomic)
        if atomic:
            assert failure(answer) == (507, "error.storage-full", ["items.2"])
        else:
            assert outcomes(answer) == [201, 201, "error.storage-full"]

    def test_the_number_of_copied_nodes_is_that_of_all_copies(
        self, scene: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(copying, "MAX_NODES", 3)
        folder = scene.folder("folder")
        scene.file("a", folder)
        copies = [item("copy", folder, parentId=None, onConflict="rename")] * 2
        answer = send(scene, *copies)
        assert failure(answer) == (409, "error.too-many-nodes", ["items.1"])
        assert scene.top(scene.admin) == ["folder"]


class TestPermissions:
    """A batch allows nothing that its single requests do not allow."""

    OPERATIONS: tuple[tuple[str, Json], ...] = (
        ("move", {"parentId": None, "name": "new"}),
        ("copy", {"parentId": None, "onConflict": "rename"}),
        ("trash", {}),
        ("grant", {"permission": "read"}),
        ("revoke", {}),
    )

    @pytest.mark.parametrize("level", [None, "read", "write", "manage"])
    @pytest.mark.parametrize(("operation", "members"), OPERATIONS)
    def test_each_item_needs_its_permission(
        self, scene: Scene, operation: str, members: Json, level: str | None
    ) -> None:
        # A move out of a folder; one within it would be a rename.
        a = scene.file("a", scene.folder("around"))
        if level:
            scene.grant(a, scene.bob, level)
        grantee = {"ownerId": scene.alice.id} if operation in ("grant", "revoke") else {}
        wanted = item(operation, a, **members, **grantee)
        is_allowed = level == "manage" or (operation == "copy" and level is not None)
        answer = send(scene, wanted, by=scene.bob)
        if is_allowed:
            assert outcomes(answer) in ([200], [201])
        else:
            assert failure(answer) == (403, "error.forbidden", ["items.0"])

    @pytest.mark.parametrize("atomic", [True, False])
    def test_nodes_of_other_tenants_do_not_exist(self, scene: Scene, atomic: bool) -> None:
        other = scene.api.tenant(scene.admin, "Other")
        a = scene.api.upload(other, scene.admin, "a", b"x")
        folder = scene.api.folder(other, scene.admin, "folder")
        mine = scene.file("mine")
        items = [
            item("move", a, parentId=None),
            item("copy", a, parentId=None),
            item("trash", a),
            item("restore", a),
            item("grant", a, ownerId=scene.bob.id, permission="read"),
            item("revoke", a, ownerId=scene.bob.id),
            item("move", mine, parentId=folder["id"]),
            item("copy", mine, parentId=folder["id"]),
        ]
        if atomic:
            found = [failure(send(scene, each)) for each in items]
            assert found == [(404, "error.not-found", ["items.0"])] * len(items)
        else:
            assert outcomes(send(scene, *items, atomic=False)) == ["error.not-found"] * len(items)

    @pytest.mark.parametrize("atomic", [True, False])
    def test_a_stranger_is_refused_as_a_whole(self, scene: Scene, atomic: bool) -> None:
        stranger = scene.api.person()
        answer = send(scene, item("trash", scene.file("a")), by=stranger, atomic=atomic)
        assert (answer.status_code, answer.json["error"]["code"]) == (403, "error.forbidden")

    @staticmethod
    def robot(scene: Scene, scope: str, **limits: str) -> Person:
        body: Json = {"name": "robot", "scopes": [scope], "currentPassword": PASSWORD, **limits}
        key = scene.api.post("/users/me/access-keys", body, by=scene.admin).json["key"]
        return replace(scene.admin, token=key)

    def test_a_key_reaches_its_folder_only(self, scene: Scene) -> None:
        folder, outside = scene.folder("folder"), scene.file("outside")
        inside, gone = scene.file("inside", folder), scene.file("gone", folder)
        assert outcomes(send(scene, item("trash", gone))) == [200]
        tenant = scene.path.rpartition("/")[2]
        robot = self.robot(scene, "files:share", tenantId=tenant, fileId=folder["id"])
        answer = send(
            scene,
            item("copy", inside, parentId=folder["id"], name="copy"),
            item("copy", outside, parentId=folder["id"]),
            item("copy", inside, parentId=None),
            item("move", inside, parentId=None),
            item("trash", outside),
            item("restore", gone),
            item("grant", outside, ownerId=scene.bob.id, permission="read"),
            item("trash", inside),
            by=robot,
            atomic=False,
        )
        assert outcomes(answer) == [201, *["error.forbidden"] * 6, 200]

    def test_a_key_needs_the_scope_of_each_item(self, scene: Scene) -> None:
        a, robot = scene.file("a"), self.robot(scene, "files:write")
        answer = send(
            scene,
            item("copy", a, parentId=None, name="b"),
            item("trash", a),
            item("grant", a, ownerId=scene.bob.id, permission="read"),
            item("move", a, parentId=scene.folder("folder")["id"]),
            item("move", a, parentId=None, name="c"),
            by=robot,
            atomic=False,
        )
        lacks = "error.insufficient-scope"
        assert outcomes(answer) == [201, lacks, lacks, lacks, 200]


class TestShape:
    """The body of the request."""

    def test_at_most_a_thousand_items(self, scene: Scene) -> None:
        one = item("trash", {"id": "unknown"})
        for items in ([], [one] * (MAX_ITEMS + 1)):
            answer = send(scene, *items)
            assert failure(answer) == (400, "error.validation-failed", ["items"])

    def test_members_are_those_of_the_operation(self, scene: Scene) -> None:
        for wanted, fields in MEMBERS:
            answer = send(scene, wanted, atomic=False)
            assert failure(answer) == (400, "error.validation-failed", fields), wanted
