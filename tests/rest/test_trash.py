"""The trash: deletion, restoration, permanent removal, and who sees what."""

from typing import Any

import pytest
from sqlalchemy import func, select
from tests.support.api import PASSWORD, Answer, Json, Person, error_code
from tests.support.databases import on_postgresql
from tests.support.scene import Scene

from strongroom.clock import iso_format
from strongroom.content.nodes.models import nodes, trash
from strongroom.extensions.trash import removal as trash_removal
from strongroom.extensions.trash.removal import TrashRemoval
from strongroom.testing.clock import HOUR

pytestmark = pytest.mark.both_databases

DAY = 24 * HOUR

UNKNOWN = "01a1fd35-41a4-7159-832d-f9df39268981"


class Bin:
    """The trash of a scene's tenant."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.api, self.path = scene.api, f"{scene.path}/trash"

    def throw(self, node: Json, by: Person | None = None, query: str = "") -> Answer:
        """Delete a node."""
        path = f"{self.scene.path}/files/{node['id']}{query}"
        return self.api.delete(path, by=by or self.scene.admin)

    def listed(self, by: Person | None = None) -> list[Json]:
        """Return the entries that a user sees."""
        answer = self.api.get(self.path, by=by or self.scene.admin)
        assert answer.json["meta"]["totalCount"] == len(answer.json["data"])
        found: list[Json] = answer.json["data"]
        return found

    def names(self, by: Person | None = None) -> list[str]:
        """Return their names."""
        return [entry["name"] for entry in self.listed(by)]

    def restore(self, node: Json, by: Person | None = None, **body: Any) -> Answer:
        """Try to restore a node."""
        return self.api.post(f"{self.path}/{node['id']}/restore", body, by=by or self.scene.admin)

    def remove(self, node: Json | None = None, by: Person | None = None) -> Answer:
        """Try to remove a node permanently, or all."""
        headers = {"X-Current-Password": PASSWORD}
        path = f"{self.path}/{node['id']}" if node else self.path
        return self.api.delete(path, by=by or self.scene.admin, headers=headers)

    def usage(self) -> tuple[int, int, int]:
        """Return the used bytes, those of live files and those of the trash."""
        found = self.api.get(f"{self.scene.path}/usage", by=self.scene.admin).json
        return found["usedBytes"], found["liveBytes"], found["trashBytes"]

    def rows(self) -> tuple[int, int]:
        """Return the number of nodes of the tenant without its root, and of entries."""
        with self.api.container.database.read() as connection:
            counts = [
                connection.execute(select(func.count()).select_from(table)).scalar_one()
                for table in (nodes, trash)
            ]
        return counts[0] - 1, counts[1]


@pytest.fixture
def bin_(scene: Scene) -> Bin:
    return Bin(scene)


@pytest.fixture
def tree(scene: Scene) -> dict[str, Json]:
    """A folder with a folder with a file."""
    folder = scene.folder("folder")
    inner = scene.folder("inner", folder)
    return {"folder": folder, "inner": inner, "file": scene.file("file", inner)}


class TestDeletion:
    """DELETE of a node."""

    def test_the_subtree_is_in_no_list_and_cannot_be_reached(
        self, scene: Scene, bin_: Bin, tree: dict[str, Json]
    ) -> None:
        scene.grant(tree["inner"], scene.alice, "manage")
        assert scene.top(scene.alice) == ["inner"]
        assert bin_.throw(tree["folder"]).json == {"success": True}
        for user in (scene.admin, scene.alice):
            assert scene.top(user) == []
            for node in tree.values():
                path = f"{scene.path}/files/{node['id']}"
                for suffix in ("", "/download", "/owners", "/access"):
                    answer = bin_.api.get(f"{path}{suffix}", by=user)
                    assert (answer.status_code, error_code(answer)) == (404, "error.not-found")
                assert bin_.throw(node, by=user).status_code == 404
        bundle = {"fileIds": [tree["file"]["id"]]}
        answer = bin_.api.post(f"{scene.path}/multi-files-download", bundle, by=scene.admin)
        assert answer.status_code == 404

    def test_the_name_is_free_at_once(self, scene: Scene, bin_: Bin) -> None:
        for _ in range(3):
            assert bin_.throw(scene.folder("same")).status_code == 200
        assert bin_.names() == ["same"] * 3

    def test_nothing_can_be_put_into_a_trashed_folder(
        self, scene: Scene, bin_: Bin, tree: dict[str, Json]
    ) -> None:
        other = scene.file("other")
        bin_.throw(tree["folder"])
        inner = tree["inner"]["id"]
        answers = [
            bin_.api.send(scene.path, scene.admin, "new", b"x", inner),
            bin_.api.post(f"{scene.path}/files/{inner}/folders", {"name": "new"}, by=scene.admin),
            bin_.api.put(
                f"{scene.path}/files/{other['id']}/directory", {"parentId": inner}, by=scene.admin
            ),
        ]
        assert [answer.status_code for answer in answers] == [404] * 3

    def test_the_quota_still_counts_it(self, scene: Scene, bin_: Bin, tree: dict[str, Json]) -> None:
        scene.file("other")
        assert bin_.usage() == (2, 2, 0)
        bin_.throw(tree["folder"])
        assert bin_.usage() == (2, 1, 1)

    def test_permanently_removes_at_once_with_a_fresh_proof(
        self, scene: Scene, bin_: Bin, tree: dict[str, Json]
    ) -> None:
        bin_.api.clock.advance(HOUR)
        scene.token_of(scene.admin)
        assert bin_.throw(tree["inner"], query="?permanently=true").status_code == 200
        bin_.api.clock.advance(HOUR // 5)
        refused = bin_.throw(tree["folder"], query="?permanently=true")
        assert (refused.status_code, error_code(refused)) == (403, "error.fresh-proof-required")
        assert bin_.listed() == []
        assert bin_.usage() == (0, 0, 0)
        assert bin_.rows() == (1, 0)

    def test_a_file_that_a_move_replaces_goes_to_the_trash(self, scene: Scene, bin_: Bin) -> None:
        folder = scene.folder("folder")
        replaced, moved = scene.file("file", folder), scene.file("file")
        path = f"{scene.path}/files/{moved['id']}/directory?onConflict=replace"
        assert bin_.api.put(path, {"parentId": folder["id"]}, by=scene.admin).status_code == 200
        assert [entry["id"] for entry in bin_.listed()] == [replaced["id"]]


class TestList:
    """GET trash."""

    def test_an_entry(self, scene: Scene, bin_: Bin, tree: dict[str, Json]) -> None:
        scene.grant(tree["folder"], scene.alice, "manage")
        bin_.throw(tree["inner"], by=scene.alice)
        answer = bin_.api.get(bin_.path, by=scene.alice).json
        now = bin_.api.clock.now()
        assert answer["data"] == [
            {
                "id": tree["inner"]["id"],
                "type": "folder",
                "name": "inner",
                "parentId": tree["folder"]["id"],
                "tenantId": tree["inner"]["tenantId"],
                "size": 1,
                "contentType": None,
                "owner": {"$ref": scene.admin.id},
                "trashedBy": {"$ref": scene.alice.id},
                "trashedAt": answer["data"][0]["trashedAt"],
                "purgeAt": answer["data"][0]["purgeAt"],
            }
        ]
        assert set(answer["included"]) == {scene.admin.id, scene.alice.id}
        times = [answer["data"][0][name] for name in ("trashedAt", "purgeAt")]
        assert times == [iso_format(now), iso_format(now + 30 * DAY)]

    def test_members_see_their_own_administrators_all_the_newest_first(
        self, scene: Scene, bin_: Bin
    ) -> None:
        by = {"a": scene.alice, "b": scene.bob, "c": scene.admin}
        for name, user in by.items():
            bin_.throw(scene.file(name, by=user), by=user)
            bin_.api.clock.advance(1)
        assert bin_.names(scene.alice) == ["a"]
        assert bin_.names(scene.bob) == ["b"]
        assert bin_.names() == ["c", "b", "a"]
        second = bin_.api.get(f"{bin_.path}?pageSize=1&pageNumber=2", by=scene.admin).json
        assert [entry["name"] for entry in second["data"]] == ["b"]

    def test_others_see_nothing_of_an_entry(self, scene: Scene, bin_: Bin) -> None:
        file = scene.file("file", by=scene.alice)
        bin_.throw(file, by=scene.alice)
        for node in (file, {"id": UNKNOWN}):
            assert bin_.restore(node, by=scene.bob).status_code == 404
            assert bin_.remove(node, by=scene.bob).status_code == 404
        stranger = bin_.api.person()
        answers = [
            bin_.api.get(bin_.path, by=stranger),
            bin_.restore(file, by=stranger),
            bin_.remove(file, by=stranger),
            bin_.remove(by=stranger),
        ]
        assert [answer.status_code for answer in answers] == [403] * 4
        assert bin_.names() == ["file"]


class TestRestoration:
    """POST restore."""

    def test_everything_is_as_before(self, scene: Scene, bin_: Bin, tree: dict[str, Json]) -> None:
        scene.grant(tree["inner"], scene.alice, "write")
        scene.grant(tree["file"], scene.bob, "read")
        bin_.throw(tree["folder"])
        restored = bin_.restore(tree["folder"])
        assert restored.status_code == 200
        changed = {name: restored.json[name] for name in ("revision", "updatedAt")}
        assert restored.json == {**tree["folder"], **changed}
        assert restored.json["revision"] > tree["folder"]["revision"]
        assert restored.headers["ETag"].startswith(f'"{restored.json["revision"]}-')
        for name in ("inner", "file"):
            found = bin_.api.get(f"{scene.path}/files/{tree[name]['id']}", by=scene.admin)
            assert found.json == tree[name]
        assert (scene.top(scene.alice), scene.top(scene.bob)) == (["inner"], ["file"])
        assert scene.permission(tree["file"], scene.alice) == "write"
        assert (bin_.listed(), bin_.usage()) == ([], (1, 1, 0))
        assert bin_.restore(tree["folder"]).status_code == 404

    def test_grants_of_folders_around_count_as_they_are_then(
        self, scene: Scene, bin_: Bin, tree: dict[str, Json]
    ) -> None:
        scene.grant(tree["folder"], scene.alice, "read")
        scene.grant(tree["file"], scene.alice, "read")
        scene.grant(tree["file"], scene.bob, "read")
        bin_.throw(tree["inner"])
        assert (scene.top(scene.alice), scene.top(scene.bob)) == (["folder"], [])
        scene.revoke(tree["folder"], scene.alice)
        scene.grant(tree["folder"], scene.bob, "read")
        assert (scene.top(scene.alice), scene.top(scene.bob)) == ([], ["folder"])
        assert bin_.restore(tree["inner"]).status_code == 200
        assert (scene.top(scene.alice), scene.top(scene.bob)) == (["file"], ["folder"])

    def test_a_gone_parent_needs_another(self, scene: Scene, bin_: Bin, tree: dict[str, Json]) -> None:
        bin_.throw(tree["inner"])
        bin_.throw(tree["folder"])
        refused = bin_.restore(tree["inner"])
        assert (refused.status_code, error_code(refused)) == (409, "error.parent-gone")
        bin_.remove(tree["folder"])
        assert error_code(bin_.restore(tree["inner"])) == "error.parent-gone"
        assert bin_.restore(tree["inner"], parentId=UNKNOWN).status_code == 404
        other = scene.folder("other")
        assert bin_.restore(tree["inner"], parentId=other["id"]).json["parentId"] == other["id"]
        bin_.throw(tree["inner"])
        assert bin_.restore(tree["inner"], parentId=None).json["parentId"] is None
        assert bin_.restore(tree["inner"], parentId=None).status_code == 404

    def test_a_file_is_no_parent(self, scene: Scene, bin_: Bin) -> None:
        file, other = scene.file("file"), scene.file("other")
        bin_.throw(file)
        assert error_code(bin_.restore(file, parentId=other["id"])) == "error.not-a-folder"

    def test_a_taken_name(self, scene: Scene, bin_: Bin) -> None:
        first = scene.file("file")
        bin_.throw(first)
        second = scene.file("file")
        refused = bin_.restore(first)
        assert (refused.status_code, error_code(refused)) == (409, "error.name-conflict")
        assert bin_.names() == ["file"]
        assert bin_.restore(first, onConflict="rename").json["name"] == "file (1)"
        bin_.throw(first)
        renamed = bin_.restore(first, onConflict="rename").json["name"]
        assert (renamed, bin_.names()) == ("file (1)", [])
        bin_.throw(first)
        bin_.api.patch(f"{scene.path}/files/{second['id']}", {"name": "file (1)"}, by=scene.admin)
        assert bin_.restore(first, onConflict="replace").status_code == 200
        assert [entry["id"] for entry in bin_.listed()] == [second["id"]]

    def test_it_needs_the_permission_to_write_to_the_folder(
        self, scene: Scene, bin_: Bin, tree: dict[str, Json]
    ) -> None:
        scene.grant(tree["folder"], scene.alice, "manage")
        bin_.throw(tree["inner"], by=scene.alice)
        scene.grant(tree["folder"], scene.alice, "read")
        assert bin_.restore(tree["inner"], by=scene.alice).status_code == 403
        # Elsewhere, others than before must not gain a permission that outlasts the caller's.
        hers = scene.folder("hers", by=scene.alice)
        refused = bin_.restore(tree["inner"], by=scene.alice, parentId=hers["id"])
        assert refused.status_code == 403
        scene.grant(tree["folder"], scene.alice, "write")
        assert bin_.restore(tree["inner"], by=scene.alice).status_code == 200

    def test_a_new_name_of_a_node_in_the_trash_is_shown_in_lists(self, scene: Scene, bin_: Bin) -> None:
        file = scene.file("file")
        scene.grant(file, scene.alice, "read")
        bin_.throw(file)
        scene.file("file")
        bin_.restore(file, onConflict="rename")
        assert scene.top(scene.alice) == ["file (1)"]


class TestRemoval:
    """DELETE in the trash."""

    def test_it_needs_a_fresh_proof(self, scene: Scene, bin_: Bin) -> None:
        file = scene.file("file")
        bin_.throw(file)
        bin_.api.clock.advance(HOUR // 5)
        for path in (bin_.path, f"{bin_.path}/{file['id']}"):
            refused = bin_.api.delete(path, by=scene.admin)
            assert (refused.status_code, error_code(refused)) == (403, "error.fresh-proof-required")
        assert bin_.names() == ["file"]

    def test_it_frees_space_and_removes_the_bytes(
        self, scene: Scene, bin_: Bin, tree: dict[str, Json]
    ) -> None:
        bin_.throw(tree["folder"])
        assert bin_.api.stored_objects() == 1
        assert bin_.remove(tree["inner"]).status_code == 404
        assert bin_.remove(tree["folder"]).json == {"success": True}
        assert bin_.remove(tree["folder"]).status_code == 404
        assert (bin_.usage(), bin_.rows(), bin_.api.stored_objects()) == ((0, 0, 0), (0, 0), 0)

    def test_emptying_removes_what_the_caller_sees(self, scene: Scene, bin_: Bin) -> None:
        for user in (scene.alice, scene.alice, scene.bob):
            bin_.throw(scene.folder("x", by=user), by=user)
        assert bin_.remove(by=scene.alice).status_code == 200
        assert (bin_.names(), bin_.rows()) == (["x"], (1, 1))
        assert bin_.remove().status_code == 200
        assert (bin_.names(), bin_.rows()) == ([], (0, 0))
        assert bin_.remove().status_code == 200

    def test_a_large_folder_is_removed_in_turns_and_the_rest_later(
        self, scene: Scene, bin_: Bin, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(trash_removal, "NODES_AT_ONCE", 2)
        monkeypatch.setattr(trash_removal, "_NODES_PER_REQUEST", 3)
        folder = scene.folder("folder")
        for number in range(5):
            scene.file(str(number), folder)
        bin_.throw(folder)
        assert bin_.remove(folder).status_code == 200
        # The remaining nodes are in no list, and still count.
        assert (bin_.listed(), bin_.rows(), bin_.usage()) == ([], (3, 1), (2, 0, 2))
        assert bin_.restore(folder).status_code == 404
        assert bin_.api.container.get(TrashRemoval).purge() == 3
        assert (bin_.rows(), bin_.usage()) == ((0, 0), (0, 0, 0))

    def test_a_purge_removes_what_is_due(self, scene: Scene, bin_: Bin) -> None:
        bin_.throw(scene.file("early"))
        bin_.api.clock.advance(30 * DAY - 1)
        scene.token_of(scene.admin)
        bin_.throw(scene.file("late"))
        purge = bin_.api.container.get(TrashRemoval).purge
        assert purge() == 0
        bin_.api.clock.advance(1)
        assert purge() == 1
        scene.token_of(scene.admin)
        assert bin_.names() == ["late"]


class TestEvents:
    """Events of the trash."""

    def test_each_action_is_a_change(self, scene: Scene, bin_: Bin, tree: dict[str, Json]) -> None:
        cursor = bin_.api.get(f"{scene.path}/changes", by=scene.admin).json["meta"]["cursor"]
        bin_.throw(tree["inner"])
        bin_.restore(tree["inner"])
        bin_.throw(tree["inner"])
        bin_.remove(tree["inner"])
        changes = bin_.api.get(f"{scene.path}/changes?cursor={cursor}", by=scene.admin).json["data"]
        assert [change["type"] for change in changes] == [
            "file.deleted",
            # The node is gone by now.
            "node.unavailable",
            "file.deleted",
            "node.unavailable",
        ]
        events = bin_.api.get(f"{scene.path}/file-events?pageSize=4", by=scene.admin).json["data"]
        assert [event["action"] for event in events] == [
            "file.purged",
            "file.deleted",
            "file.restored",
            "file.deleted",
        ]
        assert {event["parentId"] for event in events} == {tree["folder"]["id"]}

    def test_the_actor_of_a_purge_is_the_user_who_deleted_it(self, scene: Scene, bin_: Bin) -> None:
        bin_.throw(scene.file("file", by=scene.alice), by=scene.alice)
        bin_.api.clock.advance(31 * DAY)
        bin_.api.container.get(TrashRemoval).purge()
        scene.token_of(scene.admin)
        event = bin_.api.get(f"{scene.path}/file-events?pageSize=1", by=scene.admin).json["data"][0]
        assert (event["action"], event["actor"]) == ("file.purged", {"$ref": scene.alice.id})


_SLOW_UPDATES = """
CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN PERFORM pg_sleep(1.6); RETURN NEW; END';
CREATE TRIGGER slow BEFORE UPDATE ON nodes
    FOR EACH ROW WHEN (NEW.name = 'slow') EXECUTE FUNCTION slow();
"""


@pytest.mark.config({"database": {"timeout_seconds": 2}})
@on_postgresql
class TestTimeLimit:
    """PostgreSQL's statements have a time limit, which a subtree of very many nodes exceeds."""

    def test_a_large_subtree_is_trashed_and_restored(
        self, scene: Scene, bin_: Bin, tree: dict[str, Json]
    ) -> None:
        file = scene.file("slow", tree["folder"])
        with scene.api.container.database.write() as connection:
            connection.exec_driver_sql(_SLOW_UPDATES)
        assert bin_.throw(tree["folder"]).status_code == 200
        assert bin_.restore(tree["folder"]).status_code == 200
        # The limit holds again, also for the same connection.
        assert bin_.throw(file).status_code == 503


@pytest.mark.config({"files": {"trash": {"enabled": False}}})
class TestWithoutTrash:
    """A server whose deletions are final."""

    def test_a_deletion_is_final(self, scene: Scene, bin_: Bin, tree: dict[str, Json]) -> None:
        assert bin_.throw(tree["folder"]).status_code == 200
        assert (bin_.listed(), bin_.usage(), bin_.rows()) == ([], (0, 0, 0), (0, 0))
        assert bin_.api.stored_objects() == 0
