"""Changes of a tenant's files: what a caller sees of them, cursors, waiting and streams."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.support.api import Api, Json, Person, error_code
from tests.support.scene import Scene

from strongroom.extensions.changes import views, waiting
from strongroom.extensions.changes.waiting import ChangeWaiters
from strongroom.foundation.errors import Unavailable
from strongroom.testing.clock import HOUR

DAY = 24 * HOUR


pytestmark = pytest.mark.config(
    {"advanced": {"waiting_per_process": 1}, "files": {"events_kept_days": 1}}
)


def page(scene: Scene, query: str = "?cursor=0", by: Person | None = None) -> Json:
    answer = scene.api.get(f"{scene.path}/changes{query}", by=by or scene.admin)
    assert answer.status_code == 200, answer.text
    body: Json = answer.json
    return body


def shown(scene: Scene, by: Person, query: str = "?cursor=0") -> list[str]:
    return [
        f"{record['sequence']} {record['type']} {record.get('name', '')}".rstrip()
        for record in page(scene, query, by)["data"]
    ]


def test_a_page_has_the_changes_after_its_cursor(scene: Scene) -> None:
    api = scene.api
    folder, file = scene.folder("folder"), scene.file("file")
    api.patch(f"{scene.path}/files/{file['id']}", {"name": "renamed"}, by=scene.admin)
    moved = api.put(
        f"{scene.path}/files/{file['id']}/directory", {"parentId": folder["id"]}, by=scene.admin
    )
    first = page(scene, "?cursor=0&pageSize=3")
    assert first["meta"] == {"pageSize": 3, "cursor": 3, "hasMore": True}
    second = page(scene, f"?cursor={first['meta']['cursor']}&pageSize=3")
    assert second["meta"] == {"pageSize": 3, "cursor": 4, "hasMore": False}
    assert [item["type"] for item in first["data"]] == ["folder.created", "file.created", "file.renamed"]
    (record,) = second["data"]
    assert record.pop("occurredAt")
    assert record == {
        "sequence": 4,
        "type": "file.moved",
        "fileId": file["id"],
        "parentId": folder["id"],
        "previousParentId": None,
        "name": "renamed",
        "revision": moved.json["revision"],
        "actor": {"$ref": scene.admin.id},
    }
    assert second["included"][scene.admin.id]["name"] == "Admin"
    empty = page(scene, "?cursor=4")
    assert (empty["data"], empty["meta"]["cursor"]) == ([], 4)


def test_without_a_cursor_it_starts_now(scene: Scene) -> None:
    assert page(scene, "")["meta"]["cursor"] == 0
    scene.file("file")
    assert (page(scene, "")["data"], page(scene, "")["meta"]["cursor"]) == ([], 1)


def test_each_caller_sees_the_nodes_that_are_visible_now(scene: Scene) -> None:
    secret, shared = scene.folder("secret"), scene.folder("shared")
    inside = scene.file("inside", shared)
    scene.grant(shared, scene.alice, "read")
    scene.file("hidden", secret)
    own = scene.file("own", by=scene.bob)
    assert shown(scene, scene.alice) == [
        "1 node.unavailable",
        "2 folder.created shared",
        "3 file.created inside",
        "4 node.unavailable",
        "5 node.unavailable",
    ]
    hidden = page(scene, by=scene.alice)["data"][0]
    assert hidden == {"sequence": 1, "type": "node.unavailable", "fileId": secret["id"]}
    scene.revoke(shared, scene.alice)
    assert all("node.unavailable" in line for line in shown(scene, scene.alice))
    # Deleted nodes: by the permission on the folder that they were in.
    scene.grant(shared, scene.alice, "read")
    for node in (inside, own):
        scene.api.delete(f"{scene.path}/files/{node['id']}", by=scene.admin)
    assert shown(scene, scene.alice, "?cursor=5") == ["6 file.deleted inside", "7 node.unavailable"]
    assert shown(scene, scene.admin, "?cursor=5") == ["6 file.deleted inside", "7 file.deleted own"]


def test_a_move_names_its_former_folder_only_to_those_who_see_it(scene: Scene) -> None:
    secret, shared = scene.folder("secret"), scene.folder("shared")
    file = scene.file("file", secret)
    scene.grant(shared, scene.alice, "read")
    scene.api.put(
        f"{scene.path}/files/{file['id']}/directory", {"parentId": shared["id"]}, by=scene.admin
    )
    for_admin, for_alice = (page(scene, "?cursor=3", by)["data"][0] for by in (scene.admin, scene.alice))
    assert for_admin["previousParentId"] == secret["id"]
    assert for_alice["parentId"] == shared["id"]
    assert "previousParentId" not in for_alice


def test_only_members_may_read_them(scene: Scene) -> None:
    stranger = scene.api.person()
    for accept in ("application/json", "text/event-stream"):
        answer = scene.api.get(f"{scene.path}/changes?wait=30", by=stranger, headers={"Accept": accept})
        assert (answer.status_code, error_code(answer)) == (403, "error.forbidden")
    for query in ("?cursor=-1", "?cursor=x", "?wait=31", "?pageSize=0", f"?cursor={2**63}", "?since=1"):
        assert scene.api.get(f"{scene.path}/changes{query}", by=scene.admin).status_code == 400, query


def test_a_cursor_of_deleted_or_unknown_changes_has_expired(scene: Scene) -> None:
    scene.file("one")
    scene.file("two")
    scene.api.clock.advance(31 * DAY)
    scene.token_of(scene.admin)
    assert dict(scene.api.container.prune_job().run())["file events"] == 1
    for cursor in (0, 3):
        answer = scene.api.get(f"{scene.path}/changes?cursor={cursor}", by=scene.admin)
        assert (answer.status_code, error_code(answer)) == (410, "error.cursor-expired")
    # The newest change stays, so the next one has the next number.
    assert shown(scene, scene.admin, "?cursor=1") == ["2 file.created two"]
    scene.file("three")
    assert shown(scene, scene.admin, "?cursor=2") == ["3 file.created three"]


@contextmanager
def meanwhile(work: Any) -> Iterator[list[Any]]:
    """Run a function in another thread; its result is in the list when the block ends."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    yield results
    thread.join(60)
    assert not thread.is_alive()


def test_a_waiting_request_gets_the_next_change(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    # Long enough to fail unless the commit wakes it.
    monkeypatch.setattr(views, "CHECK_SECONDS", 30)
    begun = threading.Event()
    add = waiting.ChangeWaiters.add

    def noting(waiters: waiting.ChangeWaiters, tenant_id: str, user_id: str) -> waiting.ChangeWaiter:
        waiter = add(waiters, tenant_id, user_id)
        begun.set()
        return waiter

    monkeypatch.setattr(waiting.ChangeWaiters, "add", noting)
    with meanwhile(lambda: page(scene, "?cursor=0&wait=30")) as results:
        assert begun.wait(30)
        scene.file("file")
    assert [item["name"] for item in results[0]["data"]] == ["file"]


def test_a_wait_ends_without_a_change(scene: Scene) -> None:
    assert page(scene, "?cursor=0&wait=1")["data"] == []
    assert page(scene, "?wait=1")["meta"]["cursor"] == 0


def test_too_many_waiting_requests_are_refused(scene: Scene) -> None:
    with scene.api.container.get(ChangeWaiters).waiting("tenant", "user"):
        for accept in ("application/json", "text/event-stream"):
            answer = scene.api.get(
                f"{scene.path}/changes?wait=30", by=scene.admin, headers={"Accept": accept}
            )
            assert (answer.status_code, error_code(answer)) == (503, "error.unavailable")
            assert answer.headers["Retry-After"] == str(waiting.RETRY_SECONDS)
        scene.file("file")
        # A request that need not wait is served.
        assert shown(scene, scene.admin, "?cursor=0&wait=30") == ["1 file.created file"]
    assert page(scene, "?cursor=1&wait=1")["data"] == []


def test_one_user_leaves_room_for_others(scene: Scene) -> None:
    waiters = waiting.ChangeWaiters(scene.api.container.database, 8)
    first = [waiters.add("tenant", "alice") for _ in range(4)]
    with pytest.raises(Unavailable):
        waiters.add("another", "alice")
    for user in ("bob", "bob", "bob", "carol"):
        waiters.add("tenant", user)
    with pytest.raises(Unavailable):
        waiters.add("tenant", "dave")
    first[0].close()
    waiters.add("tenant", "dave")


class Stream:
    """An open stream of server-sent events."""

    def __init__(self, scene: Scene, query: str = "", **headers: str) -> None:
        sent = {"Accept": "text/event-stream", "Authorization": f"Bearer {scene.admin.token}", **headers}
        self.response = scene.api.app.test_client().get(f"{scene.path}/changes{query}", headers=sent)
        self._pieces = iter(self.response.iter_encoded())

    def next(self) -> dict[str, str]:
        """Return the fields of the next event."""
        piece = next(item for item in self._pieces if item)
        lines = piece.decode().rstrip("\n").split("\n")
        return dict(line.split(": ", 1) for line in lines)

    def close(self) -> None:
        self.response.close()


def test_a_stream_sends_changes_and_resumes_after_the_last_one(scene: Scene) -> None:
    scene.file("before")
    stream = Stream(scene)
    assert stream.response.headers["Content-Type"] == "text/event-stream"
    assert stream.next() == {"retry": "2000", "id": "1"}
    scene.file("one")
    event = stream.next()
    assert (event["event"], event["id"]) == ("change", "2")
    record = json.loads(event["data"])
    assert (record["type"], record["name"]) == ("file.created", "one")
    stream.close()
    scene.file("two")
    resumed = Stream(scene, **{"Last-Event-ID": "2"})
    assert resumed.next()["id"] == "2"
    assert json.loads(resumed.next()["data"])["name"] == "two"
    resumed.close()
    headers = {"Accept": "text/event-stream", "Last-Event-ID": "x"}
    answer = scene.api.get(f"{scene.path}/changes", by=scene.admin, headers=headers)
    assert answer.status_code == 400


def test_a_stream_resets_reconnects_and_ends_with_the_login(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    expired = Stream(scene, "?cursor=5")
    assert expired.next() == {"event": "reset", "id": "0", "data": '{"cursor":0}'}
    with monkeypatch.context() as patch:
        patch.setattr(views, "STREAM_SECONDS", 0)
        ended = Stream(scene)
        assert (ended.next()["id"], ended.next()["event"]) == ("0", "reconnect")
        ended.close()
    monkeypatch.setattr(views, "HEARTBEAT_SECONDS", 0)
    stream = Stream(scene)
    stream.next()
    assert stream.next() == {"": "idle"}
    scene.api.delete("/authorizations/current", by=scene.admin)
    assert stream.next()["event"] == "reconnect"
    stream.close()


def test_a_draining_server_ends_waits(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(api)
    stopping = threading.Event()
    stopping.set()
    monkeypatch.setattr(views, "STOPPING", stopping)
    stream = Stream(scene)
    assert (stream.next()["id"], stream.next()["event"]) == ("0", "reconnect")
    stream.close()
    assert page(scene, "?wait=30")["data"] == []
