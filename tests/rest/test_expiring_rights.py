"""Permissions that end: no move, no creation and no grant makes one that lasts longer of them."""

from collections.abc import Callable
from io import BytesIO

import pytest
from tests.support.api import Answer, Json, Person
from tests.support.scene import Scene

from strongroom.clock import iso_format
from strongroom.testing.clock import HOUR

Create = Callable[[Scene, Person, Json], str]


def move(scene: Scene, node: Json, parent: Json | None, by: Person) -> Answer:
    path = f"{scene.path}/files/{node['id']}/directory"
    return scene.api.put(path, {"parentId": parent and parent["id"]}, by=by)


def let_pass(scene: Scene, hours: int, *people: Person) -> None:
    scene.api.clock.advance(hours * HOUR)
    for person in people or (scene.admin, scene.alice, scene.bob):
        scene.token_of(person)


def end_of_own_grant(scene: Scene, node: Json, user: Person) -> str | None:
    """Return when a user's grant on a node itself ends, as its administrator sees it."""
    listed = scene.api.get(f"{scene.path}/files/{node['id']}/owners", by=scene.admin).json["data"]
    end: str | None = next(grant["expiresAt"] for grant in listed if grant["ownerId"] == user.id)
    return end


class TestMoving:
    """PUT directory."""

    def test_a_folder_managed_for_an_hour_yields_nothing_to_a_folder_of_ones_own(
        self, scene: Scene
    ) -> None:
        shared = scene.folder("shared", by=scene.alice)
        file = scene.file("file", shared, by=scene.alice)
        own = scene.folder("own", by=scene.bob)
        assert scene.grant(shared, scene.bob, "manage", by=scene.alice, hours=1).status_code == 201
        refused = move(scene, file, own, scene.bob)
        assert refused.status_code == 403
        assert refused.json["error"]["message"] == "The move would give permissions that outlast yours."
        let_pass(scene, 1)
        assert scene.permission(file, scene.bob) is None
        assert scene.permission(file, scene.alice) == "manage"

    def test_nor_to_a_folder_of_ones_own_nested_in_it(self, scene: Scene) -> None:
        shared = scene.folder("shared", by=scene.alice)
        file = scene.file("file", shared, by=scene.alice)
        nested = scene.folder("nested", shared, by=scene.admin)
        assert scene.grant(nested, scene.bob, "manage").status_code == 201
        assert scene.grant(shared, scene.bob, "manage", by=scene.alice, hours=1).status_code == 201
        assert move(scene, file, nested, scene.bob).status_code == 403

    def test_nor_to_a_folder_where_another_user_holds_more(self, scene: Scene) -> None:
        carol = scene.api.person(name="Carol")
        scene.api.join(scene.path, scene.admin, carol)
        file = scene.file("file", by=scene.alice)
        hers = scene.folder("hers", by=carol)
        assert scene.grant(file, scene.bob, "manage", by=scene.alice, hours=2).status_code == 201
        assert scene.grant(hers, scene.bob, "write", by=carol, hours=1).status_code == 201
        assert move(scene, file, hers, scene.bob).status_code == 403
        assert scene.permission(file, carol) is None

    def test_a_file_of_ones_own_does_not_stay_where_one_may_write_for_an_hour(
        self, scene: Scene
    ) -> None:
        shared = scene.folder("shared", by=scene.alice)
        own = scene.folder("own", by=scene.bob)
        assert scene.grant(shared, scene.bob, "write", by=scene.alice, hours=1).status_code == 201
        assert move(scene, own, shared, scene.bob).status_code == 403

    def test_it_may_move_where_no_user_gains(self, scene: Scene) -> None:
        shared = scene.folder("shared", by=scene.alice)
        inner = scene.folder("inner", shared, by=scene.alice)
        file = scene.file("file", shared, by=scene.alice)
        assert scene.grant(shared, scene.bob, "manage", by=scene.alice, hours=1).status_code == 201
        assert move(scene, file, inner, scene.bob).status_code == 200
        assert move(scene, file, None, scene.bob).status_code == 200
        assert scene.permission(file, scene.alice) == "manage"

    def test_administrators_and_lasting_managers_move_as_before(self, scene: Scene) -> None:
        shared = scene.folder("shared", by=scene.alice)
        file = scene.file("file", shared, by=scene.alice)
        own = scene.folder("own", by=scene.bob)
        assert scene.grant(shared, scene.bob, "manage", by=scene.alice).status_code == 201
        assert scene.grant(file, scene.admin, "read", by=scene.alice, hours=1).status_code == 201
        assert move(scene, file, own, scene.bob).status_code == 200
        assert move(scene, file, shared, scene.admin).status_code == 200


def by_folder(scene: Scene, user: Person, folder: Json) -> str:
    return str(scene.folder("made", folder, by=user)["id"])


def by_raw_upload(scene: Scene, user: Person, folder: Json) -> str:
    return str(scene.file("made", folder, by=user)["id"])


def by_form(scene: Scene, user: Person, folder: Json) -> str:
    path = f"{scene.path}/files/{folder['id']}/files?onConflict=rename"
    data = {"file": (BytesIO(b"x"), "made")}
    return str(scene.api.request("POST", path, by=user, data=data).json["id"])


@pytest.mark.parametrize("create", [by_folder, by_raw_upload, by_form, Scene.upload_by_tus])
class TestCreating:
    """POST folders, files and uploads."""

    def test_nodes_of_a_writer_for_an_hour_are_the_writers_for_that_hour(
        self, scene: Scene, create: Create
    ) -> None:
        shared = scene.folder("shared", by=scene.alice)
        assert scene.grant(shared, scene.bob, "write", by=scene.alice, hours=1).status_code == 201
        node = {"id": create(scene, scene.bob, shared)}
        assert scene.permission(node, scene.bob) == "manage"
        end = iso_format(scene.api.clock.now() + HOUR)
        assert end_of_own_grant(scene, node, scene.bob) == end
        assert scene.grant(node, scene.bob, "manage", by=scene.bob).status_code == 403
        let_pass(scene, 1)
        assert scene.permission(node, scene.bob) is None
        assert scene.permission(node, scene.alice) == "manage"

    def test_nodes_of_a_permanent_writer_stay_the_writers(self, scene: Scene, create: Create) -> None:
        shared = scene.folder("shared", by=scene.alice)
        assert scene.grant(shared, scene.bob, "write", by=scene.alice).status_code == 201
        assert scene.grant(shared, scene.admin, "write", by=scene.alice, hours=1).status_code == 201
        for user in (scene.bob, scene.admin):
            folder = scene.folder(user.id, shared, by=user)
            node = {"id": create(scene, user, folder)}
            assert end_of_own_grant(scene, node, user) is None


class TestOwners:
    """The owner's own permission."""

    def test_another_manager_cannot_take_it(self, scene: Scene) -> None:
        folder = scene.folder("folder", by=scene.alice)
        assert scene.grant(folder, scene.bob, "manage", by=scene.alice).status_code == 201
        assert scene.revoke(folder, scene.alice, by=scene.bob).status_code == 403
        assert scene.grant(folder, scene.alice, "read", by=scene.bob).status_code == 403
        assert scene.grant(folder, scene.alice, "manage", by=scene.bob, hours=9).status_code == 403
        assert scene.grant(folder, scene.alice, "manage", by=scene.bob).status_code == 200
        assert scene.permission(folder, scene.alice) == "manage"

    def test_the_owner_and_administrators_can(self, scene: Scene) -> None:
        for remover in (scene.alice, scene.admin):
            folder = scene.folder(f"of {remover.id}", by=scene.alice)
            assert scene.revoke(folder, scene.alice, by=remover).status_code == 200
            assert scene.permission(folder, scene.alice) is None
