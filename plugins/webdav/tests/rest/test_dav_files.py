"""Reading and changing files by WebDAV."""

import hashlib
import unicodedata
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import unquote

import pytest
from tests.support.api import Api
from tests.support.databases import on_sqlite
from tests.support.statements import failing_statement
from tests.support.webdav import DAV, PLUGINS, Drive, Space, basic, read_multistatus

OWNCLOUD = "{http://owncloud.org/ns}"

pytestmark = [on_sqlite, pytest.mark.config({"plugins": {"enabled": PLUGINS}})]


@pytest.fixture
def space(api: Api) -> Space:
    return Space.made(api)


def test_files_and_folders_go_through_their_whole_life(space: Space) -> None:
    drive = space.drive
    assert drive.send("MKCOL", "Reports").status_code == 201
    assert drive.put("Reports/may.txt", b"content").status_code == 201
    assert drive.put("Reports/may.txt", b"changed").status_code == 204
    assert drive.content("Reports/may.txt") == b"changed"
    assert drive.transfer("COPY", "Reports/may.txt", "Reports/copy.txt").status_code == 201
    assert drive.transfer("MOVE", "Reports/copy.txt", "moved.txt").status_code == 201
    assert drive.names() == ["moved.txt", "Reports/"]
    assert drive.names("Reports") == ["may.txt"]
    assert drive.send("DELETE", "Reports").status_code == 204
    assert drive.names() == ["moved.txt"]
    trash = space.api.get(f"{space.path}/trash", by=space.person).json["data"]
    assert [entry["name"] for entry in trash] == ["Reports"]


def test_the_root_lists_the_spaces_of_the_caller_only(api: Api, space: Space) -> None:
    other = api.tenant(api.person(), "Secret")
    api.tenant(space.person, "Twice")
    second = api.tenant(space.person, "Twice")
    drive = Drive(api, space.drive.key, space="")
    hrefs = [*drive.properties(depth=1)]
    ids = [href for href in hrefs if second.rpartition("/")[2] in href]
    assert hrefs[:2] == ["/dav/", "/dav/Acme/"]
    assert len(hrefs) == 4
    assert len(ids) == 1
    assert drive.send("PROPFIND", "Secret", Depth=0).status_code == 404
    assert drive.send("PROPFIND", other.rpartition("/")[2], Depth=0).status_code == 404
    # A name that two spaces have leads to neither; their ids do.
    assert drive.send("PROPFIND", "Twice", Depth=0).status_code == 404
    assert Drive(api, space.drive.key, second.rpartition("/")[2]).put("a", b"").status_code == 201


def test_properties_are_those_of_the_file(space: Space) -> None:
    drive, content = space.drive, b"some text\n"
    answer = drive.put("a b.txt", content)
    node = space.node(drive.value("a b.txt", f"{OWNCLOUD}fileid") or "")
    ((path, properties),) = drive.properties("a b.txt").items()
    checksum = hashlib.sha256(content).hexdigest()
    texts = {name: item.text for name, item in properties.items()}
    assert path == "/dav/Acme/a%20b.txt"
    assert texts[f"{DAV}getcontentlength"] == "10"
    assert texts[f"{DAV}getetag"] == answer.headers["ETag"] == f'"{checksum}"'
    assert texts[f"{DAV}getcontenttype"] == node["contentType"]
    assert texts[f"{DAV}displayname"] == "a b.txt"
    assert properties[f"{OWNCLOUD}checksums"][0].text == f"SHA256:{checksum}"
    assert (
        parsedate_to_datetime(texts[f"{DAV}getlastmodified"] or "").isoformat()[:19]
        == (node["updatedAt"][:19])
    )
    assert drive.send("GET", "a b.txt").headers["ETag"] == answer.headers["ETag"]
    assert f"{DAV}quota-used-bytes" not in properties
    assert drive.value("", f"{DAV}quota-used-bytes") is None
    reader = Drive.of_person(space.api, space.person, "files:read", "tenants:read")
    assert reader.value("", f"{DAV}quota-used-bytes") == "10"
    assert drive.value("", f"{DAV}resourcetype") == ""
    assert drive.properties("", f"{DAV}resourcetype")["/dav/Acme/"][f"{DAV}resourcetype"][0].tag == (
        f"{DAV}collection"
    )


def test_names_of_macos_are_composed(space: Space) -> None:
    assert space.drive.put("Cafe\u0301.txt", b"x").status_code == 201
    assert space.drive.names() == ["Caf%C3%A9.txt"]
    assert space.drive.content("Caf\u00e9.txt") == b"x"


@pytest.mark.parametrize("depth", [None, "infinity"])
def test_a_whole_tree_is_refused(space: Space, depth: str | None) -> None:
    headers: dict[str, Any] = {"Depth": depth} if depth else {}
    answer = space.drive.send("PROPFIND", "", b"", **headers)
    assert answer.status_code == 403
    assert b"<D:propfind-finite-depth/>" in answer.data


def test_a_long_folder_is_listed_completely_and_once(space: Space) -> None:
    folder = space.api.folder(space.path, space.person, "Many")["id"]
    for number in range(205):
        space.upload(f"{number}.txt", b"", folder)
    names = space.drive.names("Many")
    assert len(names) == len({*names}) == 205


@pytest.mark.parametrize("method", ["PUT", "MKCOL", "COPY", "MOVE"])
def test_a_missing_folder_is_a_conflict(space: Space, method: str) -> None:
    space.drive.put("a.txt", b"x")
    if method in ("COPY", "MOVE"):
        assert space.drive.transfer(method, "a.txt", "none/b.txt").status_code == 409
        assert space.drive.transfer(method, "a.txt", "a.txt/b.txt").status_code == 409
        return
    assert space.drive.send(method, "none/a").status_code == 409
    assert space.drive.send(method, "a.txt/a").status_code == 409


def test_folders_are_not_content(space: Space) -> None:
    drive = space.drive
    drive.send("MKCOL", "Folder")
    for path in ("Folder", "Folder/", ""):
        assert drive.put(path, b"x").status_code == 405
        assert drive.send("MKCOL", path).status_code == 405
        assert drive.send("GET", path).status_code == 405
    assert drive.send("MKCOL", "b", b"<xml/>").status_code == 415
    assert drive.send("DELETE", "").status_code == 403


@pytest.mark.parametrize(
    "name", ["<script>&amp;'\"", "W" * 255, "\u0645\u0644\u0641 \u202e", "?#%2f", "e\u0301"]
)
def test_spaces_with_hostile_names_are_listed_and_used(api: Api, space: Space, name: str) -> None:
    tenant = api.tenant(space.person, name)
    # Paths are in the normalization form C, so a name in form D is none.
    segment = name if unicodedata.is_normalized("NFC", name) else tenant.rpartition("/")[2]
    drive = Drive.of_person(api, space.person, space=segment)
    root = Drive(api, drive.key, "").send("PROPFIND", Depth=1)
    assert f"/dav/{segment}/" in map(unquote, read_multistatus(root))
    assert drive.put("a", b"1").status_code == 201
    assert [*map(unquote, drive.properties(depth=1))] == [f"/dav/{segment}/", f"/dav/{segment}/a"]


@pytest.mark.parametrize("method", ["COPY", "MOVE"])
class TestDestinations:
    """The header Destination."""

    def test_what_exists_is_replaced_unless_the_client_forbids(self, space: Space, method: str) -> None:
        drive = space.drive
        for name in ("a.txt", "b.txt"):
            drive.put(name, name.encode())
        assert drive.transfer(method, "a.txt", "b.txt", Overwrite="F").status_code == 412
        assert drive.content("b.txt") == b"b.txt"
        assert drive.transfer(method, "a.txt", "b.txt").status_code == 204
        assert drive.content("b.txt") == b"a.txt"
        assert drive.send("GET", "a.txt").status_code == (200 if method == "COPY" else 404)

    def test_a_folder_replaces_a_folder_by_trash(self, space: Space, method: str) -> None:
        drive = space.drive
        for folder in ("One", "Two"):
            drive.send("MKCOL", folder)
            drive.put(f"{folder}/{folder}.txt", b"x")
        assert drive.transfer(method, "One", "Two").status_code == 204
        assert drive.names("Two") == ["One.txt"]
        trash = space.api.get(f"{space.path}/trash", by=space.person).json["data"]
        assert [entry["name"] for entry in trash] == ["Two"]
        assert drive.names() == (["One/", "Two/"] if method == "COPY" else ["Two/"])

    def test_a_failure_at_any_statement_leaves_nothing_half(self, space: Space, method: str) -> None:
        drive = space.drive
        for folder in ("One", "Two"):
            drive.send("MKCOL", folder)
            drive.put(f"{folder}/{folder}.txt", b"x")

        failures = 0
        while drive.names("Two") == ["Two.txt"]:
            assert (drive.names(), drive.names("One")) == (["One/", "Two/"], ["One.txt"])
            with failing_statement(failures):
                drive.transfer(method, "One", "Two")
            failures += 1
        assert failures > 10
        assert drive.names("Two") == ["One.txt"]
        assert drive.names() == (["One/", "Two/"] if method == "COPY" else ["Two/"])

    def test_nothing_replaces_itself_or_what_contains_it(self, space: Space, method: str) -> None:
        drive = space.drive
        drive.send("MKCOL", "a")
        drive.send("MKCOL", "a/b")
        for source, destination in (("a", "a"), ("a", "a/b"), ("a", "a/c"), ("a/b", "a"), ("a/b", "")):
            answer = drive.transfer(method, source, destination)
            assert answer.status_code == 403, (source, destination, answer.text)
        assert drive.names("a") == ["b/"]

    @pytest.mark.parametrize(
        ("destination", "status"),
        [
            ("http://evil.example/dav/Acme/b", 502),
            ("http://files.example.com/dav/Acme/b", 502),
            ("https://files.example.com:81/dav/Acme/b", 502),
            ("SITE/other/b", 502),
            ("SITE/davx/b", 502),
            ("//evil.example/dav/Acme/b", 502),
            ("SITE/dav/Acme/%2e%2e/b", 400),
            ("SITE/dav/Acme/%00", 400),
            ("SITE/dav/Acme/%ff", 400),
            ("SITE/dav/Acme/b?x=1", 400),
            ("http://[::1/dav/Acme/b", 400),
            ("https://files.example.com:x/dav/Acme/b", 400),
            ("ftp://files.example.com/dav/Acme/b", 502),
            ("dav/Acme/b", 502),
            ("", 400),
            ("SITE/dav/", 403),
            ("SITE/dav/b", 403),
            ("SITE/dav/Acme/" + "x/" * 500 + "b", 409),
            ("https://FILES.example.com:443/dav/Acme/b", 201),
            ("/dav/Acme/b", 201),
        ],
    )
    def test_hostile_destinations_are_refused(
        self, space: Space, method: str, destination: str, status: int
    ) -> None:
        space.drive.put("a", b"x")
        sent = destination.replace("SITE", space.drive.site)
        assert space.drive.send(method, "a", Destination=sent).status_code == status
        assert space.drive.names() == (
            ["a"] if status != 201 else ["a", "b"] if method == "COPY" else ["b"]
        )

    @pytest.mark.parametrize(
        ("host", "destination", "status"),
        [
            ("nas.example.org", "https://nas.example.org/dav/Acme/b", 201),
            ("nas.example.org", "http://NAS.example.org:80/dav/Acme/b", 201),
            ("nas.example.org:8080", "http://nas.example.org:8080/dav/Acme/b", 201),
            ("nas.example.org", "https://files.example.com/dav/Acme/b", 201),
            ("nas.example.org", "https://nas.example.org:8080/dav/Acme/b", 502),
            ("nas.example.org:8080", "http://nas.example.org/dav/Acme/b", 502),
            ("nas.example.org", "https://nas.example.org.evil.example/dav/Acme/b", 502),
            ("nas.example.org", "https://nas.example.org@evil.example/dav/Acme/b", 502),
            ("nas.example.org", "ftp://nas.example.org/dav/Acme/b", 502),
            ("", "http:///dav/Acme/b", 201),
            ("", "https://evil.example/dav/Acme/b", 502),
            ("[", "https://evil.example/dav/Acme/b", 502),
        ],
    )
    def test_the_server_may_have_another_name(
        self, space: Space, method: str, host: str, destination: str, status: int
    ) -> None:
        space.drive.put("a", b"x")
        answer = space.drive.send(method, "a", Host=host, Destination=destination)
        assert answer.status_code == status, answer.text

    def test_another_space_is_another_server(self, space: Space, method: str) -> None:
        space.api.tenant(space.person, "Other")
        space.drive.put("a", b"x")
        answer = space.drive.send(method, "a", Destination="/dav/Other/a")
        assert answer.status_code == 502


def test_conditions_hold_or_nothing_happens(space: Space) -> None:
    drive = space.drive
    etag = drive.put("a", b"1").headers["ETag"]
    assert drive.put("a", b"2", If_None_Match="*").status_code == 412
    assert drive.put("a", b"2", If_Match='"other"').status_code == 412
    assert drive.put("b", b"2", If_Match="*").status_code == 412
    assert drive.send("DELETE", "a", If_Match='"other"').status_code == 412
    assert drive.put("a", b"2", If=f"([{etag}x])").status_code == 412
    assert drive.content("a") == b"1"
    assert drive.put("b", b"2", If_None_Match="*").status_code == 201
    assert drive.put("a", b"2", If_Match=f'"other", {etag}').status_code == 204
    assert drive.put("a", b"3", If=f"(<urn:x>) ([{etag}])").status_code == 412
    assert drive.put("a", b"3", If="(Not <urn:x>)").status_code == 204


@pytest.mark.parametrize(
    "header", ["x", "(", "()", "(<a>", "<a>", "(a)", "(<a>) x", "</dav/> ()", "([x)"]
)
def test_a_malformed_if_is_refused(space: Space, header: str) -> None:
    assert space.drive.put("a", b"1", If=header).status_code == 400
    assert space.drive.names() == []


class TestContent:
    """Sizes and digests of a PUT."""

    def test_digests_are_verified(self, space: Space) -> None:
        content = b"content"
        right = {
            name: hashlib.new(name, content).hexdigest() for name in ("md5", "sha1", "sha256", "sha512")
        }
        for name, digest in right.items():
            wrong = digest[::-1]
            assert space.drive.put("a", content, OC_Checksum=f"{name}:{wrong}").status_code == 400
            assert space.drive.names() == []
            assert space.drive.put(f"{name}", content, OC_Checksum=f"{name}:{digest}").status_code == 201
            space.drive.send("DELETE", name)
        assert space.drive.put("a", content, OC_Checksum="ADLER32:0bc20300").status_code == 400
        assert space.drive.put("a", content, OC_Checksum="ADLER32:0bcb02fc").status_code == 201

    def test_partial_and_encoded_content_is_refused(self, space: Space) -> None:
        assert space.drive.put("a", b"x", Content_Range="bytes 0-0/2").status_code == 400
        assert space.drive.put("a", b"x", Content_Encoding="gzip").status_code == 415
        assert space.drive.put("a", b"x", Content_Digest="x").status_code == 400
        assert space.drive.names() == []

    def test_active_content_is_not_shown(self, space: Space) -> None:
        space.drive.put("a.html", b"<script>alert(1)</script>")
        headers = space.drive.send("GET", "a.html").headers
        assert headers["Content-Disposition"].startswith("attachment")
        assert headers["X-Content-Type-Options"] == "nosniff"

    def test_ranges_are_sent(self, space: Space) -> None:
        space.drive.put("a", b"0123456789")
        answer = space.drive.send("GET", "a", Range="bytes=2-4")
        assert (answer.status_code, answer.data) == (206, b"234")
        assert space.drive.send("HEAD", "a").headers["Content-Length"] == "10"


class TestXml:
    """Bodies of PROPFIND."""

    @pytest.mark.parametrize(
        "body",
        [
            b"<",
            b"<a/>",
            b'<propfind xmlns="DAV:"/>',
            b'<!DOCTYPE a [<!ENTITY b "c">]><propfind xmlns="DAV:"><allprop/></propfind>',
            b'<propfind xmlns="DAV:"><prop><x:a xmlns:x=""/></prop></propfind>',
            b'<?xml version="1.0" encoding="none"?><propfind xmlns="DAV:"><allprop/></propfind>',
        ],
    )
    def test_malformed_xml_is_refused(self, space: Space, body: bytes) -> None:
        assert space.drive.send("PROPFIND", "", body, Depth=0).status_code == 400

    def test_a_large_body_is_refused(self, space: Space) -> None:
        body = b'<propfind xmlns="DAV:"><allprop/>' + b" " * 70_000 + b"</propfind>"
        assert space.drive.send("PROPFIND", "", body, Depth=0).status_code == 413

    def test_unknown_properties_are_missing(self, space: Space) -> None:
        body = (
            b'<propfind xmlns="DAV:"><prop><getetag/><x:a xmlns:x="urn:&quot;&lt;"/>'
            b'<b xmlns=""/></prop></propfind>'
        )
        answer = space.drive.send("PROPFIND", "", body, Depth=0)
        assert answer.status_code == 207
        assert b"404 Not Found" in answer.data


class TestKeys:
    """Only access keys are accepted."""

    def test_the_password_of_the_account_is_refused(self, api: Api, space: Space) -> None:
        answer = space.drive.send("OPTIONS", Authorization=basic("Correct1Horse", space.person.email))
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Basic ")
        assert space.drive.send("OPTIONS").headers["DAV"] == "1, 2"

    def test_a_key_that_reads_changes_nothing(self, api: Api, space: Space) -> None:
        space.drive.put("a", b"x")
        reader = Drive.of_person(api, space.person, "files:read")
        assert reader.content("a") == b"x"
        for method in ("PUT", "DELETE", "MKCOL", "COPY", "MOVE"):
            path = "b" if method == "MKCOL" else "a"
            assert reader.transfer(method, path, "c").status_code == 403, method
        assert space.drive.names() == ["a"]

    def test_a_key_for_a_folder_reaches_nothing_else(self, api: Api, space: Space) -> None:
        folder = api.folder(space.path, space.person, "Mine")["id"]
        space.drive.put("secret", b"x")
        limits = {"tenantId": space.path.rpartition("/")[2], "fileId": folder}
        drive = Drive.of_person(api, space.person, **limits)
        assert drive.names() == ["Mine/"]
        assert drive.put("Mine/a", b"x").status_code == 201
        assert drive.send("GET", "secret").status_code == 404
        assert drive.transfer("COPY", "secret", "Mine/b").status_code == 404
        assert drive.put("b", b"x").status_code == 403
        assert drive.names("Mine") == ["a"]

    def test_an_ended_key_is_refused_at_once(self, api: Api, space: Space) -> None:
        assert space.drive.names() == []
        keys = api.get(f"/users/{space.person.id}/access-keys", by=space.person).json["data"]
        api.delete(f"/users/{space.person.id}/access-keys/{keys[0]['id']}", by=space.person)
        assert space.drive.send("PROPFIND", Depth=0).status_code == 401


def test_a_copy_counts_against_the_quota(api: Api, space: Space) -> None:
    admin = api.person(admin=True)
    space.drive.put("a", b"x" * 600)
    revision = api.get(space.path, by=space.person).json["revision"]
    body = {"quotaBytes": 1000, "revision": revision}
    changed = api.patch(space.path, body, by=admin)
    assert changed.status_code == 200, changed.text
    assert space.drive.transfer("COPY", "a", "b").status_code == 507
    assert space.drive.put("c", b"x" * 600).status_code == 507
    reader = Drive.of_person(api, space.person, "files:read", "tenants:read")
    assert reader.value("", f"{DAV}quota-available-bytes") == "400"
    assert space.drive.names() == ["a"]


def test_a_file_that_is_shared_with_the_caller_is_renamed_where_it_is(api: Api, space: Space) -> None:
    guest = api.person()
    api.join(space.path, space.person, guest)
    folder = api.folder(space.path, space.person, "Hidden")["id"]
    file = space.upload("plan.txt", b"1", folder)
    grant = {"ownerId": guest.id, "permission": "write"}
    answer = api.post(f"{space.path}/files/{file['id']}/owners", grant, by=space.person)
    assert answer.status_code in (200, 201), answer.text
    drive = Drive.of_person(api, guest)
    assert drive.names() == ["plan.txt"]
    assert drive.put("plan.txt", b"2").status_code == 204
    assert drive.transfer("MOVE", "plan.txt", "new.txt").status_code == 201
    assert drive.send("DELETE", "new.txt").status_code == 403
    assert space.node(file["id"])["parentId"] == folder
    assert space.drive.content("Hidden/new.txt") == b"2"
