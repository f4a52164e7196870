"""Locks by WebDAV are locks of the server, and names are reserved without being visible."""

import re

import pytest
from tests.support.api import Answer, Api, error_code
from tests.support.databases import on_sqlite
from tests.support.webdav import DAV, PLUGINS, Drive, Space, locked_body

pytestmark = [on_sqlite, pytest.mark.config({"plugins": {"enabled": PLUGINS}})]


@pytest.fixture
def space(api: Api) -> Space:
    return Space.made(api)


@pytest.fixture
def colleague(api: Api, space: Space) -> Drive:
    person = api.person()
    api.join(space.path, space.person, person, "admin")
    return Drive.of_person(api, person)


def lock(drive: Drive, path: str, *, scope: str = "exclusive", **headers: str) -> str:
    """Lock a path, and return the token."""
    answer = drive.send("LOCK", path, locked_body(scope), **headers)
    assert answer.status_code in (200, 201), answer.text
    return answer.headers["Lock-Token"][1:-1]


def timeout(answer: Answer) -> int:
    match = re.search(rb"Second-([0-9]+)", answer.data)
    assert match
    return int(match[1])


def test_a_lock_forbids_all_changes_without_the_token(space: Space, colleague: Drive) -> None:
    drive = space.drive
    drive.put("a", b"1")
    token = lock(drive, "a")
    for other in (drive, colleague):
        assert other.put("a", b"2").status_code == 423
        assert other.send("DELETE", "a").status_code == 423
        assert other.transfer("MOVE", "a", "b").status_code == 423
        assert other.send("LOCK", "a", locked_body()).status_code == 423
        assert other.transfer("COPY", "a", "c").status_code == 201
        other.send("DELETE", "c")
    # The token alone is not enough: the user must be the same.
    assert colleague.put("a", b"2", If=f"(<{token}>)").status_code == 423
    assert drive.put("a", b"2", If=f"(<{token}>)").status_code == 204
    assert drive.content("a") == b"2"


def test_rest_heeds_the_lock(space: Space) -> None:
    file = space.upload("a", b"1")
    lock(space.drive, "a")
    answer = space.api.delete(f"{space.path}/files/{file['id']}", by=space.person)
    assert (answer.status_code, error_code(answer)) == (423, "error.file-locked")


def test_unlock_ends_the_lock(space: Space, colleague: Drive) -> None:
    drive = space.drive
    drive.put("a", b"1")
    drive.put("b", b"1")
    token = lock(drive, "a")
    assert drive.send("UNLOCK", "a").status_code == 400
    assert drive.send("UNLOCK", "b", Lock_Token=f"<{token}>").status_code == 409
    assert drive.send("UNLOCK", "a", Lock_Token="<urn:x>").status_code == 409
    assert drive.send("UNLOCK", "a", Lock_Token=f"<{token}>").status_code == 204
    assert colleague.put("a", b"2").status_code == 204


def test_locks_end_with_their_time_and_are_renewed(space: Space, colleague: Drive) -> None:
    drive, clock = space.drive, space.api.clock
    drive.put("a", b"1")
    answer = drive.send("LOCK", "a", locked_body(), Timeout="Infinite, Second-5")
    token = answer.headers["Lock-Token"][1:-1]
    assert timeout(answer) == 3600
    renewed = drive.send("LOCK", "a", If=f"(<{token}>)", Timeout="Second-100")
    assert (renewed.status_code, timeout(renewed)) == (200, 100)
    assert drive.send("LOCK", "a", If="(Not <urn:x>)").status_code == 412
    clock.advance(99_999)
    assert colleague.put("a", b"2").status_code == 423
    clock.advance(2)
    assert colleague.put("a", b"2").status_code == 204
    assert drive.put("a", b"3", If=f"(<{token}>)").status_code == 412


def test_shared_locks_exclude_exclusive_ones(space: Space, colleague: Drive) -> None:
    space.drive.put("a", b"1")
    tokens = [lock(drive, "a", scope="shared") for drive in (space.drive, colleague)]
    assert space.drive.send("LOCK", "a", locked_body()).status_code == 423
    assert colleague.put("a", b"2", If=f"(<{tokens[1]}>)").status_code == 204
    discovery = space.drive.properties("a", f"{DAV}lockdiscovery")
    ((_, properties),) = discovery.items()
    assert len(properties[f"{DAV}lockdiscovery"]) == 2


def test_a_deep_lock_covers_what_is_created_later(space: Space, colleague: Drive) -> None:
    drive = space.drive
    drive.send("MKCOL", "folder")
    token = lock(drive, "folder", Depth="infinity")
    for other in (drive, colleague):
        assert other.put("folder/a", b"1").status_code == 423
        assert other.send("MKCOL", "folder/b").status_code == 423
        assert other.send("LOCK", "folder/c", locked_body()).status_code == 423
    condition = f"<{drive.path('folder/')}> (<{token}>)"
    assert drive.put("folder/a", b"1", If=condition).status_code == 201
    ((_, properties),) = drive.properties("folder/a", f"{DAV}lockdiscovery").items()
    root = properties[f"{DAV}lockdiscovery"].findtext(f".//{DAV}lockroot/{DAV}href")
    assert root == "/dav/Acme/folder/"


def test_a_move_ends_the_lock_of_what_is_moved(space: Space, colleague: Drive) -> None:
    space.drive.put("a", b"1")
    token = lock(space.drive, "a")
    assert space.drive.transfer("MOVE", "a", "b", If=f"(<{token}>)").status_code == 201
    assert colleague.put("b", b"2").status_code == 204


class TestReservations:
    """LOCK of a path that does not exist."""

    def test_a_reserved_name_is_invisible_and_becomes_a_locked_file(
        self, space: Space, colleague: Drive
    ) -> None:
        drive = space.drive
        answer = drive.send("LOCK", "new.docx", locked_body())
        token = answer.headers["Lock-Token"][1:-1]
        assert answer.status_code == 201
        assert drive.names() == colleague.names() == []
        assert drive.send("GET", "new.docx").status_code == 404
        for other in (drive, colleague):
            assert other.put("new.docx", b"x").status_code == 423
            assert other.send("MKCOL", "new.docx").status_code == 423
            assert other.send("LOCK", "new.docx", locked_body()).status_code == 423
        assert colleague.put("new.docx", b"x", If=f"(<{token}>)").status_code == 423
        assert drive.put("new.docx", b"x", If=f"(<{token}>)").status_code == 201
        assert colleague.put("new.docx", b"y").status_code == 423
        assert drive.put("new.docx", b"y", If=f"(<{token}>)").status_code == 204
        assert drive.send("UNLOCK", "new.docx", Lock_Token=f"<{token}>").status_code == 204
        assert colleague.put("new.docx", b"z").status_code == 204

    def test_a_reservation_ends(self, space: Space, colleague: Drive) -> None:
        drive = space.drive
        token = lock(drive, "a", Timeout="Second-60")
        assert drive.send("LOCK", "a", If=f"(<{token}>)", Timeout="Second-90").status_code == 200
        space.api.clock.advance(89_000)
        assert colleague.put("a", b"1").status_code == 423
        space.api.clock.advance(1_001)
        assert colleague.put("a", b"1").status_code == 201
        other = lock(drive, "b")
        assert colleague.send("UNLOCK", "b", Lock_Token=f"<{other}>").status_code == 403
        assert drive.send("UNLOCK", "b", Lock_Token=f"<{other}>").status_code == 204
        assert colleague.put("b", b"1").status_code == 201

    def test_only_those_who_may_write_reserve(self, api: Api, space: Space) -> None:
        reader = Drive.of_person(api, space.person, "files:read")
        assert reader.send("LOCK", "a", locked_body()).status_code == 403
        assert space.drive.send("LOCK", "none/a", locked_body()).status_code == 409
        assert space.drive.send("LOCK", "", locked_body()).status_code == 403


@pytest.mark.parametrize(
    "body",
    [
        b"<",
        b"<lockinfo/>",
        b'<lockinfo xmlns="DAV:"/>',
        locked_body("none"),
        locked_body().replace(b"<write/>", b"<read/>"),
    ],
)
def test_malformed_locks_are_refused(space: Space, body: bytes) -> None:
    space.drive.put("a", b"1")
    assert space.drive.send("LOCK", "a", body).status_code == 400
    assert space.drive.send("LOCK", "a", locked_body(), Depth=1).status_code == 400
    assert space.drive.put("a", b"2").status_code == 204
