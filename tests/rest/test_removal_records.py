"""What removes or marks content permanently leaves a file event, and a record in the audit log."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.api import PASSWORD, Json, Person
from tests.support.scene import Scene

pytestmark = pytest.mark.config({"files": {"trash": {"enabled": True}}})

PROOF = {"X-Current-Password": PASSWORD}
Change = Callable[[Scene, str], Any]


def trashed(scene: Scene, path: str) -> None:
    scene.api.delete(path, by=scene.admin)
    file_id = path.rpartition("/")[2]
    answer = scene.api.delete(f"{scene.path}/trash/{file_id}", by=scene.admin, headers=PROOF)
    assert answer.status_code == 200, answer.text


def emptied(scene: Scene, path: str) -> None:
    scene.api.delete(path, by=scene.admin)
    answer = scene.api.delete(f"{scene.path}/trash", by=scene.admin, headers=PROOF)
    assert answer.status_code == 200, answer.text


def permanently(scene: Scene, path: str) -> None:
    answer = scene.api.delete(f"{path}?permanently=true", by=scene.admin, headers=PROOF)
    assert answer.status_code == 200, answer.text


def version_removed(scene: Scene, path: str) -> None:
    answer = scene.api.delete(f"{path}/versions/1", by=scene.admin, headers=PROOF)
    assert answer.status_code == 200, answer.text


def version_marked(scene: Scene, path: str) -> None:
    answer = scene.api.patch(f"{path}/versions/1", {"label": "Draft"}, by=scene.admin)
    assert answer.status_code == 200, answer.text


CHANGES: list[tuple[Change, str, str]] = [
    (trashed, "file.purged", "file.purge"),
    (emptied, "file.purged", "file.purge"),
    (permanently, "file.deleted", "file.purge"),
    (version_removed, "file.version_purged", "version.purge"),
    (version_marked, "file.version_changed", "version.update"),
]


@pytest.mark.parametrize(
    ("change", "event", "action"), CHANGES, ids=lambda value: getattr(value, "__name__", "")
)
def test_it_leaves_a_file_event_and_an_audit_record(
    scene: Scene, change: Change, event: str, action: str
) -> None:
    path = f"{scene.path}/files/{scene.file('plan')['id']}"
    scene.api.request("PUT", f"{path}/content", by=scene.admin, data=b"newer")
    root = scene.api.person(admin=True)
    change(scene, path)
    (newest,) = scene.api.get(f"{scene.path}/file-events?pageSize=1", by=scene.admin).json["data"]
    assert (newest["action"], newest["actor"]) == (event, {"$ref": scene.admin.id})
    record = newest_record(scene, root)
    assert (record["action"], record["actor"]) == (action, {"$ref": scene.admin.id})
    assert record["target"] == {"type": "file", "id": path.rpartition("/")[2]}
    assert record["details"]["tenant"] == scene.path.rpartition("/")[2]
    assert record["address"] == "127.0.0.1"
    assert record["requestId"]


def newest_record(scene: Scene, root: Person) -> Json:
    (record,) = scene.api.get("/audit-events?pageSize=1", by=root).json["data"]
    found: Json = record
    return found


@pytest.mark.config({"files": {"trash": {"enabled": False}}})
def test_a_deletion_without_a_trash_is_recorded_also_in_a_batch(scene: Scene) -> None:
    root = scene.api.person(admin=True)
    file_id = scene.file("plan")["id"]
    body = {"items": [{"operation": "trash", "fileId": file_id}]}
    answer = scene.api.post(f"{scene.path}/files-batches", body, by=scene.admin)
    assert answer.status_code == 200, answer.text
    record = newest_record(scene, root)
    assert (record["action"], record["target"]["id"]) == ("file.purge", file_id)


def test_the_event_of_a_version_has_its_size_and_number(scene: Scene) -> None:
    path = f"{scene.path}/files/{scene.file('plan')['id']}"
    scene.api.request("PUT", f"{path}/content", by=scene.admin, data=b"newer")
    root = scene.api.person(admin=True)
    version_removed(scene, path)
    (newest,) = scene.api.get(f"{scene.path}/file-events?pageSize=1", by=scene.admin).json["data"]
    assert (newest["name"], newest["size"]) == ("plan", 1)
    assert newest_record(scene, root)["details"]["number"] == "1"
