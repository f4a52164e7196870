"""multi-files-download: section 4.4 of the specification, and the contract."""

import io
import zipfile
from dataclasses import dataclass
from typing import Any

import pytest
from tests.support.api import Answer, Api, Person, error_code

from strongroom.content.storage.blob_removal import ABANDONED_AFTER

UNKNOWN = "01a1fd35-41a4-7159-832d-f9df39268981"


@dataclass
class Site:
    """A tenant, and the person who administers it."""

    api: Api
    person: Person
    tenant: str

    def bundle(
        self, *ids: str, by: Person | None = None, headers: dict[str, str] | None = None, **body: Any
    ) -> Answer:
        return self.api.post(
            f"{self.tenant}/multi-files-download",
            {"fileIds": ids, **body},
            by=by or self.person,
            headers=headers,
        )

    def upload(self, name: str, content: bytes, parent: str | None = None) -> str:
        file_id: str = self.api.upload(self.tenant, self.person, name, content, parent)["id"]
        return file_id

    def folder(self, name: str, parent: str | None = None) -> str:
        folder_id: str = self.api.folder(self.tenant, self.person, name, parent)["id"]
        return folder_id


@pytest.fixture
def site(api: Api) -> Site:
    person = api.person()
    return Site(api, person, api.tenant(person))


def contents(answer: Answer) -> dict[str, bytes]:
    """Return the content of an archive by path."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Length"] == str(len(answer.data))
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        assert archive.testzip() is None
        assert {item.compress_type for item in archive.infolist()} <= {zipfile.ZIP_STORED}
        return {item.filename: archive.read(item) for item in archive.infolist()}


@pytest.mark.rule("4.4 POST /api/v1/tenants/{tenantId}/multi-files-download")
def test_files_and_whole_folders_come_as_one_archive(site: Site) -> None:
    file = site.upload("a.txt", b"hello")
    folder = site.folder("文件")
    site.upload("ü.bin", bytes(range(256)) * 2000, folder)
    site.folder("empty", folder)
    deep = site.folder("deep", folder)
    site.upload("b", b"", deep)
    answer = site.bundle(file, folder)
    assert contents(answer) == {
        "a.txt": b"hello",
        "文件/": b"",
        "文件/deep/": b"",
        "文件/empty/": b"",
        "文件/ü.bin": bytes(range(256)) * 2000,
        "文件/deep/b": b"",
    }
    headers = answer.headers
    assert headers["Content-Type"] == "application/zip"
    assert headers["Accept-Ranges"] == "bytes"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Disposition"] == 'attachment; filename="files.zip"'


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (None, 'filename="a.txt.zip"'),
        ("Report", 'filename="Report.zip"'),
        ("Report.ZIP", 'filename="Report.ZIP"'),
        ("报告", "filename=\"__.zip\"; filename*=UTF-8''%E6%8A%A5%E5%91%8A.zip"),
    ],
)
def test_the_archive_is_called_as_wished(site: Site, name: str | None, expected: str) -> None:
    wish: dict[str, Any] = {"name": name} if name else {}
    answer = site.bundle(site.upload("a.txt", b"x"), **wish)
    assert answer.headers["Content-Disposition"] == f"attachment; {expected}"


def test_names_are_safe_and_unique_wherever_the_archive_is_unpacked(site: Site) -> None:
    folders = [site.folder(name) for name in ("one", "two")]
    ids = [site.upload("same.txt", b"x", folder) for folder in folders]
    ids += [site.upload(name, b"x") for name in ("SAME.txt", "..\\evil", "C:", "con", "same (1).txt")]
    assert list(contents(site.bundle(*ids))) == [
        "same.txt",
        "same (1).txt",
        "SAME (2).txt",
        ".._evil",
        "C_",
        "_con",
        "same (1) (1).txt",
    ]


def test_a_node_requested_twice_is_included_once(site: Site) -> None:
    file = site.upload("a", b"x")
    assert list(contents(site.bundle(file, file))) == ["a"]


def test_a_missing_or_unreadable_one_is_refused_before_the_first_byte(site: Site) -> None:
    reader = site.api.person()
    site.api.join(site.tenant, site.person, reader)
    secret = site.upload("secret", b"x")
    own = site.api.upload(site.tenant, reader, "own", b"y")["id"]
    missing, unreadable = site.bundle(own, UNKNOWN, by=reader), site.bundle(own, secret, by=reader)
    assert (missing.status_code, error_code(missing)) == (404, "error.not-found")
    assert (unreadable.status_code, error_code(unreadable)) == (403, "error.forbidden")
    assert unreadable.json["error"]["details"][0]["field"] == "fileIds"
    assert contents(site.bundle(own, by=reader)) == {"own": b"y"}


def test_files_of_another_tenant_are_missing_and_strangers_get_403(site: Site) -> None:
    other = site.api.tenant(site.person, "Other")
    elsewhere = site.api.upload(other, site.person, "a", b"x")["id"]
    assert site.bundle(elsewhere).status_code == 404
    assert site.bundle(elsewhere, by=site.api.person()).status_code == 403
    root = site.tenant.rpartition("/")[2]
    assert site.bundle(root).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"fileIds": []},
        {"fileIds": "x"},
        {"fileIds": [UNKNOWN] * 1001},
        {"fileIds": [UNKNOWN], "names": "x"},
        {"fileIds": [UNKNOWN], "name": ""},
    ],
)
def test_a_body_that_makes_no_sense_is_400(site: Site, body: dict[str, Any]) -> None:
    answer = site.api.post(f"{site.tenant}/multi-files-download", body, by=site.person)
    assert (answer.status_code, error_code(answer)) == (400, "error.validation-failed")


def test_a_name_that_cannot_be_is_400(site: Site) -> None:
    answer = site.bundle(site.upload("a", b"x"), name="a/b")
    assert (answer.status_code, error_code(answer)) == (400, "error.validation-failed")


class TestBrokenOff:
    """An interrupted download resumes at its last byte."""

    @pytest.fixture
    def ids(self, site: Site) -> list[str]:
        return [site.upload("a", b"x" * 1000), site.upload("b", b"y" * 1000)]

    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_every_part_is_that_of_the_whole(self, site: Site, ids: list[str], method: str) -> None:
        whole = site.bundle(*ids)
        for start in (0, 1, 500, 1100, 2000, len(whole.data) - 1):
            headers = {"Range": f"bytes={start}-", "If-Range": whole.headers["ETag"]}
            if method == "POST":
                part = site.bundle(*ids, headers=headers)
            else:
                again = whole.headers["Content-Location"]
                part = site.api.get(again, by=site.person, headers=headers)
            assert part.status_code == 206
            assert part.data == whole.data[start:]
            size = len(whole.data)
            assert part.headers["Content-Range"] == f"bytes {start}-{size - 1}/{size}"
            assert part.headers["ETag"] == whole.headers["ETag"]

    def test_a_change_of_anything_within_gives_the_whole(self, site: Site, ids: list[str]) -> None:
        folder = site.folder("folder")
        site.upload("a", b"x" * 1000, folder)
        before = site.bundle(folder)
        site.api.send(site.tenant, site.person, "a", b"z" * 1000, folder, "?onConflict=replace")
        headers = {"Range": "bytes=100-", "If-Range": before.headers["ETag"]}
        after = site.api.get(before.headers["Content-Location"], by=site.person, headers=headers)
        assert after.status_code == 200
        assert after.headers["ETag"] != before.headers["ETag"]
        assert contents(after)["folder/a"] == b"z" * 1000

    def test_conditions_and_ranges_are_as_for_files(self, site: Site, ids: list[str]) -> None:
        whole = site.bundle(*ids)
        again, tag = whole.headers["Content-Location"], whole.headers["ETag"]

        def get(**headers: str) -> int:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            return site.api.get(again, by=site.person, headers=sent).status_code

        assert get() == 200
        assert get(If_None_Match=tag) == 304
        assert get(If_Match='"other"') == 412
        assert get(Range=f"bytes={len(whole.data)}-") == 416
        assert get(Range="bytes=0-1,5-6") == 206
        assert site.bundle(*ids, headers={"If-None-Match": tag}).status_code == 412
        head = site.api.request("HEAD", again, by=site.person)
        assert (head.status_code, head.headers["Content-Length"]) == (200, str(len(whole.data)))

    def test_several_ranges_are_those_of_the_whole(self, site: Site, ids: list[str]) -> None:
        whole = site.bundle(*ids)
        headers = {"Range": "bytes=1500-1600,10-20"}
        parts = site.api.get(whole.headers["Content-Location"], by=site.person, headers=headers).data
        assert whole.data[1500:1601] in parts
        assert whole.data[10:21] in parts

    def test_it_is_its_makers_alone_for_a_while(self, site: Site, ids: list[str]) -> None:
        again = site.bundle(*ids).headers["Content-Location"]
        other = site.api.person()
        assert site.api.get(again, by=other).status_code == 403
        site.api.join(site.tenant, site.person, other, "admin")
        assert site.api.get(again, by=other).status_code == 404
        assert site.api.get(again).status_code == 401
        site.api.clock.advance(ABANDONED_AFTER)
        site.api.log_in(site.person.email)
        later = site.api.log_in(site.person.email).headers["X-Access-Token"]
        assert site.api.get(again, by=Person("", "", later)).status_code == 404

    def test_permission_is_checked_again(self, site: Site) -> None:
        reader = site.api.person()
        site.api.join(site.tenant, site.person, reader)
        own = site.api.upload(site.tenant, reader, "own", b"y")["id"]
        again = site.bundle(own, by=reader).headers["Content-Location"]
        assert site.api.get(again, by=reader).status_code == 200
        site.api.delete(f"{site.tenant}/members/{reader.id}", by=site.person)
        assert site.api.get(again, by=reader).status_code == 403
