"""Business files: section 4.3 of the specification, and the contract."""

import base64
import hashlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import func, select
from tests.support.api import PASSWORD, Answer, Api, Person, error_code
from tests.support.features import needs
from tests.support.images import picture
from tests.support.stores import stored_files

from strongroom.content.storage.models import blobs
from strongroom.content.storage.service import BlobService
from strongroom.extensions.business_files.feature import BusinessFilesFeature
from strongroom.extensions.business_files.models import picture_variants

pytestmark = needs(BusinessFilesFeature)

PROFILES = ("photos", "figures", "covers", "avatars")
NAME = re.compile(r"[0-9a-f]{40}\.[a-z0-9]+")
Json = dict[str, Any]


def send(api: Api, path: str, content: bytes, by: Person | None, name: str = "mine.png") -> Answer:
    """Try to upload as the raw body."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return api.request("POST", f"/api/v1/files{path}", by=by, headers=headers, data=content)


def upload(api: Api, path: str, content: bytes, by: Person) -> Json:
    response = send(api, path, content, by)
    assert response.status_code == 201, response.text
    body: Json = response.json
    return body


def place(body: Json) -> str:
    return f"/api/v1/files/{body['fileName']}"


def count(api: Api, table: Any) -> int:
    # Deletes the rows that are reserved for later uploads.
    api.container.get(BlobService).close()
    with api.container.database.read() as connection:
        found: int = connection.execute(select(func.count()).select_from(table)).scalar_one()
        return found


def details(response: Answer) -> list[tuple[str, str]]:
    return [(item["field"], item["code"]) for item in response.json["error"]["details"]]


class TestPostFiles:
    """POST /api/v1/files."""

    @pytest.mark.rule("4.3 POST /api/v1/files")
    def test_a_file_of_any_kind_gets_a_name_of_our_own(self, api: Api) -> None:
        person = api.person()
        body = upload(api, "", b"%PDF-1.7\n...", person)
        assert NAME.fullmatch(body["fileName"])
        assert body == {
            "fileName": body["fileName"],
            "url": f"https://files.example.com{place(body)}",
            "size": 12,
            "contentType": "application/pdf",
        }
        assert body["fileName"].endswith(".pdf")
        assert api.get(place(body), by=person).data == b"%PDF-1.7\n..."

    def test_a_form_is_taken_as_well(self, api: Api) -> None:
        person = api.person()
        form = {"file": (io.BytesIO(b"hello"), "../../evil.html")}
        response = api.request("POST", "/api/v1/files", by=person, data=form)
        assert response.status_code == 201
        assert response.json["fileName"].endswith(".txt")
        assert api.get(place(response.json), by=person).data == b"hello"

    def test_two_uploads_of_the_same_have_two_names(self, api: Api) -> None:
        person = api.person()
        names = {upload(api, "", b"same", person)["fileName"] for _ in range(5)}
        assert len(names) == 5

    def test_without_a_token_it_is_401(self, api: Api) -> None:
        for path in ("", *(f"/{name}" for name in PROFILES)):
            assert send(api, path, b"x", None).status_code == 401
        assert api.stored_objects() == 0

    def test_an_empty_file_is_a_file(self, api: Api) -> None:
        person = api.person()
        body = upload(api, "", b"", person)
        assert (body["size"], api.get(place(body), by=person).data) == (0, b"")

    def test_a_digest_that_does_not_fit_is_400_and_leaves_nothing(self, api: Api) -> None:
        digest = base64.b64encode(hashlib.sha256(b"other").digest()).decode()
        headers = {
            "Content-Disposition": 'attachment; filename="a"',
            "Content-Digest": f"sha-256=:{digest}:",
        }
        for path, content in (("", b"x"), ("/photos", picture())):
            response = api.request(
                "POST", f"/api/v1/files{path}", by=api.person(), headers=headers, data=content
            )
            assert (response.status_code, error_code(response)) == (400, "error.digest-mismatch")
        assert (api.stored_objects(), count(api, blobs)) == (0, 0)

    def test_a_name_is_needed_though_it_is_not_kept(self, api: Api) -> None:
        response = api.request("POST", "/api/v1/files", by=api.person(), data=b"x")
        assert (response.status_code, details(response)) == (400, [("Content-Disposition", "required")])


@pytest.mark.parametrize("profile", PROFILES)
class TestPostPictures:
    """POST /api/v1/files/photos, /figures, /covers and /avatars."""

    @pytest.mark.rule(
        "4.3 POST /api/v1/files/photos",
        "4.3 POST /api/v1/files/figures",
        "4.3 POST /api/v1/files/covers",
        "4.3 POST /api/v1/files/avatars",
    )
    def test_a_picture_has_its_displayed_size(self, api: Api, profile: str) -> None:
        exif = Image.Exif()
        exif[0x0112] = 6
        content = picture(kind="JPEG", exif=exif)
        body = upload(api, f"/{profile}", content, api.person())
        assert (body["width"], body["height"], body["contentType"]) == (600, 900, "image/jpeg")
        assert body["fileName"].endswith(".jpg")
        response = api.get(place(body))
        assert len(response.data) == body["size"]
        with Image.open(io.BytesIO(response.data)) as stored:
            assert (stored.size, dict(stored.getexif())) == ((600, 900), {})

    def test_other_than_pictures_are_415(self, api: Api, profile: str) -> None:
        for content in (
            b"plain words",
            b"<svg xmlns='http://www.w3.org/2000/svg'/>",
            b"%PDF-1.7\n",
            b"",
        ):
            response = send(api, f"/{profile}", content, api.person())
            assert (response.status_code, error_code(response)) == (
                415,
                "error.unsupported-media-type",
            )
            assert details(response) == [("file", "type-not-allowed")]
        assert (api.stored_objects(), count(api, blobs)) == (0, 0)

    def test_half_a_picture_is_400(self, api: Api, profile: str) -> None:
        content = picture()
        response = send(api, f"/{profile}", content[: len(content) // 2], api.person())
        assert (response.status_code, error_code(response)) == (400, "error.picture-unreadable")
        assert details(response) == [("file", "unreadable")]
        assert (api.stored_objects(), count(api, blobs)) == (0, 0)

    def test_too_many_pixels_are_413(self, api: Api, profile: str) -> None:
        target = io.BytesIO()
        Image.new("1", (9000, 9000)).save(target, "PNG")
        response = send(api, f"/{profile}", target.getvalue(), api.person())
        assert (response.status_code, error_code(response)) == (413, "error.picture-too-large")
        assert details(response) == [("file", "too-many-pixels")]
        assert api.stored_objects() == 0


@pytest.mark.config(
    {
        "business_files": {
            "files": {
                "max_bytes": 1000,
                "types": ["text/*", "application/pdf"],
                "visibility": "public",
            },
            "photos": {"max_bytes": 2000, "types": ["image/jpeg"]},
            "avatars": {"visibility": "users", "widths": [10], "max_pixels": 10000},
        }
    }
)
class TestProfiles:
    """The configured limits."""

    def test_more_bytes_than_allowed_are_413(self, api: Api) -> None:
        person = api.person()
        assert send(api, "", b"x" * 1000, person).status_code == 201
        for path, content in (("", b"x" * 1001), ("/photos", b"\xff\xd8\xff\xe0" + b"x" * 1997)):
            response = send(api, path, content, person)
            assert (response.status_code, error_code(response)) == (413, "error.payload-too-large")
            form = {"file": (io.BytesIO(content), "a")}
            in_form = api.request("POST", f"/api/v1/files{path}", by=person, data=form)
            assert in_form.status_code == 413
        assert api.stored_objects() == 1

    def test_other_types_are_415(self, api: Api) -> None:
        person = api.person()
        assert send(api, "", b"%PDF-1.7\n", person).status_code == 201
        small = picture((10, 10))
        for path in ("", "/photos"):
            response = send(api, path, small, person, name="a.jpg")
            assert response.status_code == 415
            assert details(response) == [("file", "type-not-allowed")]
        assert (api.stored_objects(), count(api, blobs)) == (1, 1)

    def test_public_files_need_no_token_and_caches_may_share_them(self, api: Api) -> None:
        person = api.person()
        body = upload(api, "", b"for all", person)
        response = api.get(place(body))
        assert (response.status_code, response.data) == (200, b"for all")
        assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert "Vary" not in response.headers

    def test_files_for_users_need_a_token_and_stay_private(self, api: Api) -> None:
        body = upload(api, "/avatars", picture((60, 40)), api.person())
        for path in (place(body), f"{place(body)}?width=10"):
            assert error_code(api.get(path)) == "error.token-required"
            response = api.get(path, by=api.person())
            assert response.status_code == 200
            assert response.headers["Cache-Control"] == "private, max-age=31536000, immutable"
            assert response.headers["Vary"] == "Authorization, X-Access-Token"

    def test_each_profile_has_its_own_widths_and_pixels(self, api: Api) -> None:
        person = api.person()
        body = upload(api, "/avatars", picture((100, 100)), person)
        assert api.get(f"{place(body)}?width=10", by=person).status_code == 200
        assert api.get(f"{place(body)}?width=96", by=person).status_code == 400
        assert send(api, "/avatars", picture((101, 100)), person).status_code == 413


class TestGet:
    """GET /api/v1/files/{fileName}."""

    def test_files_of_any_kind_are_for_users_unless_configured(self, api: Api) -> None:
        body = upload(api, "", b"hello", api.person())
        assert api.get(place(body)).status_code == 401
        assert api.get(place(body), by=api.person()).data == b"hello"

    def test_a_name_that_is_none_is_404(self, api: Api) -> None:
        for name in ("0" * 40 + ".png", "..%2F..%2Fetc%2Fpasswd", "a" * 5000, "%00", "文"):
            for query in ("", "?width=320"):
                assert api.get(f"/api/v1/files/{name}{query}").status_code == 404
        assert api.get("/api/v1/files/photos").status_code == 405

    @pytest.mark.rule("4.3 GET /api/v1/files/{fileName}")
    def test_conditions_ranges_and_head_are_those_of_all_downloads(self, api: Api) -> None:
        path = place(upload(api, "/photos", picture(), api.person()))
        whole = api.get(path)
        etag = whole.headers["ETag"]
        assert etag == f'"{hashlib.sha256(whole.data).hexdigest()}"'
        part = api.get(path, headers={"Range": "bytes=5-9", "If-Range": etag})
        assert (part.status_code, part.data) == (206, whole.data[5:10])
        assert api.get(path, headers={"If-None-Match": etag}).status_code == 304
        assert api.get(path, headers={"If-Match": '"other"'}).status_code == 412
        assert api.get(path, headers={"Range": "bytes=9999999-"}).status_code == 416
        head = api.request("HEAD", path)
        assert (head.status_code, head.data) == (200, b"")
        assert head.headers["Content-Length"] == str(len(whole.data))
        assert head.headers["Cache-Control"] == "public, max-age=31536000, immutable"

    def test_safe_types_are_inline_and_all_others_attachments(self, api: Api) -> None:
        person = api.person()
        for path, content, kind in (
            ("/photos", picture(), "inline"),
            ("", b"plain words", "inline"),
            ("", b"%PDF-1.7\n", "attachment"),
            ("", b"\0\1\2", "attachment"),
        ):
            headers = api.get(place(upload(api, path, content, person)), by=person).headers
            assert headers["Content-Disposition"].startswith(kind)
            assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
            assert headers["X-Content-Type-Options"] == "nosniff"


class TestVariants:
    """GET /api/v1/files/{fileName}?width=."""

    def test_a_variant_is_made_once_and_kept(self, api: Api) -> None:
        path = place(upload(api, "/photos", picture(), api.person()))
        first = api.get(f"{path}?width=320")
        assert first.headers["Content-Type"] == "image/png"
        with Image.open(io.BytesIO(first.data)) as image:
            assert image.size == (320, 213)
        again = api.get(f"{path}?width=320")
        assert (again.data, again.headers["ETag"]) == (first.data, first.headers["ETag"])
        assert (api.stored_objects(), count(api, picture_variants)) == (2, 1)
        assert api.get(path).headers["ETag"] != first.headers["ETag"]

    def test_head_and_ranges_work_on_variants(self, api: Api) -> None:
        path = f"{place(upload(api, '/photos', picture(), api.person()))}?width=640"
        size = int(api.request("HEAD", path).headers["Content-Length"])
        whole = api.get(path)
        assert len(whole.data) == size
        assert api.get(path, headers={"Range": "bytes=-3"}).data == whole.data[-3:]

    def test_no_picture_is_made_larger_than_it_is(self, api: Api) -> None:
        path = place(upload(api, "/photos", picture((640, 480)), api.person()))
        whole = api.get(path)
        for width in (640, 1280, 1920):
            assert api.get(f"{path}?width={width}").data == whole.data
        assert count(api, picture_variants) == 0

    @pytest.mark.parametrize("width", ["1", "321", "1921", "999999999999999999999"])
    def test_another_width_is_400_and_names_those_there_are(self, api: Api, width: str) -> None:
        path = place(upload(api, "/photos", picture(), api.person()))
        response = api.get(f"{path}?width={width}")
        assert (response.status_code, details(response)) == (400, [("width", "not-allowed")])
        assert "320, 640, 1280, 1920" in response.text

    @pytest.mark.parametrize("query", ["width=", "width=x", "width=0", "width=-5", "width=1.5"])
    def test_a_width_that_is_none_is_400(self, api: Api, query: str) -> None:
        path = place(upload(api, "/photos", picture(), api.person()))
        assert api.get(f"{path}?{query}").status_code == 400

    def test_files_that_are_no_pictures_have_no_widths(self, api: Api) -> None:
        person = api.person()
        path = place(upload(api, "", picture(), person))
        response = api.get(f"{path}?width=320", by=person)
        assert (response.status_code, details(response)) == (400, [("width", "not-allowed")])


class TestDelete:
    """DELETE /api/v1/files/{fileName}."""

    def test_the_owner_deletes_a_picture_with_its_variants_and_bytes(self, api: Api) -> None:
        person = api.person()
        path = place(upload(api, "/photos", picture(), person))
        for width in (320, 640):
            api.get(f"{path}?width={width}")
        assert api.stored_objects() == 3
        response = api.delete(path, by=person)
        assert (response.status_code, response.json) == (200, {"success": True})
        assert (api.stored_objects(), count(api, blobs), count(api, picture_variants)) == (0, 0, 0)
        assert api.get(path).status_code == 404
        assert api.delete(path, by=person).status_code == 404

    def test_others_may_not(self, api: Api) -> None:
        path = place(upload(api, "/photos", picture(), api.person()))
        assert api.delete(path).status_code == 401
        assert error_code(api.delete(path, by=api.person())) == "error.forbidden"
        assert api.get(path).status_code == 200

    def test_an_administrator_may_and_that_is_on_record(self, api: Api) -> None:
        owner, admin = api.person(), api.person(admin=True)
        body = upload(api, "/photos", picture(), owner)
        assert api.delete(place(body), by=admin).status_code == 200
        (event,) = api.get("/audit-events?action=business-file.delete", by=admin).json["data"]
        assert event["details"] == {"profile": "photos", "file": body["fileName"]}

    def test_a_key_of_files_of_an_administrator_may_not(self, api: Api) -> None:
        path, admin = place(upload(api, "/photos", picture(), api.person())), api.person(admin=True)
        body = {"name": "robot", "scopes": ["files:share", "users:write"], "currentPassword": PASSWORD}
        key = api.post("/users/me/access-keys", body, by=admin).json["key"]
        robot = Person(admin.id, admin.email, key)
        assert error_code(api.delete(path, by=robot)) == "error.forbidden"

    def test_bytes_that_are_missing_do_not_keep_a_file_from_being_deleted(
        self, api: Api, tmp_path: Path
    ) -> None:
        person = api.person()
        path = place(upload(api, "/photos", picture(), person))
        for file in stored_files(tmp_path / "files"):
            file.unlink()
        assert api.delete(path, by=person).status_code == 200
        assert count(api, blobs) == 0
