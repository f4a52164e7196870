"""Uploads into tenants' spaces: section 4.4 of the specification, and the contract."""

import base64
import hashlib
import io
from typing import Any

import pytest
from sqlalchemy import func, select
from tests.support.api import Answer, Api, Person, error_code

from strongroom.content.storage.models import blobs
from strongroom.content.storage.service import BlobService

BOUNDARY = "xYzZy"


def digest(content: bytes) -> str:
    """Return a Content-Digest header (RFC 9530)."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(content).digest()).decode()}:"


def stored_objects(api: Api) -> int:
    """Return how many objects the storage holds."""
    return len(list(api.container.get(BlobService).storages["main"].scan()))


def known_blobs(api: Api) -> int:
    """Return how many blobs there are rows of, without those that are reserved for later uploads."""
    api.container.get(BlobService).close()
    with api.container.database.read() as connection:
        count: int = connection.execute(select(func.count()).select_from(blobs)).scalar_one()
        return count


class TestRawBody:
    """The raw body, named by Content-Disposition."""

    @pytest.mark.rule("4.4 POST /api/v1/tenants/{tenantId}/files")
    def test_the_response_describes_the_whole_file(self, api: Api) -> None:
        person = api.person()
        tenant = api.tenant(person)
        response = api.send(tenant, person, "hello.txt", b"hello world")
        assert response.status_code == 201
        node = response.json
        assert node | {"id": "", "createdAt": "", "updatedAt": "", "revision": 0} == {
            "id": "",
            "type": "file",
            "name": "hello.txt",
            "parentId": None,
            "tenantId": tenant.rpartition("/")[2],
            "size": 11,
            "contentType": "text/plain; charset=utf-8",
            "checksum": f"sha256:{hashlib.sha256(b'hello world').hexdigest()}",
            "owner": {"$ref": person.id},
            "permission": "manage",
            "revision": 0,
            "createdAt": "",
            "updatedAt": "",
            "scan": "skipped",
        }
        assert api.get(f"{tenant}/files/{node['id']}", by=person).json == node

    def test_without_a_name_it_is_400(self, api: Api) -> None:
        person = api.person()
        response = api.request("POST", f"{api.tenant(person)}/files", by=person, data=b"x")
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
        assert response.json["error"]["details"][0]["field"] == "Content-Disposition"

    def test_a_matching_digest_is_accepted_and_another_refused(self, api: Api) -> None:
        person = api.person()
        tenant = api.tenant(person)
        headers = {"Content-Disposition": 'attachment; filename="a"', "Content-Digest": digest(b"x")}
        good = api.request("POST", f"{tenant}/files", by=person, headers=headers, data=b"x")
        assert good.status_code == 201
        headers["Content-Disposition"] = 'attachment; filename="b"'
        bad = api.request("POST", f"{tenant}/files", by=person, headers=headers, data=b"y")
        assert (bad.status_code, error_code(bad)) == (400, "error.digest-mismatch")
        assert (stored_objects(api), known_blobs(api)) == (1, 1)

    @pytest.mark.parametrize("header", ["Content-Digest", "Repr-Digest"])
    @pytest.mark.parametrize("algorithm", ["sha-256", "sha-512"])
    def test_both_digests_are_checked_by_both_algorithms(
        self, api: Api, header: str, algorithm: str
    ) -> None:
        person = api.person()
        tenant = api.tenant(person)
        hashed = hashlib.new(algorithm.replace("-", ""), b"x").digest()
        headers = {
            "Content-Disposition": 'attachment; filename="a"',
            header: f"md5=:AAAA:, {algorithm}=:{base64.b64encode(hashed).decode()}:",
        }
        bad = api.request("POST", f"{tenant}/files", by=person, headers=headers, data=b"y")
        assert (bad.status_code, error_code(bad)) == (400, "error.digest-mismatch")
        good = api.request("POST", f"{tenant}/files", by=person, headers=headers, data=b"x")
        assert good.status_code == 201

    @pytest.mark.parametrize(
        ("value", "code"),
        [
            ("md5=:AAAA:", "unsupported-algorithm"),
            ("sha-256=AAAA", "invalid"),
            ("sha-256=:A:", "invalid"),
            ("nonsense", "invalid"),
        ],
    )
    def test_a_digest_that_cannot_be_checked_is_not_passed_over(
        self, api: Api, value: str, code: str
    ) -> None:
        person = api.person()
        headers = {"Content-Disposition": 'attachment; filename="a"', "Content-Digest": value}
        path = f"{api.tenant(person)}/files"
        response = api.request("POST", path, by=person, headers=headers, data=b"x")
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
        assert response.json["error"]["details"][0] | {"message": ""} == {
            "field": "Content-Digest",
            "code": code,
            "message": "",
        }

    def test_a_part_of_a_file_is_not_taken_for_the_whole(self, api: Api) -> None:
        person = api.person()
        headers = {
            "Content-Disposition": 'attachment; filename="a"',
            "Content-Range": "bytes 1-1/2",
        }
        path = f"{api.tenant(person)}/files"
        response = api.request("POST", path, by=person, headers=headers, data=b"x")
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")

    def test_encoded_content_is_not_taken_for_the_file(self, api: Api) -> None:
        person = api.person()
        headers = {"Content-Disposition": 'attachment; filename="a"', "Content-Encoding": "gzip"}
        path = f"{api.tenant(person)}/files"
        response = api.request("POST", path, by=person, headers=headers, data=b"x")
        assert (response.status_code, error_code(response)) == (415, "error.unsupported-media-type")

    def test_a_chunked_body_needs_a_digest_because_its_end_is_uncertain(self, api: Api) -> None:
        person = api.person()
        tenant = api.tenant(person)
        chunked: dict[str, Any] = {
            "input_stream": io.BytesIO(b"abc"),
            "environ_overrides": {"wsgi.input_terminated": True, "CONTENT_LENGTH": ""},
        }
        headers = {"Content-Disposition": 'attachment; filename="a"', "Transfer-Encoding": "chunked"}
        response = api.request("POST", f"{tenant}/files", by=person, headers=headers, **chunked)
        assert (response.status_code, error_code(response)) == (411, "error.length-required")
        headers["Content-Digest"] = digest(b"abc")
        chunked["input_stream"] = io.BytesIO(b"abc")
        response = api.request("POST", f"{tenant}/files", by=person, headers=headers, **chunked)
        assert response.status_code == 201

    def test_a_form_without_a_file_is_refused_with_its_field(self, api: Api) -> None:
        person = api.person()
        path = f"{api.tenant(person)}/files"
        response = api.request("POST", path, by=person, data={"other": (io.BytesIO(b"x"), "a.txt")})
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
        details = [(item["field"], item["code"]) for item in response.json["error"]["details"]]
        assert details == [("other", "unknown-field"), ("file", "required")]

    def test_a_file_may_be_larger_than_a_json_body(self, api: Api) -> None:
        person = api.person()
        content = b"x" * 3_000_000
        assert api.upload(api.tenant(person), person, "large", content)["size"] == len(content)

    def test_more_than_the_limit_is_413_and_leaves_nothing(self, api: Api) -> None:
        person = api.person()
        response = api.send(api.tenant(person), person, "large", b"x" * 8_000_001)
        assert (response.status_code, error_code(response)) == (413, "error.payload-too-large")
        assert (stored_objects(api), known_blobs(api)) == (0, 0)


class TestForm:
    """multipart/form-data with the field ``file``."""

    def send(self, api: Api, person: Person, tenant: str, body: bytes, **headers: str) -> Answer:
        headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", **headers}
        return api.request("POST", f"{tenant}/files", by=person, headers=headers, data=body)

    def form(
        self, content: bytes, *, field: str = "file", name: str = "a.bin", end: str = "--"
    ) -> bytes:
        head = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'
        )
        return head.encode() + content + f"\r\n--{BOUNDARY}{end}\r\n".encode()

    @pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 3_000_000])
    def test_content_of_any_size_arrives_whole(self, api: Api, size: int) -> None:
        person = api.person()
        tenant = api.tenant(person)
        almost = f"\r\n--{BOUNDARY[:-1]}".encode()
        content = (almost * size)[:size]
        response = self.send(api, person, tenant, self.form(content))
        assert response.status_code == 201, response.text
        assert response.json["size"] == size
        assert response.json["checksum"] == f"sha256:{hashlib.sha256(content).hexdigest()}"

    def test_a_digest_by_sha_512_may_be_that_of_the_form_or_of_the_file(self, api: Api) -> None:
        person = api.person()
        tenant = api.tenant(person)
        for number, hashed in enumerate((self.form(b"x", name="0"), b"x", b"y")):
            value = base64.b64encode(hashlib.sha512(hashed).digest()).decode()
            digest = {"Content-Digest": f"sha-512=:{value}:"}
            response = self.send(api, person, tenant, self.form(b"x", name=str(number)), **digest)
            assert response.status_code == (400 if hashed == b"y" else 201)

    def test_another_field_is_refused_by_name(self, api: Api) -> None:
        person = api.person()
        response = self.send(api, person, api.tenant(person), self.form(b"x", field="upload"))
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
        assert response.json["error"]["details"][0]["field"] == "upload"

    def test_a_form_without_a_file_is_refused(self, api: Api) -> None:
        person = api.person()
        response = self.send(api, person, api.tenant(person), f"--{BOUNDARY}--\r\n".encode())
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")

    @pytest.mark.parametrize("cut", [1, 5, 9, 14, 60, 2000])
    def test_a_form_cut_short_anywhere_is_refused_and_leaves_nothing(self, api: Api, cut: int) -> None:
        person = api.person()
        body = self.form(b"y" * 5000)
        response = self.send(
            api, person, api.tenant(person), body[:-cut] if cut > 4 else body[: -cut - 4]
        )
        assert (response.status_code, error_code(response)) == (400, "error.upload-incomplete")
        assert (stored_objects(api), known_blobs(api)) == (0, 0)

    def test_other_than_forms_are_refused(self, api: Api) -> None:
        person = api.person()
        response = self.send(api, person, api.tenant(person), b"x" * 1_000_000)
        assert response.status_code == 400
        assert error_code(response) in ("error.malformed-request", "error.upload-incomplete")

    def test_a_second_file_is_refused_and_the_first_not_kept(self, api: Api) -> None:
        person = api.person()
        body = self.form(b"one", end="") + self.form(b"two")[len(BOUNDARY) + 4 :]
        response = self.send(api, person, api.tenant(person), body)
        assert (response.status_code, error_code(response)) == (400, "error.malformed-request")
        assert (stored_objects(api), known_blobs(api)) == (0, 0)

    @pytest.mark.parametrize("covers", ["form", "file"])
    def test_a_digest_may_cover_the_form_or_its_file(self, api: Api, covers: str) -> None:
        person = api.person()
        body = self.form(b"content")
        header = {"Content-Digest": digest(body if covers == "form" else b"content")}
        assert self.send(api, person, api.tenant(person), body, **header).status_code == 201

    def test_another_digest_is_refused(self, api: Api) -> None:
        person = api.person()
        header = {"Content-Digest": digest(b"something else")}
        response = self.send(api, person, api.tenant(person), self.form(b"content"), **header)
        assert error_code(response) == "error.digest-mismatch"


@pytest.mark.parametrize(
    "name",
    [
        "a" * 255,
        "plain.txt",
        "with space",
        "文档.pdf",
        "Ünïcode",
        "emoji 🎉.png",
        "-rf",
        "CON",
        "nul.txt",
        "..hidden",
        "...",
        "a\\b",
        'quo"te',
        "per%cent",
        "semi;colon",
        "עברית",
        "C:\\windows",
        "a?b*c<d>e|f",
        "trailing.",
        " leading",
        "\u200bzero",
        "~",
        "$HOME",
        "`id`",
        "<script>alert(1)<script>.html",
    ],
)
def test_any_name_goes_round_trip(api: Api, name: str) -> None:
    person = api.person()
    tenant = api.tenant(person)
    node = api.upload(tenant, person, name, b"x")
    assert node["name"] == name
    download = api.get(f"{tenant}/files/{node['id']}/download", by=person)
    assert download.status_code == 200
    listed = api.get(f"{tenant}/owners/me/files", by=person).json["data"]
    assert [item["name"] for item in listed] == [name]


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "/", "a\x00b", "line\nbreak", "\x7f", "\u0085", "a" * 256]
)
def test_a_name_that_cannot_be_is_400(api: Api, name: str) -> None:
    person = api.person()
    response = api.post(f"{api.tenant(person)}/folders", {"name": name}, by=person)
    assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
    assert response.json["error"]["details"][0] | {"message": ""} == {
        "field": "name",
        "code": "invalid" if "\0" in name else "invalid-name",
        "message": "",
    }


@pytest.mark.rule("4.4 POST /api/v1/tenants/{tenantId}/files/{parentId}/files")
def test_names_are_normalised_and_unique_in_their_folder(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    api.upload(tenant, person, "caf\u00e9", b"x")
    response = api.send(tenant, person, "cafe\u0301", b"y")
    assert (response.status_code, error_code(response)) == (409, "error.name-conflict")
    folder = api.folder(tenant, person, "elsewhere")
    assert api.upload(tenant, person, "cafe\u0301", b"z", folder["id"])["name"] == "caf\u00e9"


def test_a_conflict_may_be_resolved_by_another_name(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    names = [
        api.send(tenant, person, "a.txt", b"x", query="?onConflict=rename").json["name"]
        for _ in range(3)
    ]
    assert names == ["a.txt", "a (1).txt", "a (2).txt"]


def test_a_conflict_may_be_resolved_by_replacing_the_content(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    first = api.upload(tenant, person, "a.txt", b"old")
    second = api.send(tenant, person, "a.txt", b"newer", query="?onConflict=replace").json
    assert (second["id"], second["size"]) == (first["id"], 5)
    assert second["revision"] > first["revision"]
    assert api.get(f"{tenant}/files/{first['id']}/download", by=person).data == b"newer"
    # The old content is a version.
    assert stored_objects(api) == 2


def test_a_folder_is_not_replaced_by_a_file(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    api.folder(tenant, person, "a")
    response = api.send(tenant, person, "a", b"x", query="?onConflict=replace")
    assert (response.status_code, error_code(response)) == (409, "error.name-conflict")
    assert stored_objects(api) == 0


def test_nothing_is_put_into_a_file(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    file = api.upload(tenant, person, "a", b"x")
    answers = [
        api.send(tenant, person, "b", b"y", file["id"]),
        api.post(f"{tenant}/files/{file['id']}/folders", {"name": "b"}, by=person),
    ]
    assert {(answer.status_code, error_code(answer)) for answer in answers} == {
        (409, "error.not-a-folder")
    }


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("picture.txt", b"\x89PNG\r\n\x1a\n" + b"\0" * 32, "image/png"),
        ("page.html", b"<script>alert(1)</script>", "text/html; charset=utf-8"),
        ("page.png", b"<script>alert(1)</script>", "text/plain; charset=utf-8"),
        ("data.json", b"{}", "application/json; charset=utf-8"),
        ("run.exe", b"plain words", "text/plain; charset=utf-8"),
        ("noise.txt", bytes(range(256)), "application/octet-stream"),
        ("中文", "中文".encode()[:5], "text/plain; charset=utf-8"),
    ],
)
def test_the_type_is_detected_from_the_content(
    api: Api, name: str, content: bytes, expected: str
) -> None:
    person = api.person()
    assert api.upload(api.tenant(person), person, name, content)["contentType"] == expected
