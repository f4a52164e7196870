"""Transfers of a tenant, and of what a leaver owns."""

import pytest
from sqlalchemy import select
from tests.support.api import Answer, Json, Person
from tests.support.scene import Scene

from strongroom.clock import iso_format
from strongroom.content.nodes.models import FOREVER, grants, nodes
from strongroom.content.nodes.visibility import Visibility
from strongroom.extensions.transfers import service as transfer
from strongroom.testing.clock import HOUR


def hand_over(scene: Scene, user: Person, to: Person, by: Person | None = None) -> Answer:
    path = f"{scene.path}/members/{user.id}/transfer"
    return scene.api.post(path, {"toUserId": to.id}, by=by or scene.admin)


def owner(scene: Scene, node: Json) -> str:
    found = scene.api.get(f"{scene.path}/files/{node['id']}", by=scene.admin).json
    return str(found["owner"]["$ref"])


def require_lists_as_computed(scene: Scene) -> None:
    """Compare the rows that lists read with the grants."""
    visibility = Visibility()
    with scene.api.container.database.read() as connection:
        rows = connection.execute(select(grants, nodes.c.parent_id).join(nodes)).all()
        for row in rows:
            until = visibility.until(connection, row.parent_id, row.user_id)
            expected = None if until == FOREVER else until
            assert row.parent_visible_until == expected, (row.node_name, row.user_id)


class TestLeavers:
    def test_the_successor_owns_and_manages_everything(self, scene: Scene) -> None:
        top = scene.folder("top", by=scene.alice)
        made = [scene.file(f"file {number}", top, by=scene.alice) for number in range(5)]
        lent = scene.folder("lent")
        scene.grant(lent, scene.alice, "write")
        before = scene.api.get(f"{scene.path}/owners/me/files/{top['id']}/files", by=scene.alice).json
        answer = hand_over(scene, scene.alice, scene.bob)
        assert answer.json == {"nodes": 6, "grants": 7}
        assert {owner(scene, node) for node in (top, *made)} == {scene.bob.id}
        assert scene.permission(top, scene.bob) == "manage"
        assert scene.permission(lent, scene.bob) == "write"
        assert scene.top(scene.bob) == ["lent", "top"]
        assert scene.top(scene.alice) == []
        after = scene.api.get(f"{scene.path}/owners/me/files/{top['id']}/files", by=scene.bob).json
        assert [node["id"] for node in after["data"]] == [node["id"] for node in before["data"]]
        assert {node["owner"]["$ref"] for node in after["data"]} == {scene.bob.id}
        require_lists_as_computed(scene)
        assert hand_over(scene, scene.alice, scene.bob).json == {"nodes": 0, "grants": 0}

    def test_it_works_in_turns(self, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(transfer, "_TURN", 2)
        top = scene.folder("top", by=scene.alice)
        inner = scene.folder("inner", top, by=scene.alice)
        for number in range(5):
            scene.file(f"file {number}", inner, by=scene.alice)
        own = scene.folder("own", by=scene.bob)
        scene.grant(inner, scene.bob, "read")
        assert hand_over(scene, scene.alice, scene.bob).json["nodes"] == 7
        assert scene.top(scene.bob) == ["own", "top"]
        assert owner(scene, own) == scene.bob.id
        require_lists_as_computed(scene)

    def test_a_former_member_s_nodes_are_managed_by_the_successor(self, scene: Scene) -> None:
        top = scene.folder("top", by=scene.alice)
        inner = scene.file("inner", top, by=scene.alice)
        scene.api.delete(f"{scene.path}/members/{scene.alice.id}", by=scene.admin)
        assert hand_over(scene, scene.alice, scene.bob).json["nodes"] == 2
        assert scene.permission(inner, scene.bob) == "manage"
        assert scene.top(scene.bob) == ["top"]
        require_lists_as_computed(scene)

    def test_the_better_of_two_grants_counts(self, scene: Scene) -> None:
        lower, higher, longer = (scene.folder(name) for name in ("lower", "higher", "longer"))
        scene.grant(lower, scene.alice, "read")
        scene.grant(lower, scene.bob, "write")
        scene.grant(higher, scene.alice, "manage", hours=1)
        scene.grant(higher, scene.bob, "read")
        scene.grant(longer, scene.alice, "read")
        scene.grant(longer, scene.bob, "read", hours=1)
        hand_over(scene, scene.alice, scene.bob)
        assert [scene.permission(node, scene.bob) for node in (lower, higher, longer)] == [
            "write",
            "manage",
            "read",
        ]
        path = f"{scene.path}/files/{longer['id']}/owners"
        (kept,) = (
            grant
            for grant in scene.api.get(path, by=scene.admin).json["data"]
            if grant["ownerId"] == scene.bob.id
        )
        assert kept["expiresAt"] is None
        path = f"{scene.path}/files/{higher['id']}/owners"
        ends = {
            grant["ownerId"]: grant["expiresAt"]
            for grant in scene.api.get(path, by=scene.admin).json["data"]
        }
        assert ends[scene.bob.id] == iso_format(scene.api.clock.now() + HOUR)

    def test_only_administrators_of_the_tenant_transfer(self, scene: Scene) -> None:
        top = scene.folder("top", by=scene.alice)
        for person in (scene.alice, scene.bob, scene.api.person(), scene.api.person(admin=True)):
            assert hand_over(scene, scene.alice, scene.bob, by=person).status_code == 403
        assert hand_over(scene, scene.alice, scene.api.person()).status_code == 409
        assert hand_over(scene, scene.alice, scene.alice).status_code == 400
        assert owner(scene, top) == scene.alice.id

    def test_it_is_an_event(self, scene: Scene) -> None:
        hand_over(scene, scene.alice, scene.bob)
        events = scene.api.container.events.log.read("server", 0, 1000)
        (event,) = (event for event in events if event.type == "member.transferred")
        assert event.data["toUserId"] == scene.bob.id


class TestTenants:
    def transfer(self, scene: Scene, to: Person, by: Person) -> Answer:
        return scene.api.post(f"{scene.path}/transfer", {"toUserId": to.id}, by=by)

    def roles(self, scene: Scene, by: Person) -> dict[str, str]:
        listed = scene.api.get(f"{scene.path}/members", by=by).json["data"]
        return {member["user"]["$ref"]: member["role"] for member in listed}

    def test_a_member_takes_the_administrator_s_place(self, scene: Scene) -> None:
        answer = self.transfer(scene, scene.alice, scene.admin)
        assert (answer.status_code, answer.json["role"]) == (200, "admin")
        roles = self.roles(scene, scene.alice)
        assert (roles[scene.alice.id], roles[scene.admin.id]) == ("admin", "member")
        assert self.transfer(scene, scene.bob, scene.admin).status_code == 403

    def test_an_administrator_of_the_server_appoints_one(self, scene: Scene) -> None:
        assert self.transfer(scene, scene.bob, scene.api.person(admin=True)).status_code == 200
        roles = self.roles(scene, scene.bob)
        assert (roles[scene.bob.id], roles[scene.admin.id]) == ("admin", "admin")

    def test_others_do_not(self, scene: Scene) -> None:
        assert self.transfer(scene, scene.alice, scene.alice).status_code in (400, 403)
        assert self.transfer(scene, scene.alice, scene.bob).status_code == 403
        assert self.transfer(scene, scene.api.person(), scene.admin).status_code == 409
        assert self.transfer(scene, scene.admin, scene.admin).status_code == 400
