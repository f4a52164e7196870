"""Locks of files and folders: what they forbid on each route, who may pass, and when they end."""

import io
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from tests.support.api import PASSWORD, Answer, Json, Person, creation_headers, error_code
from tests.support.databases import on_sqlite
from tests.support.features import needs
from tests.support.scene import Scene

from strongroom.clock import iso_format
from strongroom.extensions.locks.feature import LocksFeature
from strongroom.extensions.locks.service import LockService

pytestmark = [
    needs(LocksFeature),
    pytest.mark.config({"files": {"versions": {"keep": 5}}}),
]

LOCKED: Final = "error.file-locked"
PROOF: Final = {"X-Current-Password": PASSWORD}
HOUR: Final = 3600 * 1000


def lock(scene: Scene, node: Json, by: Person | None = None, **body: Any) -> Answer:
    """Try to lock a node."""
    return scene.api.post(f"{scene.path}/files/{node['id']}/locks", body, by=by or scene.alice)


class Place:
    """A folder with a file in a folder of a tenant, which Alice and Bob manage."""

    def __init__(self, scene: Scene, name: str = "top") -> None:
        self.scene, self.api, self.name = scene, scene.api, name
        self.top = scene.folder(name)
        for user in (scene.alice, scene.bob):
            scene.grant(self.top, user, "manage")
        self.folder, self.other = (scene.folder(name, self.top) for name in ("folder", "other"))
        self.file = scene.file("file", self.folder)
        assert self.replace().status_code == 200
        self.trashed = scene.file("trashed", self.folder, by=scene.bob)
        self.send("DELETE", f"files/{self.trashed['id']}")

    def send(self, method: str, path: str, json: Json | None = None, **options: Any) -> Answer:
        """Send a request of Bob."""
        return self.api.request(
            method, f"{self.scene.path}/{path}", by=self.scene.bob, json=json, **options
        )

    def replace(self, **headers: str) -> Answer:
        """Replace the content of the file, as Bob."""
        form = {"file": (io.BytesIO(b"second"), "file")}
        return self.send("PUT", f"files/{self.file['id']}/content", data=form, headers=headers)

    def upload(self, parent: Json, name: str, query: str = "", **headers: str) -> Answer:
        """Upload a file as a form, as Bob."""
        form = {"file": (io.BytesIO(b"new"), name)}
        path = f"files/{parent['id']}/files{query}"
        return self.send("POST", path, data=form, headers=headers)

    def tus(self, parent: Json, **headers: str) -> Answer:
        """Upload a file by a resumable upload, as Bob."""
        creation = creation_headers(1, filename="resumed", parentId=parent["id"])
        content = {"Content-Type": "application/offset+octet-stream"}
        return self.send("POST", "uploads", headers={**creation, **content, **headers}, data=b"x")

    def batch(self, item: Json, **headers: str) -> Answer:
        """Send a batch of one item, as Bob."""
        return self.send("POST", "files-batches", {"items": [item]}, headers=headers)


Change = Callable[..., Answer]

OF_FILE: Final[Mapping[str, Change]] = {
    "rename": lambda p, **h: p.send("PATCH", f"files/{p.file['id']}", {"name": "n"}, headers=h),
    "replace": lambda p, **h: p.replace(**h),
    "replace by name": lambda p, **h: p.upload(p.folder, "file", "?onConflict=replace", **h),
    "move": lambda p, **h: p.send(
        "PUT", f"files/{p.file['id']}/directory", {"parentId": p.other["id"]}, headers=h
    ),
    "delete": lambda p, **h: p.send("DELETE", f"files/{p.file['id']}", headers=h),
    "delete permanently": lambda p, **h: p.send(
        "DELETE", f"files/{p.file['id']}?permanently=true", headers={**PROOF, **h}
    ),
    "restore a version": lambda p, **h: p.send(
        "POST", f"files/{p.file['id']}/versions/1/restore", headers=h
    ),
    "trash by a batch": lambda p, **h: p.batch({"operation": "trash", "fileId": p.file["id"]}, **h),
    "move by a batch": lambda p, **h: p.batch(
        {"operation": "move", "fileId": p.file["id"], "parentId": p.other["id"]}, **h
    ),
    "copy over it": lambda p, **h: p.send(
        "POST",
        f"files/{p.file['id']}/copies?onConflict=replace",
        {"parentId": p.folder["id"], "name": "file"},
        headers=h,
    ),
}
"""Changes of the file itself."""

INTO_FOLDER: Final[Mapping[str, Change]] = {
    "upload": lambda p, **h: p.upload(p.folder, "new", **h),
    "create a folder": lambda p, **h: p.send(
        "POST", f"files/{p.folder['id']}/folders", {"name": "new"}, headers=h
    ),
    "resumable upload": lambda p, **h: p.tus(p.folder, **h),
    "copy": lambda p, **h: p.send(
        "POST", f"files/{p.other['id']}/copies", {"parentId": p.folder["id"]}, headers=h
    ),
    "move into it": lambda p, **h: p.send(
        "PUT", f"files/{p.other['id']}/directory", {"parentId": p.folder["id"]}, headers=h
    ),
    "restore": lambda p, **h: p.send("POST", f"trash/{p.trashed['id']}/restore", {}, headers=h),
    "upload with a path": lambda p, **h: p.upload(p.top, "new", "?relativePath=folder/new", **h),
}
"""Changes of the names in the folder."""

OF_WHOLE: Final[Mapping[str, Change]] = {
    "move the folder": lambda p, **h: p.send(
        "PUT", f"files/{p.folder['id']}/directory", {"parentId": p.other["id"]}, headers=h
    ),
    "delete the folder": lambda p, **h: p.send("DELETE", f"files/{p.folder['id']}", headers=h),
}
"""Changes of the folder with what is in it."""

ALL: Final = {**OF_FILE, **INTO_FOLDER, **OF_WHOLE}
CHANGES_NAMES: Final = {
    "rename",
    "move",
    "delete",
    "delete permanently",
    "trash by a batch",
    "move by a batch",
}
"""The changes of the file that change the names in its folder."""

FORBIDDEN: Final[Mapping[str, Mapping[str, set[str]]]] = {
    "file": {"": {*OF_FILE, *OF_WHOLE}},
    "folder": {
        "deep": set(ALL),
        "shallow": {*INTO_FOLDER, *OF_WHOLE, *CHANGES_NAMES},
    },
    "top": {"deep": set(ALL), "shallow": {*OF_WHOLE, "move into it"}},
}
"""The changes that a lock forbids, by what is locked, and how deep."""


@pytest.fixture
def place(scene: Scene) -> Place:
    return Place(scene)


@on_sqlite
@pytest.mark.parametrize(
    ("locked", "depth"), [(node, depth) for node, depths in FORBIDDEN.items() for depth in depths]
)
def test_a_lock_forbids_changes_by_others_on_each_route(scene: Scene, locked: str, depth: str) -> None:
    for change, send in ALL.items():
        place = Place(scene, change)
        taken = lock(scene, getattr(place, locked), deep=depth == "deep")
        assert taken.status_code == 201, taken.text
        # The lock of another user gives no right.
        answers = [send(place), send(place, **{"Lock-Token": taken.json["id"]})]
        if change in FORBIDDEN[locked][depth]:
            assert [error_code(answer) for answer in answers] == [LOCKED, LOCKED], change
        else:
            assert answers[0].status_code < 300, (change, answers[0].text)


@pytest.mark.both_databases
def test_the_holder_passes_with_the_lock_only(scene: Scene) -> None:
    for change, send in ALL.items():
        place = Place(scene, change)
        taken = lock(scene, place.top, scene.bob).json
        refused = send(place)
        assert (refused.status_code, error_code(refused)) == (423, LOCKED), change
        answer = send(place, **{"Lock-Token": f"<{taken['id']}>"})
        assert answer.status_code < 300, (change, answer.text)


def test_a_refusal_names_the_holder_and_the_end(place: Place) -> None:
    taken = lock(place.scene, place.file, seconds=60).json
    refused = OF_FILE["delete"](place)
    holder = {"id": place.scene.alice.id, "name": "Alice"}
    end = iso_format(place.api.clock.now() + 60_000)
    assert refused.json["lock"] == {"lockedBy": holder, "expiresAt": end}
    assert taken["expiresAt"] == end
    assert taken["lockedBy"] == {"$ref": place.scene.alice.id}


def test_reading_needs_no_lock(place: Place) -> None:
    lock(place.scene, place.top)
    assert place.send("GET", f"files/{place.file['id']}/download").status_code == 200
    copied = place.send("POST", f"files/{place.file['id']}/copies", {"parentId": None})
    assert copied.status_code == 201


@pytest.mark.parametrize("is_shared", [False, True])
def test_locks_exclude_each_other_unless_both_are_shared(place: Place, is_shared: bool) -> None:
    scene = place.scene
    first = lock(scene, place.file, shared=True)
    assert first.status_code == 201
    for node in (place.file, place.folder, place.top):
        answer = lock(scene, node, scene.bob, shared=is_shared)
        assert answer.status_code == (201 if is_shared else 423), answer.text
    # A lock of the folder alone does not cover the file.
    assert lock(scene, place.other, scene.bob, deep=False).status_code == (423 if is_shared else 201)


def test_each_holder_of_a_shared_lock_passes(place: Place) -> None:
    tokens = [
        lock(place.scene, place.file, user, shared=True).json["id"]
        for user in (place.scene.alice, place.scene.bob)
    ]
    rename = OF_FILE["rename"]
    assert error_code(rename(place)) == LOCKED
    assert error_code(rename(place, **{"Lock-Token": tokens[0]})) == LOCKED
    assert rename(place, **{"Lock-Token": ", ".join(tokens)}).status_code == 200


def test_a_lock_ends_and_is_pruned(place: Place) -> None:
    lock(place.scene, place.file, seconds=60)
    service = place.api.container.get(LockService)
    assert service.prune() == 0
    place.api.clock.advance(60_000)
    assert OF_FILE["rename"](place).status_code == 200
    assert service.prune() == 1
    assert service.prune() == 0


def test_a_lock_is_renewed_and_released_by_its_holder(place: Place) -> None:
    scene, api = place.scene, place.api
    path = f"{scene.path}/files/{place.file['id']}/locks"
    taken = lock(scene, place.file, seconds=60).json
    api.clock.advance(30_000)
    renewed = api.patch(f"{path}/{taken['id']}", {"seconds": 60}, by=scene.alice)
    assert renewed.json == {**taken, "expiresAt": iso_format(api.clock.now() + 60_000)}
    assert api.patch(f"{path}/{taken['id']}", {}, by=scene.bob).status_code == 403
    listed = api.get(path, by=scene.bob).json
    assert listed["data"] == [renewed.json]
    assert listed["included"][scene.alice.id]["name"] == "Alice"
    assert api.delete(f"{path}/{taken['id']}", by=scene.alice).status_code == 200
    assert api.delete(f"{path}/{taken['id']}", by=scene.alice).status_code == 404
    assert OF_FILE["rename"](place).status_code == 200


def test_others_release_a_lock_only_if_they_manage_the_node(place: Place) -> None:
    scene, api = place.scene, place.api
    carol = api.person(name="Carol")
    api.join(scene.path, scene.admin, carol)
    scene.grant(place.top, carol, "write")
    taken = lock(scene, place.file).json
    path = f"{scene.path}/files/{place.file['id']}/locks/{taken['id']}"
    assert api.delete(path, by=carol).status_code == 403
    assert api.delete(path, by=scene.bob).status_code == 200
    admin = api.person(admin=True)
    [record] = api.get("/audit-events?action=lock.release", by=admin).json["data"]
    assert record["details"]["user"] == scene.alice.id


def test_a_lock_needs_the_permission_to_write(place: Place) -> None:
    scene, api = place.scene, place.api
    carol = api.person(name="Carol")
    assert lock(scene, place.file, carol).status_code == 403
    api.join(scene.path, scene.admin, carol)
    scene.grant(place.top, carol, "read")
    assert lock(scene, place.file, carol).status_code == 403
    assert lock(scene, {"id": scene.path.rpartition("/")[2]}).status_code == 404


def test_a_deletion_ends_the_locks_and_a_move_does_not(place: Place) -> None:
    scene, api = place.scene, place.api
    taken = lock(scene, place.file, scene.bob).json
    token = {"Lock-Token": taken["id"]}
    assert OF_FILE["move"](place, **token).status_code == 200
    path = f"{scene.path}/files/{place.file['id']}/locks"
    assert [each["id"] for each in api.get(path, by=scene.bob).json["data"]] == [taken["id"]]
    assert OF_FILE["delete"](place, **token).status_code == 200
    assert place.send("POST", f"trash/{place.file['id']}/restore", {}).status_code == 200
    assert api.get(path, by=scene.bob).json["data"] == []


def test_the_locks_of_a_former_member_end(place: Place) -> None:
    scene, api = place.scene, place.api
    lock(scene, place.file)
    removed = api.delete(f"{scene.path}/members/{scene.alice.id}", by=scene.admin)
    assert removed.status_code == 200
    assert OF_FILE["rename"](place).status_code == 200


def test_a_user_holds_a_limited_number_of_locks(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strongroom.extensions.locks.service.MAX_LOCKS", 1)
    assert lock(place.scene, place.file).status_code == 201
    assert error_code(lock(place.scene, place.other)) == "error.too-many-locks"
    place.api.clock.advance(HOUR)
    place.scene.token_of(place.scene.alice)
    assert lock(place.scene, place.other).status_code == 201


def test_locks_of_another_tenant_count_for_nothing(place: Place) -> None:
    scene, api = place.scene, place.api
    elsewhere = api.tenant(scene.bob, "Elsewhere")
    file = api.upload(elsewhere, scene.bob, "file", b"x")
    token = api.post(f"{elsewhere}/files/{file['id']}/locks", {}, by=scene.bob).json["id"]
    lock(scene, place.file)
    assert error_code(OF_FILE["rename"](place, **{"Lock-Token": token})) == LOCKED


@pytest.mark.parametrize(
    "body", [{"seconds": 0}, {"seconds": 604_801}, {"shared": "x"}, {"note": "x" * 1025}, {"x": 1}]
)
def test_bad_locks_are_refused(place: Place, body: Json) -> None:
    assert lock(place.scene, place.file, **body).status_code == 400
