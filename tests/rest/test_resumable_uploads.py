"""Resumable uploads by the letter of tus 1.0, with what uploads have to keep to besides."""

import base64
import hashlib
import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import func, select
from tests.support.api import Answer, Api, Person, creation_headers, error_code, upload_metadata
from werkzeug.http import parse_date

from strongroom.content.storage.blob_removal import ABANDONED_AFTER
from strongroom.content.storage.models import blobs
from strongroom.content.storage.service import BlobService
from strongroom.extensions.uploads.repository import LEASE, upload_parts
from strongroom.extensions.uploads.service import UploadService
from strongroom.testing.clock import SECOND

UNKNOWN = "01a1fd35-41a4-7159-832d-f9df39268981"
VERSION = {"Tus-Resumable": "1.0.0"}
MEDIA_TYPE = "application/offset+octet-stream"
CONTENT = bytes(range(256)) * 40


def checksum(algorithm: str, content: bytes) -> str:
    """Return an Upload-Checksum header."""
    return f"{algorithm} {base64.b64encode(hashlib.new(algorithm, content).digest()).decode()}"


@dataclass
class Site:
    """A tenant, and the person who administers it."""

    api: Api
    person: Person
    tenant: str

    def create(
        self,
        size: int = len(CONTENT),
        *,
        by: Person | None = None,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        **values: str,
    ) -> Answer:
        sent = {
            **creation_headers(size, **{"filename": "a.bin", **values}),
            **({} if body is None else {"Content-Type": MEDIA_TYPE}),
            **(headers or {}),
        }
        path = f"{self.tenant}/uploads"
        return self.api.request("POST", path, by=by or self.person, headers=sent, data=body)

    def begin(self, size: int = len(CONTENT), **options: Any) -> str:
        """Begin an upload, and return its path."""
        response = self.create(size, **options)
        assert response.status_code == 201, response.text
        return path_of(response)

    def patch(
        self,
        path: str,
        offset: int,
        content: bytes,
        *,
        by: Person | None = None,
        headers: dict[str, str] | None = None,
        method: str = "PATCH",
        **options: Any,
    ) -> Answer:
        sent = {
            **VERSION,
            "Upload-Offset": str(offset),
            "Content-Type": MEDIA_TYPE,
            **(headers or {}),
        }
        if not options:
            options = {"data": content}
        return self.api.request(method, path, by=by or self.person, headers=sent, **options)

    def head(self, path: str, by: Person | None = None) -> Answer:
        return self.api.request("HEAD", path, by=by or self.person, headers=VERSION)

    def offset(self, path: str) -> int:
        """Return how far an upload has come."""
        response = self.head(path)
        assert response.status_code == 200, response.text
        return int(response.headers["Upload-Offset"])

    def files(self) -> list[tuple[str, int]]:
        listing = self.api.get(f"{self.tenant}/owners/me/files", by=self.person).json["data"]
        return [(node["name"], node["size"]) for node in listing]

    def usage(self) -> tuple[int, int]:
        """Return the used and the reserved bytes."""
        body = self.api.get(f"{self.tenant}/usage", by=self.person).json
        return body["usedBytes"], body["reservedBytes"]

    def collect(self) -> None:
        """Do as `storage gc` does."""
        self.api.container.get(UploadService).collect()
        self.api.container.get(BlobService).collect()

    def leftovers(self) -> tuple[int, int, int]:
        """Return how many objects, rows of blobs and rows of parts there are."""
        # Deletes the rows that are reserved for later uploads.
        self.api.container.get(BlobService).close()
        with self.api.container.database.read() as connection:
            rows, parts = (
                connection.execute(select(func.count()).select_from(table)).scalar_one()
                for table in (blobs, upload_parts)
            )
        stored = len(list(self.api.container.get(BlobService).storages["main"].scan()))
        return stored, rows, parts


def path_of(response: Answer) -> str:
    location = response.headers["Location"]
    assert location.startswith("https://files.example.com/api/v1/tenants/")
    return location.removeprefix("https://files.example.com")


@pytest.fixture
def site(api: Api) -> Site:
    person = api.person()
    return Site(api, person, api.tenant(person))


class Broken(io.BytesIO):
    """A body whose connection breaks at its end."""

    def readinto(self, buffer: Any, /) -> int:
        count = super().readinto(buffer)
        if not count:
            raise ConnectionResetError
        return count


def broken(content: bytes, announced: int) -> dict[str, Any]:
    """Return the options of a request that announces more than arrives."""
    return {
        "input_stream": Broken(content),
        "environ_overrides": {"CONTENT_LENGTH": str(announced)},
    }


class TestProtocol:
    """The core protocol and the extensions, as the specification of tus has them."""

    def test_options_returns_the_versions_without_a_token(self, site: Site) -> None:
        response = site.api.request("OPTIONS", f"{site.tenant}/uploads")
        assert response.status_code == 204
        assert response.headers["Tus-Version"] == "1.0.0"
        assert response.headers["Tus-Max-Size"] == "8000000"
        assert set(response.headers["Tus-Checksum-Algorithm"].split(",")) == {"sha1", "sha256"}
        assert set(response.headers["Tus-Extension"].split(",")) == {
            "creation", "creation-with-upload", "expiration", "checksum", "termination",
        }  # fmt: skip
        assert "Tus-Resumable" not in response.headers

    def test_an_upload_in_pieces_becomes_the_file(self, site: Site) -> None:
        path = site.begin(filename="文档.bin")
        for offset in range(0, len(CONTENT), 3000):
            assert site.offset(path) == offset
            piece = CONTENT[offset : offset + 3000]
            response = site.patch(path, offset, piece)
            assert (response.status_code, response.data) == (204, b"")
            assert response.headers["Upload-Offset"] == str(offset + len(piece))
            assert response.headers["Tus-Resumable"] == "1.0.0"
        file = site.api.get(response.headers["Content-Location"], by=site.person).json
        assert (file["name"], file["size"]) == ("文档.bin", len(CONTENT))
        assert file["checksum"] == f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
        download = site.api.get(f"{site.tenant}/files/{file['id']}/download", by=site.person)
        assert download.data == CONTENT
        assert site.offset(path) == len(CONTENT)
        assert site.api.get(path, by=site.person).json["fileId"] == file["id"]
        assert site.usage() == (len(CONTENT), 0)
        assert site.leftovers() == (1, 1, 0)

    def test_one_piece_is_stored_once(self, site: Site) -> None:
        path = site.begin()
        assert site.patch(path, 0, CONTENT).status_code == 204
        assert site.files() == [("a.bin", len(CONTENT))]
        assert site.leftovers() == (1, 1, 0)

    def test_head_returns_offset_length_metadata_and_is_not_stored(self, site: Site) -> None:
        path = site.begin(filetype="text/html", filename="a")
        site.patch(path, 0, CONTENT[:5])
        response = site.head(path)
        assert (response.status_code, response.data) == (200, b"")
        headers = response.headers
        assert headers["Upload-Offset"] == "5"
        assert headers["Upload-Length"] == str(len(CONTENT))
        assert headers["Upload-Metadata"] == upload_metadata(filename="a", filetype="text/html")
        assert headers["Cache-Control"] == "no-store"
        assert headers["Tus-Resumable"] == "1.0.0"

    def test_another_offset_is_409_and_changes_nothing(self, site: Site) -> None:
        path = site.begin()
        site.patch(path, 0, CONTENT[:100])
        for offset in (0, 99, 101, len(CONTENT)):
            response = site.patch(path, offset, CONTENT[offset : offset + 1])
            assert (response.status_code, error_code(response)) == (409, "error.offset-conflict")
        assert site.offset(path) == 100

    @pytest.mark.parametrize("version", [None, "0.2.2", "2.0.0"])
    def test_another_version_is_412_and_changes_nothing(self, site: Site, version: str | None) -> None:
        path = site.begin()
        headers = {"Upload-Offset": "0", "Content-Type": MEDIA_TYPE}
        if version:
            headers["Tus-Resumable"] = version
        for method in ("PATCH", "HEAD", "DELETE"):
            response = site.api.request(method, path, by=site.person, headers=headers, data=b"x")
            assert response.status_code == 412
            assert response.headers["Tus-Version"] == "1.0.0"
        assert site.offset(path) == 0

    def test_another_media_type_is_415(self, site: Site) -> None:
        path = site.begin()
        response = site.patch(path, 0, b"x", headers={"Content-Type": "text/plain"})
        assert (response.status_code, error_code(response)) == (415, "error.unsupported-media-type")

    def test_generated_clients_send_bytes_as_application_octet_stream(self, site: Site) -> None:
        binary = {"Content-Type": "application/octet-stream"}
        created = site.create(3, body=b"1", headers=binary)
        assert (created.status_code, created.headers["Upload-Offset"]) == (201, "1")
        assert site.patch(path_of(created), 1, b"23", headers=binary).status_code == 204
        assert site.files() == [("a.bin", 3)]

    @pytest.mark.parametrize("offset", ["", "-1", "x", "1.5", "9" * 30])
    def test_an_offset_that_is_none_is_400(self, site: Site, offset: str) -> None:
        response = site.patch(site.begin(), 0, b"x", headers={"Upload-Offset": offset})
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")

    def test_more_than_was_announced_is_413(self, site: Site) -> None:
        path = site.begin(3)
        response = site.patch(path, 0, b"1234")
        assert (response.status_code, error_code(response)) == (413, "error.payload-too-large")
        chunked: dict[str, Any] = {
            "input_stream": io.BytesIO(b"1234"),
            "environ_overrides": {"wsgi.input_terminated": True, "CONTENT_LENGTH": ""},
        }
        headers = {"Transfer-Encoding": "chunked"}
        assert site.patch(path, 0, b"", headers=headers, **chunked).status_code == 413
        assert (site.offset(path), site.files()) == (0, [])

    def test_a_chunked_body_is_fine(self, site: Site) -> None:
        chunked: dict[str, Any] = {
            "input_stream": io.BytesIO(b"123"),
            "environ_overrides": {"wsgi.input_terminated": True, "CONTENT_LENGTH": ""},
        }
        headers = {"Transfer-Encoding": "chunked"}
        assert site.patch(site.begin(3), 0, b"", headers=headers, **chunked).status_code == 204
        assert site.files() == [("a.bin", 3)]

    def test_creation_may_bring_the_first_bytes_or_all(self, site: Site) -> None:
        some = site.create(body=CONTENT[:10])
        assert (some.status_code, some.headers["Upload-Offset"]) == (201, "10")
        assert site.patch(path_of(some), 10, CONTENT[10:]).status_code == 204
        whole = site.create(3, body=b"123", filename="b")
        assert (whole.status_code, whole.headers["Upload-Offset"]) == (201, "3")
        assert sorted(site.files()) == [("a.bin", len(CONTENT)), ("b", 3)]

    def test_an_empty_file_is_there_at_once(self, site: Site) -> None:
        response = site.create(0)
        assert response.status_code == 201
        assert site.files() == [("a.bin", 0)]

    @pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
    def test_a_checksum_is_checked(self, site: Site, algorithm: str) -> None:
        path = site.begin()
        headers = {"Upload-Checksum": checksum(algorithm, CONTENT[:100])}
        wrong = site.patch(path, 0, b"x" * 100, headers=headers)
        assert (wrong.status_code, error_code(wrong)) == (460, "error.checksum-mismatch")
        assert site.offset(path) == 0
        assert site.patch(path, 0, CONTENT[:100], headers=headers).status_code == 204
        headers = {"Upload-Checksum": checksum(algorithm, CONTENT[100:])}
        assert site.patch(path, 100, CONTENT[100:], headers=headers).status_code == 204
        assert site.leftovers() == (1, 1, 0)

    @pytest.mark.parametrize("value", ["md5 AAAA", "sha1 !", "sha1", "nonsense", ""])
    def test_a_checksum_that_cannot_be_checked_is_400(self, site: Site, value: str) -> None:
        path = site.begin(1)
        response = site.patch(path, 0, b"x", headers={"Upload-Checksum": value})
        # An empty digest is valid, and matches no content.
        assert response.status_code == (460 if value == "sha1" else 400)
        assert site.offset(path) == 0

    def test_termination_takes_all_away_but_the_file(self, site: Site) -> None:
        path, done = site.begin(), site.begin(1, filename="b", body=b"x")
        site.patch(path, 0, CONTENT[:10])
        for upload in (path, done):
            response = site.api.request("DELETE", upload, by=site.person, headers=VERSION)
            assert (response.status_code, response.data) == (204, b"")
            assert site.head(upload).status_code == 404
            assert site.patch(upload, 0, b"").status_code == 404
        assert site.files() == [("b", 1)]
        assert site.usage() == (1, 0)
        assert site.leftovers() == (1, 1, 0)

    def test_clients_without_patch_and_delete_use_post(self, site: Site) -> None:
        path = site.begin(3)
        response = site.patch(
            path, 0, b"123", method="POST", headers={"X-HTTP-Method-Override": "PATCH"}
        )
        assert response.status_code == 204
        assert site.files() == [("a.bin", 3)]
        headers = {**VERSION, "X-HTTP-Method-Override": "DELETE"}
        deleted = site.api.request("POST", path, by=site.person, headers=headers)
        assert deleted.status_code == 204
        assert site.api.request("POST", path, by=site.person, headers=VERSION).status_code == 400

    @pytest.mark.parametrize(
        ("headers", "field"),
        [
            ({"Upload-Length": ""}, "Upload-Length"),
            ({"Upload-Length": "-1"}, "Upload-Length"),
            ({"Upload-Defer-Length": "1"}, "Upload-Defer-Length"),
            ({"Upload-Concat": "partial"}, "Upload-Concat"),
            ({"Upload-Metadata": ""}, "Upload-Metadata"),
            ({"Upload-Metadata": "filename !"}, "Upload-Metadata"),
            ({"Upload-Metadata": "x " * 5000}, "Upload-Metadata"),
            ({"Upload-Metadata": upload_metadata(filename="a", onConflict="x")}, "Upload-Metadata"),
            ({"Upload-Metadata": upload_metadata(filename="a/b")}, "name"),
        ],
    )
    def test_what_makes_no_sense_is_400(self, site: Site, headers: dict[str, str], field: str) -> None:
        response = site.create(headers=headers)
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
        assert response.json["error"]["details"][0]["field"] == field
        assert response.headers["Tus-Resumable"] == "1.0.0"

    def test_more_than_the_limit_is_413(self, site: Site) -> None:
        response = site.create(8_000_001)
        assert (response.status_code, error_code(response)) == (413, "error.payload-too-large")


class TestBrokenConnections:
    """Received bytes are kept."""

    def test_what_arrived_before_the_break_is_kept(self, site: Site) -> None:
        path = site.begin()
        site.patch(path, 0, b"", **broken(CONTENT[:4321], len(CONTENT)))
        assert site.offset(path) == 4321
        assert site.patch(path, 4321, CONTENT[4321:]).status_code == 204
        assert site.files() == [("a.bin", len(CONTENT))]

    def test_bytes_that_cannot_be_checked_are_discarded(self, site: Site) -> None:
        path = site.begin()
        headers = {"Upload-Checksum": checksum("sha1", CONTENT)}
        site.patch(path, 0, b"", headers=headers, **broken(CONTENT[:4321], len(CONTENT)))
        assert site.offset(path) == 0
        assert site.leftovers() == (0, 0, 0)

    def test_a_break_before_the_first_byte_changes_nothing(self, site: Site) -> None:
        path = site.begin()
        site.patch(path, 0, b"", **broken(b"", len(CONTENT)))
        assert site.offset(path) == 0
        assert site.leftovers() == (0, 0, 0)

    def test_a_writer_excludes_others_and_a_dead_one_only_until_its_lease_expires(
        self, site: Site
    ) -> None:
        path = site.begin()

        class Slow(io.BytesIO):
            answers: list[Answer]

            def readinto(self, buffer: Any, /) -> int:
                if not self.tell():
                    locked = site.patch(path, 0, b"x")
                    site.api.clock.advance(LEASE + SECOND)
                    taken_over = site.patch(path, 0, CONTENT[:7])
                    self.answers = [locked, taken_over]
                return super().readinto(buffer)

        body = Slow(CONTENT)
        options: dict[str, Any] = {
            "input_stream": body,
            "environ_overrides": {"CONTENT_LENGTH": str(len(CONTENT))},
        }
        late = site.patch(path, 0, b"", **options)
        locked, taken_over = body.answers
        assert (locked.status_code, error_code(locked)) == (423, "error.upload-locked")
        assert "Retry-After" in locked.headers
        assert taken_over.status_code == 204
        assert (late.status_code, error_code(late)) == (423, "error.upload-locked")
        assert (site.offset(path), site.files()) == (7, [])

    def test_of_many_at_one_moment_one_writes(self, site: Site) -> None:
        path = site.begin()
        with ThreadPoolExecutor(8) as pool:
            sent = [pool.submit(site.patch, path, 0, CONTENT) for _ in range(8)]
        statuses = sorted(future.result().status_code for future in sent)
        assert statuses[0] == 204
        assert set(statuses[1:]) <= {409, 423}
        assert site.leftovers() == (1, 1, 0)
        assert site.usage() == (len(CONTENT), 0)


class TestExpiration:
    """An upload without progress is aborted."""

    def test_the_expiry_is_returned(self, site: Site) -> None:
        response = site.create()
        moment = datetime.fromtimestamp((site.api.clock.now() + ABANDONED_AFTER) // 1000, tz=UTC)
        assert parse_date(response.headers["Upload-Expires"]) == moment
        assert "Upload-Expires" in site.patch(path_of(response), 0, b"x").headers

    def test_an_expired_upload_is_404_and_collected_with_its_bytes(self, site: Site) -> None:
        path = site.begin()
        site.patch(path, 0, CONTENT[:10])
        assert site.usage() == (0, len(CONTENT))
        site.api.clock.advance(ABANDONED_AFTER - SECOND)
        site.collect()
        assert site.leftovers() == (1, 1, 1)
        site.api.clock.advance(2 * SECOND)
        site.person.token = site.api.log_in(site.person.email).headers["X-Access-Token"]
        assert site.head(path).status_code == 404
        assert site.patch(path, 10, b"x").status_code == 404
        site.collect()
        assert site.leftovers() == (0, 0, 0)
        assert site.usage() == (0, 0)


class TestRules:
    """Uploads in pieces keep to what others keep to."""

    def test_quota_is_reserved_at_the_beginning(self, site: Site) -> None:
        admin = site.api.person(admin=True)
        site.api.patch(site.tenant, {"quotaBytes": 100}, by=admin)
        path = site.begin(60)
        assert site.usage() == (0, 60)
        full = site.create(41, filename="b")
        assert (full.status_code, error_code(full)) == (507, "error.storage-full")
        assert site.api.send(site.tenant, site.person, "c", b"x" * 41).status_code == 507
        site.patch(path, 0, b"x" * 30)
        assert site.patch(path, 30, b"x" * 30).status_code == 204
        assert site.usage() == (60, 0)

    def test_a_name_that_is_taken_is_409_at_once(self, site: Site) -> None:
        site.api.upload(site.tenant, site.person, "a.bin", b"x")
        response = site.create()
        assert (response.status_code, error_code(response)) == (409, "error.name-conflict")
        assert site.usage() == (1, 0)

    def test_conflicts_are_resolved_as_wished(self, site: Site) -> None:
        site.api.upload(site.tenant, site.person, "a.bin", b"old")
        site.begin(3, body=b"123", onConflict="rename")
        site.begin(3, body=b"new", onConflict="replace")
        assert sorted(site.files()) == [("a (1).bin", 3), ("a.bin", 3)]
        # The old content is a version.
        assert site.usage() == (9, 0)

    def test_a_name_taken_meanwhile_is_409_and_the_rest_may_be_sent_again(self, site: Site) -> None:
        path = site.begin()
        site.patch(path, 0, CONTENT[:100])
        blocker = site.api.upload(site.tenant, site.person, "a.bin", b"x")
        response = site.patch(path, 100, CONTENT[100:])
        assert (response.status_code, error_code(response)) == (409, "error.name-conflict")
        assert site.offset(path) == 100
        site.api.delete(f"{site.tenant}/files/{blocker['id']}", by=site.person)
        assert site.patch(path, 100, CONTENT[100:]).status_code == 204
        assert site.files() == [("a.bin", len(CONTENT))]

    def test_into_a_folder_as_long_as_one_may_write_there(self, site: Site) -> None:
        folder = site.api.folder(site.tenant, site.person, "folder")["id"]
        path = site.begin(parentId=folder)
        site.patch(path, 0, CONTENT[:100])
        site.api.delete(f"{site.tenant}/files/{folder}", by=site.person)
        assert site.patch(path, 100, CONTENT[100:]).status_code == 404
        file = site.api.upload(site.tenant, site.person, "file", b"x")["id"]
        response = site.create(parentId=file)
        assert (response.status_code, error_code(response)) == (409, "error.not-a-folder")
        assert site.create(parentId=UNKNOWN).status_code == 404

    def test_only_who_began_it_goes_on_and_only_as_a_member(self, site: Site) -> None:
        member, other = site.api.person(), site.api.person()
        for person in (member, other):
            site.api.join(site.tenant, site.person, person)
        path = site.begin(by=member)
        for stranger in (other, site.person, site.api.person()):
            assert site.head(path, by=stranger).status_code == 403
            assert site.patch(path, 0, b"x", by=stranger).status_code == 403
            deleted = site.api.request("DELETE", path, by=stranger, headers=VERSION)
            assert deleted.status_code == 403
        assert site.patch(path, 0, CONTENT[:9], by=member).status_code == 204
        site.api.delete(f"{site.tenant}/members/{member.id}", by=site.person)
        assert site.patch(path, 9, CONTENT[9:], by=member).status_code == 403
        assert site.create(by=site.api.person()).status_code == 403
        assert site.api.request("POST", f"{site.tenant}/uploads", headers=VERSION).status_code == 401

    def test_an_upload_of_another_tenant_is_not_there(self, site: Site) -> None:
        other = site.api.tenant(site.person, "Other")
        path = site.begin().replace(site.tenant, other)
        assert site.head(path).status_code == 404

    def test_the_type_is_detected_from_the_content(self, site: Site) -> None:
        path = site.begin(40, filename="a.txt", filetype="text/html")
        site.patch(path, 0, b"\x89P")
        site.patch(path, 2, b"NG\r\n\x1a\n" + b"\0" * 32)
        (node,) = site.api.get(f"{site.tenant}/owners/me/files", by=site.person).json["data"]
        assert node["contentType"] == "image/png"
