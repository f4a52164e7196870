"""``include=holds``: whether a hold is on a node itself, for those who may see holds."""

from typing import Any

from tests.support.api import Json, Person
from tests.support.features import needs
from tests.support.scene import Scene

from strongroom.clock import iso_format
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.retention_clock import RetentionClock
from strongroom.extensions.retention.feature import RetentionFeature
from strongroom.testing.clock import HOUR

pytestmark = needs(RetentionFeature)


def marks(scene: Scene, url: str, by: Person, include: str = "holds") -> dict[str, Any]:
    """Return ``isHeld`` of each node of a list by its name."""
    answer = scene.api.get(f"{scene.path}/{url}include={include}", by=by)
    assert answer.status_code == 200, answer.text
    return {node["name"]: node["isHeld"] for node in answer.json["data"]}


def details(scene: Scene, node: Json, by: Person, query: str = "?include=holds") -> Any:
    """Return the details of a node and their entity tag."""
    answer = scene.api.get(f"{scene.path}/files/{node['id']}{query}", by=by)
    return answer.json, answer.headers["ETag"]


def test_lists_searches_and_details_say_whether_a_hold_is_on_a_node(scene: Scene) -> None:
    api, records = scene.api, scene.api.person(name="Records")
    api.join(scene.path, scene.admin, records, "records")
    folder = scene.folder("folder")
    held, free = scene.file("file 1", folder), scene.file("file 2", folder)
    assert scene.grant(folder, records, "read").status_code == 201
    assert scene.grant(folder, scene.alice, "manage").status_code == 201
    _, former_tag = details(scene, held, scene.admin)
    body = {"reason": "Case 7", "until": iso_format(api.clock.now() + HOUR)}
    assert api.put(f"{scene.path}/files/{held['id']}/hold", body, by=records).status_code == 200

    inside, search = f"owners/me/files/{folder['id']}/files?", "search?query=file&"
    seen = {"file 1": True, "file 2": False}
    for reader in (scene.admin, records):
        assert marks(scene, inside, reader) == seen
        assert marks(scene, inside, reader, "path,holds") == seen
        assert marks(scene, search, reader) == seen
        # Only the node with the hold is marked, not what is around it.
        assert marks(scene, "owners/me/files?", reader) == {"folder": False}
    # Others learn of a hold by the refusal of what it forbids only.
    assert marks(scene, inside, scene.alice) == dict.fromkeys(seen)
    assert marks(scene, search, scene.alice) == dict.fromkeys(seen)

    shown, tag = details(scene, held, scene.admin)
    assert shown["isHeld"] is True
    assert tag != former_tag
    assert details(scene, held, scene.alice)[0]["isHeld"] is None
    assert details(scene, free, scene.admin)[0]["isHeld"] is False
    both, _ = details(scene, held, scene.admin, "?include=path,holds")
    assert (both["path"], both["isHeld"]) == (["folder", "file 1"], True)
    assert not details(scene, held, scene.admin, "")[0].keys() & {"isHeld", "path"}
    unknown = api.get(f"{scene.path}/files/{held['id']}?include=holds,owner", by=scene.admin)
    assert unknown.status_code == 400

    elapse(scene, HOUR)
    assert marks(scene, inside, scene.admin) == {"file 1": False, "file 2": False}


def elapse(scene: Scene, milliseconds: int) -> None:
    """Let time pass, while a server runs; holds end by its clock."""
    elapsed, services = [0.0], scene.api.container
    defaults = services.get(RemovalGuard).defaults
    running = RetentionClock(services.database, scene.api.clock, defaults, lambda: elapsed[0])
    running.tick()
    elapsed[0] = milliseconds / 1000 + 1
    running.tick()


def test_an_access_key_of_a_folder_sees_no_holds(scene: Scene) -> None:
    folder = scene.folder("folder")
    scene.file("file", folder)
    tenant_id = scene.path.rpartition("/")[2]
    body = {"name": "backup", "scopes": ["files:read"], "tenantId": tenant_id}
    url = f"{scene.path}/owners/me/files/{folder['id']}/files?include=holds"
    for place, expected in (({}, False), ({"fileId": folder["id"]}, None)):
        key = scene.api.post("/users/me/access-keys", {**body, **place}, by=scene.admin).json["key"]
        listed = scene.api.get(url, headers={"Authorization": f"Bearer {key}"}).json
        assert [node["isHeld"] for node in listed["data"]] == [expected]
