"""Holds, scanners, demands of tenants and limits: WebDAV refuses what the REST API refuses."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from tests.support.api import Answer, Api, Json, error_code
from tests.support.databases import on_sqlite
from tests.support.scanners import SCANNING, VIRUS, install_word_scanner
from tests.support.webdav import PLUGINS, Drive, Space, basic, locked_body

pytestmark = [on_sqlite, pytest.mark.config({"plugins": {"enabled": PLUGINS}})]

SCANNED: Final = [*PLUGINS, "scan_words"]
WRONG_KEY: Final = "srk_00000000_" + "0" * 49


@pytest.fixture
def space(api: Api) -> Space:
    return Space.made(api)


class TestHolds:
    """A hold on a file, or on a file in a folder."""

    @pytest.fixture
    def folder(self, space: Space) -> Json:
        """Return a folder with a file that has a hold."""
        api, records = space.api, space.api.person(name="Records")
        api.join(space.path, space.person, records, "records")
        folder = api.folder(space.path, space.person, "folder")
        file = space.upload("kept", b"1", folder["id"])
        answer = api.put(f"{space.path}/files/{file['id']}/hold", {"reason": "Case 7"}, by=records)
        assert answer.status_code == 200, answer.text
        return folder

    def test_what_rest_refuses_is_refused(self, space: Space, folder: Json) -> None:
        drive = space.drive
        refused = space.api.delete(f"{space.path}/files/{folder['id']}", by=space.person)
        assert (refused.status_code, error_code(refused)) == (409, "error.held")
        for path in ("folder/kept", "folder"):
            assert drive.send("DELETE", path).status_code == 409, path
        drive.put("other", b"2")
        drive.send("MKCOL", "others")
        for source, destination in (("other", "folder/kept"), ("others", "folder")):
            assert drive.transfer("MOVE", source, destination).status_code == 409, destination
        assert drive.transfer("COPY", "others", "folder").status_code == 409
        assert drive.content("folder/kept") == b"1"
        assert drive.names() == ["folder/", "other", "others/"]

    def test_a_new_content_keeps_the_former_one(self, space: Space, folder: Json) -> None:
        assert space.drive.put("folder/kept", b"2").status_code == 204
        listing = f"{space.path}/owners/me/files/{folder['id']}/files"
        (file,) = space.api.get(listing, by=space.person).json["data"]
        versions = space.api.get(f"{space.path}/files/{file['id']}/versions", by=space.person)
        assert [version["size"] for version in versions.json["data"]] == [1]


class TestScanning:
    """Content that a scanner has found infected, or has not seen yet."""

    pytestmark = pytest.mark.config(SCANNING, {"plugins": {"enabled": SCANNED}})

    @pytest.fixture(autouse=True)
    def words(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        install_word_scanner(tmp_path / "plugins", monkeypatch)

    def test_infected_content_is_refused(self, space: Space) -> None:
        drive = space.drive
        by_rest = space.api.request(
            "POST",
            f"{space.path}/files",
            by=space.person,
            data=VIRUS,
            headers={"Content-Disposition": "attachment; filename=a"},
        )
        assert error_code(by_rest) == "error.content-infected"
        assert drive.put("a", VIRUS).status_code == by_rest.status_code
        assert drive.names() == []
        assert drive.put("a", b"1").status_code == 201
        assert drive.put("a", VIRUS).status_code == by_rest.status_code
        assert drive.content("a") == b"1"

    def test_large_content_is_not_sent_before_it_is_scanned(self, space: Space) -> None:
        drive = space.drive
        assert drive.put("large", bytes(5000)).status_code == 201
        (file,) = space.api.get(f"{space.path}/owners/me/files", by=space.person).json["data"]
        download = f"{space.path}/files/{file['id']}/download"
        by_rest = space.api.get(download, by=space.person)
        assert error_code(by_rest) == "error.not-scanned-yet"
        assert drive.send("GET", "large").status_code == by_rest.status_code


VERBS: Final = ("PROPFIND", "GET", "PUT", "MKCOL", "DELETE", "PROPPATCH", "LOCK", "COPY", "MOVE")


def send_verb(drive: Drive, verb: str) -> Answer:
    """Send a request that would succeed."""
    path = {"PUT": "new", "MKCOL": "folder"}.get(verb, "a")
    body = {"LOCK": locked_body(), "PUT": b"2"}.get(verb, b"")
    return drive.send(verb, path, body, Depth=0, Destination=f"{drive.site}{drive.path('b')}")


@pytest.mark.parametrize("verb", VERBS)
def test_a_tenant_that_demands_a_login_refuses_keys(space: Space, verb: str) -> None:
    api, drive = space.api, space.drive
    drive.put("a", b"1")
    operator = api.person(admin=True)
    demand = {"assurance": {"maxAgeSeconds": 600}}
    assert api.patch(space.path, demand, by=operator).status_code == 200
    robot = replace(space.person, token=drive.key)
    by_rest = api.get(f"{space.path}/owners/me/files", by=robot)
    assert (by_rest.status_code, error_code(by_rest)) == (403, "error.key-not-accepted")
    assert send_verb(drive, verb).status_code == 403
    # The list of spaces names it, as the list of tenants does.
    root = Drive(api, drive.key, "").send("PROPFIND", Depth=1)
    assert b"/dav/Acme/" in root.data
    assert api.patch(space.path, {"assurance": None}, by=operator).status_code == 200
    assert drive.names() == ["a"]


@pytest.mark.config({"plugins": {"enabled": PLUGINS}, "limits": {"wrong_keys_per_address": ["5/hour"]}})
def test_too_many_wrong_keys_refuse_right_ones(space: Space) -> None:
    def send(key: str) -> Answer:
        headers = {"Authorization": basic(key), "Depth": "0"}
        there = {"REMOTE_ADDR": "192.0.2.1"}
        return space.api.request("PROPFIND", "/dav/Acme/", headers=headers, environ_overrides=there)

    assert [send(WRONG_KEY).status_code for _ in range(6)] == [401] * 5 + [429]
    refused = send(space.drive.key)
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    space.api.clock.advance(int(refused.headers["Retry-After"]) * 1000)
    assert send(space.drive.key).status_code == 207


def test_a_user_reserves_a_limited_number_of_names(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strongroom_webdav.locks.RESERVATIONS", ("2/hour",))
    locks = [space.drive.send("LOCK", f"{number}", locked_body()) for number in range(3)]
    assert [answer.status_code for answer in locks] == [201, 201, 429]
    assert int(locks[-1].headers["Retry-After"]) > 0
