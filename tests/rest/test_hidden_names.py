"""A name that a hidden node has at the top level: the caller's node gets a number, and no refusal."""

from collections.abc import Callable

import pytest
from tests.support.api import Answer, Json
from tests.support.scene import Scene

Attempt = Callable[[Scene, str], Answer]


def folder(scene: Scene, rule: str) -> Answer:
    path = f"{scene.path}/folders?onConflict={rule if rule == 'rename' else 'fail'}"
    return scene.api.post(path, {"name": "Plan"}, by=scene.bob)


def upload(scene: Scene, rule: str) -> Answer:
    path = f"{scene.path}/files?onConflict={rule}"
    headers = {
        "Content-Type": "application/octet-stream",
        "Content-Disposition": 'attachment; filename="Plan"',
    }
    return scene.api.request("POST", path, by=scene.bob, data=b"b", headers=headers)


def rename(scene: Scene, rule: str) -> Answer:
    path = f"{scene.path}/files/{scene.file('mine', by=scene.bob)['id']}"
    body = {"parentId": None, "name": "Plan"}
    return scene.api.put(f"{path}/directory?onConflict={rule}", body, by=scene.bob)


def patch(scene: Scene, _: str) -> Answer:
    path = f"{scene.path}/files/{scene.file('mine', by=scene.bob)['id']}"
    return scene.api.patch(path, {"name": "Plan"}, by=scene.bob)


def move(scene: Scene, rule: str) -> Answer:
    inner = scene.file("Plan", scene.folder("inner", by=scene.bob), by=scene.bob)
    path = f"{scene.path}/files/{inner['id']}/directory?onConflict={rule}"
    return scene.api.put(path, {"parentId": None}, by=scene.bob)


def copy(scene: Scene, rule: str) -> Answer:
    source = scene.file("mine", by=scene.bob)
    path = f"{scene.path}/files/{source['id']}/copies?onConflict={rule}"
    return scene.api.post(path, {"parentId": None, "name": "Plan"}, by=scene.bob)


def restore(scene: Scene, rule: str) -> Answer:
    inner = scene.file("Plan", scene.folder("inner", by=scene.bob), by=scene.bob)
    assert scene.api.delete(f"{scene.path}/files/{inner['id']}", by=scene.bob).status_code == 200
    body = {"parentId": None, "onConflict": rule}
    return scene.api.post(f"{scene.path}/trash/{inner['id']}/restore", body, by=scene.bob)


ATTEMPTS = (folder, upload, rename, patch, move, copy, restore)


@pytest.mark.parametrize("rule", ["fail", "replace", "rename"])
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_name_of_a_hidden_node_gets_a_number(scene: Scene, attempt: Attempt, rule: str) -> None:
    hidden = scene.file("Plan", by=scene.alice)
    answer = attempt(scene, rule)
    assert answer.status_code in (200, 201), answer.text
    assert answer.json["name"] == "Plan (1)"
    # The hidden one is unchanged, and its owner sees nothing new.
    assert scene.top(scene.alice) == ["Plan"]
    kept: Json = scene.api.get(f"{scene.path}/files/{hidden['id']}", by=scene.alice).json
    assert kept["revision"] == hidden["revision"]


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_name_of_a_node_that_the_caller_sees_is_taken(scene: Scene, attempt: Attempt) -> None:
    node = scene.file("Plan", by=scene.alice)
    scene.grant(node, scene.bob, "read", by=scene.alice)
    answer = attempt(scene, "fail")
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "error.name-conflict")


def test_files_of_an_uploaded_folder_share_one_that_got_a_number(scene: Scene) -> None:
    scene.folder("Photos", by=scene.alice)
    for name in ("a", "b"):
        sent = scene.api.request(
            "POST",
            f"{scene.path}/files?relativePath=Photos/{name}",
            by=scene.bob,
            data=b"x",
            headers={"Content-Type": "application/octet-stream"},
        )
        assert sent.status_code == 201, sent.text
    assert scene.top(scene.bob) == ["Photos (1)"]
    assert scene.top(scene.alice) == ["Photos"]
