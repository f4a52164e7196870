"""File events: operations on a tenant's files, with user and address."""

from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from threading import Event
from typing import Any

import pytest
from sqlalchemy import func, select
from tests.support.api import Json, error_code
from tests.support.scene import Scene
from tests.support.waiting import PATIENCE_SECONDS

from strongroom.clock import iso_format
from strongroom.content.nodes import events as recorder
from strongroom.content.nodes.events import DownloadRecorder, FileEvents, file_events
from strongroom.testing.clock import HOUR

DAY = 24 * HOUR


@pytest.fixture(autouse=True)
def without_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the events of downloads only when a test calls for it, on any machine."""
    monkeypatch.setattr(recorder, "_INTERVAL", 3600)


def events(scene: Scene, query: str = "") -> list[Json]:
    scene.api.container.get(DownloadRecorder).flush()
    answer = scene.api.get(f"{scene.path}/file-events{query}", by=scene.admin)
    assert answer.status_code == 200, answer.text
    data: list[Json] = answer.json["data"]
    return data


def actions(scene: Scene, query: str = "") -> list[str]:
    """Return the actions, the oldest first, with the names that they left."""
    return [f"{event['action']} {event['name']}" for event in reversed(events(scene, query))]


def test_each_change_is_recorded_once_by_every_way(scene: Scene) -> None:
    api, path = scene.api, scene.path
    folder = scene.folder("folder")
    file = scene.file("fast", folder)
    form = {"file": (BytesIO(b"x"), "form")}
    api.request("POST", f"{path}/files?onConflict=rename", by=scene.admin, data=form)
    api.send(path, scene.admin, "fast", b"y", folder["id"], "?onConflict=replace")
    api.request("PUT", f"{path}/files/{file['id']}/content", by=scene.admin, data=b"z")
    api.patch(f"{path}/files/{file['id']}", {"name": "renamed"}, by=scene.admin)
    api.put(f"{path}/files/{file['id']}/directory", {"parentId": None}, by=scene.admin)
    api.put(
        f"{path}/files/{file['id']}/directory?onConflict=replace",
        {"parentId": None, "name": "form"},
        by=scene.admin,
    )
    api.delete(f"{path}/files/{folder['id']}", by=scene.admin)
    assert actions(scene) == [
        "folder.created folder",
        "file.created fast",
        "file.created form",
        "file.replaced fast",
        "file.replaced fast",
        "file.renamed renamed",
        "file.moved renamed",
        "file.deleted form",
        "file.renamed form",
        "file.deleted folder",
    ]


def test_an_event_names_the_actor_the_node_and_the_address(scene: Scene) -> None:
    folder = scene.folder("folder", by=scene.alice)
    file = scene.file("file", folder, by=scene.alice)
    created, _ = events(scene)
    assert created.pop("id")
    assert created == {
        "at": iso_format(scene.api.clock.now()),
        "tenantId": scene.path.rpartition("/")[2],
        "nodeId": file["id"],
        "action": "file.created",
        "actor": {"$ref": scene.alice.id},
        "onBehalfOf": None,
        "plugin": None,
        "address": "127.0.0.1",
        "name": "file",
        "parentId": folder["id"],
        "size": 1,
    }


def test_downloads_are_recorded_on_both_paths_and_of_bundles(scene: Scene) -> None:
    api, file = scene.api, scene.file("file", by=scene.alice)
    url = f"{scene.path}/files/{file['id']}/download"
    tag = api.get(url, by=scene.alice).headers["ETag"]
    assert actions(scene, "?action=file.downloaded") == ["file.downloaded file"]
    digest = {"Want-Content-Digest": "sha-256=1"}
    assert api.get(url, by=scene.alice, headers=digest).status_code == 200
    assert len(actions(scene, "?action=file.downloaded")) == 2
    for headers, method in (({"If-None-Match": tag}, "GET"), ({}, "HEAD")):
        api.request(method, url, by=scene.alice, headers=headers)
    assert api.get(url, by=scene.bob).status_code == 403
    assert len(actions(scene, "?action=file.downloaded")) == 2
    bundle = f"{scene.path}/multi-files-download"
    assert api.post(bundle, {"fileIds": [file["id"]]}, by=scene.alice).status_code == 200
    found = events(scene, f"?action=file.downloaded&nodeId={file['id']}&actorId={scene.alice.id}")
    assert len(found) == 3
    assert {event["address"] for event in found} == {"127.0.0.1"}


def test_ranges_of_one_download_are_one_event(scene: Scene) -> None:
    file = scene.file("file")
    for _ in range(3):
        scene.api.get(
            f"{scene.path}/files/{file['id']}/download",
            by=scene.admin,
            headers={"Range": "bytes=0-0"},
        )
    assert len(actions(scene, "?action=file.downloaded")) == 1


def test_filters_apply_together_and_pages_reach_all(scene: Scene) -> None:
    first = scene.file("first", by=scene.alice)
    scene.api.clock.advance(60_000)
    between = iso_format(scene.api.clock.now())
    scene.file("second", by=scene.alice)
    scene.file("third", by=scene.bob)
    assert actions(scene, f"?to={between}") == ["file.created first"]
    assert actions(scene, f"?from={between}&actorId={scene.bob.id}") == ["file.created third"]
    assert actions(scene, f"?nodeId={first['id']}") == ["file.created first"]
    assert actions(scene, "?pageSize=1&pageNumber=3") == ["file.created first"]
    assert actions(scene, "?action=file.deleted") == []
    for query in ("action=read", "from=yesterday", "sort=at"):
        assert scene.api.get(f"{scene.path}/file-events?{query}", by=scene.admin).status_code == 400


def test_only_administrators_of_the_tenant_see_them(scene: Scene) -> None:
    other, server_admin = scene.api.person(), scene.api.person(admin=True)
    scene.file("file")
    for user in (scene.alice, other, server_admin):
        answer = scene.api.get(f"{scene.path}/file-events", by=user)
        assert (answer.status_code, error_code(answer)) == (403, "error.forbidden")
    elsewhere = scene.api.tenant(scene.admin, "Other")
    assert scene.api.get(f"{elsewhere}/file-events", by=scene.admin).json["data"] == []


def test_a_refused_change_is_not_recorded(scene: Scene) -> None:
    file = scene.file("file")
    scene.api.send(scene.path, scene.admin, "file", b"x")
    scene.api.delete(f"{scene.path}/files/{file['id']}", by=scene.bob)
    assert actions(scene) == ["file.created file"]


def test_pruning_removes_old_ones_and_those_of_purged_tenants(scene: Scene) -> None:
    api, house = scene.api, scene.api.container.prune_job()
    scene.file("old")
    api.clock.advance(364 * DAY)
    scene.token_of(scene.admin)
    scene.file("new")
    api.clock.advance(DAY + 1)
    assert dict(house.run())["file events"] == 1
    scene.token_of(scene.admin)
    assert actions(scene) == ["file.created new"]
    api.delete(scene.path, by=scene.admin)
    api.clock.advance(30 * DAY)
    assert dict(house.run())["deleted tenants"] == 1
    with api.container.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(file_events)).scalar() == 0


def test_downloads_wait_for_a_database_that_is_away(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, services = scene.file("file"), scene.api.container
    scene.api.get(f"{scene.path}/files/{file['id']}/download", by=scene.admin)
    with monkeypatch.context() as patch:
        patch.setattr(services.get(FileEvents), "_database", None)
        services.get(DownloadRecorder).flush()
    assert actions(scene, "?action=file.downloaded") == ["file.downloaded file"]


def test_the_last_downloads_are_written_when_the_process_stops(scene: Scene) -> None:
    file, services = scene.file("file"), scene.api.container
    scene.api.get(f"{scene.path}/files/{file['id']}/download", by=scene.admin)
    services.get(DownloadRecorder).close()
    query = select(func.count()).where(file_events.c.action == "file.downloaded")
    with scene.api.container.database.read() as connection:
        assert connection.execute(query).scalar() == 1


def test_the_stop_waits_for_downloads_that_are_being_written(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, services = scene.file("file"), scene.api.container
    scene.api.get(f"{scene.path}/files/{file['id']}/download", by=scene.admin)
    begun, released, record_all = Event(), Event(), services.get(FileEvents).record_all

    def record_slowly(found: Any) -> None:
        begun.set()
        released.wait(PATIENCE_SECONDS)
        record_all(found)

    monkeypatch.setattr(services.get(FileEvents), "record_all", record_slowly)
    with ThreadPoolExecutor(2) as pool:
        pool.submit(services.get(DownloadRecorder).flush)
        assert begun.wait(PATIENCE_SECONDS)
        closed = pool.submit(services.get(DownloadRecorder).close)
        with pytest.raises(TimeoutError):
            closed.result(0.2)
        released.set()
        closed.result(PATIENCE_SECONDS)
        query = select(func.count()).where(file_events.c.action == "file.downloaded")
        with scene.api.container.database.read() as connection:
            assert connection.execute(query).scalar() == 1
