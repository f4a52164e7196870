"""What programs do: properties, times, hidden files, and the sequences of Finder, Windows and Word."""

import pytest
from tests.support.api import Api
from tests.support.databases import on_sqlite
from tests.support.webdav import DAV, PLUGINS, Space, locked_body

pytestmark = [on_sqlite, pytest.mark.config({"plugins": {"enabled": PLUGINS}})]

WIN32 = "{urn:schemas-microsoft-com:}Win32LastModifiedTime"
TIME = "Tue, 01 Sep 2026 10:00:00 GMT"


@pytest.fixture
def space(api: Api) -> Space:
    return Space.made(api)


def update(body: str) -> bytes:
    return f'<D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x">{body}</D:propertyupdate>'.encode()


def set_properties(*properties: str) -> bytes:
    return update("".join(f"<D:set><D:prop>{item}</D:prop></D:set>" for item in properties))


class TestDeadProperties:
    """PROPPATCH."""

    def test_they_are_stored_copied_and_removed(self, space: Space) -> None:
        drive = space.drive
        drive.put("a", b"1")
        body = set_properties('<x:p xml:lang="de">1 &lt; <x:q>2</x:q></x:p>', '<n xmlns="">3</n>')
        assert drive.send("PROPPATCH", "a", body).status_code == 207
        drive.transfer("COPY", "a", "b")
        drive.put("c", b"2")
        drive.send("PROPPATCH", "c", set_properties("<x:other>1</x:other>"))
        drive.transfer("COPY", "a", "c")
        for name in ("a", "b", "c"):
            ((_, properties),) = drive.properties(name).items()
            assert "".join(properties["{urn:x}p"].itertext()) == "1 < 2"
            assert properties["{urn:x}p"].get("{http://www.w3.org/XML/1998/namespace}lang") == "de"
            assert properties["n"].text == "3"
            assert "{urn:x}other" not in properties
        remove = update("<D:remove><D:prop><x:p/></D:prop></D:remove>")
        assert drive.send("PROPPATCH", "a", remove).status_code == 207
        assert drive.value("a", "{urn:x}p") is None
        assert drive.value("b", "{urn:x}p") == "1 < "

    def test_a_protected_property_refuses_all_changes(self, space: Space) -> None:
        space.drive.put("a", b"1")
        body = set_properties("<x:p>1</x:p>", "<D:getetag>2</D:getetag>")
        answer = space.drive.send("PROPPATCH", "a", body)
        assert b"403 Forbidden" in answer.data
        assert b"424 Failed Dependency" in answer.data
        assert space.drive.value("a", "{urn:x}p") is None

    def test_too_many_or_long_properties_are_refused(self, space: Space) -> None:
        space.drive.put("a", b"1")
        many = set_properties(*(f"<x:p{number}/>" for number in range(60)))
        long = set_properties(f"<x:p>{'x' * 20_000}</x:p>")
        for body in (many, long):
            assert b"507 Insufficient Storage" in space.drive.send("PROPPATCH", "a", body).data
        assert [name for name in space.drive.properties("a")["/dav/Acme/a"] if "urn:x" in name] == []

    def test_others_need_the_lock(self, space: Space) -> None:
        space.drive.put("a", b"1")
        token = space.drive.send("LOCK", "a", locked_body()).headers["Lock-Token"]
        body = set_properties("<x:p>1</x:p>")
        assert space.drive.send("PROPPATCH", "a", body).status_code == 423
        assert space.drive.send("PROPPATCH", "a", body, If=f"({token})").status_code == 207

    @pytest.mark.parametrize("body", [b"", b"<", b"<a/>", update(""), update("<D:set/>")])
    def test_malformed_changes_are_refused(self, space: Space, body: bytes) -> None:
        space.drive.put("a", b"1")
        assert space.drive.send("PROPPATCH", "a", body).status_code == 400


def test_the_time_of_a_client_counts_for_its_content(space: Space) -> None:
    drive = space.drive
    answer = drive.put("a", b"1", X_OC_Mtime="1788256800")
    assert answer.headers["X-OC-Mtime"] == "accepted"
    assert drive.value("a", f"{DAV}getlastmodified") == TIME
    drive.transfer("MOVE", "a", "b")
    assert drive.value("b", f"{DAV}getlastmodified") == TIME
    drive.put("b", b"2")
    assert drive.value("b", f"{DAV}getlastmodified") != TIME
    for wrong in ("x", "-1", "1e9", "9" * 40):
        assert drive.put("c", b"1", X_OC_Mtime=wrong).status_code == 400
    assert drive.names() == ["b"]


@pytest.mark.parametrize("name", ["._a", ".DS_Store", "Thumbs.db", "desktop.ini", "DESKTOP.INI"])
def test_files_of_operating_systems_are_not_stored(space: Space, name: str) -> None:
    drive = space.drive
    assert drive.send("GET", name).status_code == 404
    assert drive.put(name, b"junk").status_code == 201
    assert drive.content(name) == b"junk"
    assert drive.value(name, f"{DAV}getcontentlength") == "4"
    assert drive.send("LOCK", name, locked_body()).status_code == 200
    assert drive.transfer("MOVE", name, "._b").status_code == 201
    assert drive.content("._b") == b"junk"
    assert drive.send("DELETE", "._b").status_code == 204
    assert drive.put(f"none/{name}", b"junk").status_code == 409
    drive.put(name, b"junk")
    drive.put("real", b"1")
    assert drive.transfer("MOVE", "real", name).status_code == 403
    assert drive.transfer("COPY", name, "visible").status_code == 403
    assert drive.names() == ["real"]
    space.api.clock.advance(5 * 60 * 1000)
    assert drive.send("GET", name).status_code == 404


def test_finder_copies_a_file(space: Space) -> None:
    drive = space.drive
    drive.headers["User-Agent"] = "WebDAVFS/3.0.0 (03008000) Darwin/24.0.0 (arm64)"
    assert drive.send("OPTIONS").headers["DAV"] == "1, 2"
    assert drive.send("PROPFIND", "a.txt", Depth=0).status_code == 404
    assert drive.put("a.txt", b"").status_code == 201
    token = drive.send("LOCK", "a.txt", locked_body(), Depth=0, Timeout="Second-600")
    condition = f"({token.headers['Lock-Token']})"
    assert drive.put("a.txt", b"content", If=condition).status_code == 204
    assert drive.put("._a.txt", b"\0" * 4096).status_code == 201
    assert drive.send("PROPFIND", "._a.txt", Depth=0).status_code == 207
    unlocked = drive.send("UNLOCK", "a.txt", Lock_Token=token.headers["Lock-Token"])
    assert unlocked.status_code == 204
    assert drive.names() == ["a.txt"]


def test_windows_copies_a_file(space: Space) -> None:
    drive = space.drive
    drive.headers["User-Agent"] = "Microsoft-WebDAV-MiniRedir/10.0.26100"
    assert drive.put("a.txt", b"").status_code == 201
    token = drive.send("LOCK", "a.txt", locked_body(), Timeout="Second-3600").headers["Lock-Token"]
    time = (
        f'<z:Win32LastModifiedTime xmlns:z="urn:schemas-microsoft-com:">{TIME}</z:Win32LastModifiedTime>'
    )
    condition = f"({token})"
    assert drive.send("PROPPATCH", "a.txt", set_properties(time), If=condition).status_code == 207
    assert drive.send("HEAD", "a.txt").status_code == 200
    assert drive.put("a.txt", b"content", If=condition).status_code == 204
    assert drive.send("PROPPATCH", "a.txt", set_properties(time), If=condition).status_code == 207
    assert drive.send("UNLOCK", "a.txt", Lock_Token=token).status_code == 204
    assert drive.value("a.txt", WIN32) == TIME
    assert drive.content("a.txt") == b"content"


def test_word_saves_a_document(space: Space) -> None:
    drive = space.drive
    file = space.upload("plan.docx", b"1")
    token = drive.send("LOCK", "plan.docx", locked_body(owner="Ada"), Timeout="Second-3600")
    condition = f"({token.headers['Lock-Token']})"
    owner = drive.put("~$plan.docx", b"Ada")
    assert owner.status_code == 201
    assert drive.put("plan.docx", b"2", If=condition).status_code == 204
    renewed = drive.send("LOCK", "plan.docx", If=condition, Timeout="Second-3600")
    assert renewed.status_code == 200
    assert drive.send("DELETE", "~$plan.docx").status_code == 204
    released = drive.send("UNLOCK", "plan.docx", Lock_Token=token.headers["Lock-Token"])
    assert released.status_code == 204
    assert space.node(file["id"])["size"] == 1
    assert drive.content("plan.docx") == b"2"
