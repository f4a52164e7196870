"""Small uploads are taken fast as the ordinary route takes them, and none is tried twice."""

import unicodedata

import pytest
from tests.rest.nasty_names import nasty_names
from tests.rest.test_authorization_matrix import LEVELS, UNKNOWN_ACTORS, WRITE, Actor, World
from tests.support.both_ways import BothWays

from strongroom.files.models import Permission
from strongroom.plugin_api.storage import StorageUnavailable


@pytest.mark.parametrize("form", [False, True], ids=["raw", "form"])
def test_each_actor_uploads_alike_and_fast_where_the_actor_may_write(
    both: BothWays, world: World, form: bool
) -> None:
    for target in ("folder", "nested folder", "file"):
        scene = world.scene(target)
        for actor in Actor:
            path, person = f"{world.path}/files/{scene.node}/files", world.people[actor]
            status, fast = both.upload(path, person, f"{actor}", b"content", form=form)
            writes = actor not in UNKNOWN_ACTORS and LEVELS.get(actor, Permission.NONE) >= WRITE
            assert fast == (status == 201) == (writes and target != "file"), (actor, target)
    for actor in Actor:
        status, fast = both.upload(
            f"{world.path}/files", world.people[actor], f"{actor}", b"", form=form
        )
        assert fast == (status == 201 and form), actor


@pytest.mark.parametrize("form", [False, True], ids=["raw", "form"])
def test_files_of_every_name_are_uploaded_alike(both: BothWays, form: bool) -> None:
    alice = both.api.person()
    path = f"{both.api.tenant(alice)}/files"
    for name in nasty_names():
        if form and any(unicodedata.category(char) == "Cs" for char in name):
            continue
        status, fast = both.upload(path, alice, name, b"content", form=form)
        assert fast == (status == 201), name


UNUSUAL_UPLOADS = [
    {"Content-Digest": "sha-256=:AAAA:"},
    {"Repr-Digest": "nonsense"},
    {"Content-Encoding": "gzip"},
    {"Content-Range": "bytes 0-6/7"},
    {"Expect": "100-continue"},
    {"If-None-Match": "*"},
    {"Content-Type": "multipart/form-data"},
    {"Content-Type": "multipart/form-data; boundary=other"},
]


def test_uploads_that_say_something_unusual_are_answered_alike(both: BothWays) -> None:
    alice = both.api.person()
    tenant = both.api.tenant(alice)
    path = f"{tenant}/files"
    for headers in UNUSUAL_UPLOADS:
        assert not both.upload(path, alice, "a.txt", b"content", headers=headers)[1], headers
    for query in ("?onConflict=rename", "?onConflict=nonsense", "?a=b"):
        assert not both.upload(path + query, alice, "b.txt", b"content")[1], query
    for size, fast in ((64 * 1024, True), (64 * 1024 + 1, False)):
        assert both.upload(path, alice, f"{size}", bytes(size)) == (201, fast)
    for length in ("8", "-1", "a", "", "7, 7"):
        both.upload(path, alice, f"of {length}", b"content", environ={"CONTENT_LENGTH": length})
    nameless = {"HTTP_CONTENT_DISPOSITION": "attachment"}
    assert both.upload(path, alice, "", b"content", environ=nameless) == (400, False)
    for content in (b"%PDF-1.7", b"<html>", "Grüße".encode(), b"\x00"):
        assert both.upload(path, alice, f"{content!r}.txt", content) == (201, True)


def test_an_upload_that_fails_is_not_tried_again(
    both: BothWays, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    alice = both.api.person()
    tenant = both.api.tenant(alice)
    tried = []

    def fail(*_: object, **__: object) -> None:
        tried.append(1)
        raise StorageUnavailable("away")

    monkeypatch.setattr("strongroom.storage.service.BlobService.receive", fail)
    answer = both.api.send(tenant, alice, "a.txt", b"content")
    assert (answer.status_code, len(tried)) == (503, 1)
    assert answer.headers["Retry-After"]
    monkeypatch.setattr("strongroom.storage.service.BlobService.receive", lambda *_, **__: 1 / 0)
    assert both.api.send(tenant, alice, "a.txt", b"content").status_code == 500
    assert "ZeroDivisionError" in caplog.text


def test_a_name_that_is_taken_is_refused_alike(both: BothWays) -> None:
    alice = both.api.person()
    tenant = both.api.tenant(alice)
    for status in (201, 409):
        answered = both.upload(f"{tenant}/files", alice, "a.txt", b"content")
        assert answered == (status, status == 201)
    listed = both.api.get(f"{tenant}/owners/me/files", by=alice).json["data"]
    assert [item["name"] for item in listed] == ["1a.txt", "2a.txt"]


def test_a_body_that_ends_early_is_refused_alike(both: BothWays) -> None:
    alice = both.api.person()
    path = f"{both.api.tenant(alice)}/files"
    for form in (False, True):
        environ = {"CONTENT_LENGTH": "2000"}
        assert both.upload(path, alice, "a", b"content", form=form, environ=environ) == (400, False)
    assert both.api.get(f"{path[:-6]}/owners/me/files", by=alice).json["data"] == []
