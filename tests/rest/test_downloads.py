"""Downloads: conditions and ranges (RFC 9110), names (RFC 6266), digests (RFC 9530)."""

import base64
import email
import email.message
import hashlib
from dataclasses import dataclass
from typing import Any

import pytest
from tests.support.api import Answer, Api, Person, error_code
from werkzeug.http import http_date

from strongroom.testing.clock import SECOND, ManualClock

CONTENT = b"0123456789" * 1000
ETAG = f'"{hashlib.sha256(CONTENT).hexdigest()}"'


def parts_of(message: email.message.Message) -> list[email.message.Message]:
    """Return the parts of a multipart message."""
    return [part for part in message.walk() if not part.is_multipart()]


@dataclass
class Stored:
    """A file that is there to be downloaded."""

    api: Api
    person: Person
    path: str

    def get(self, method: str = "GET", **headers: str) -> Answer:
        renamed = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.api.request(method, self.path, by=self.person, headers=renamed)


@pytest.fixture
def stored(api: Api) -> Stored:
    person = api.person()
    tenant = api.tenant(person)
    node = api.upload(tenant, person, "digits.txt", CONTENT)
    return Stored(api, person, f"{tenant}/files/{node['id']}/download")


@pytest.mark.rule("4.4 GET /api/v1/tenants/{tenantId}/files/{fileId}/download")
def test_the_whole_file_with_all_that_is_known_of_it(stored: Stored) -> None:
    response = stored.get()
    assert response.status_code == 200
    assert response.data == CONTENT
    headers = response.headers
    assert headers["Content-Length"] == "10000"
    assert headers["ETag"] == ETAG
    assert headers["Accept-Ranges"] == "bytes"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "private, no-cache"
    assert (
        headers["Repr-Digest"]
        == f"sha-256=:{base64.b64encode(hashlib.sha256(CONTENT).digest()).decode()}:"
    )


def test_head_is_get_without_the_content(stored: Stored) -> None:
    get, head = stored.get(), stored.get("HEAD")
    assert head.data == b""
    assert head.status_code == 200
    ignored = {"x-request-id"}
    assert {k.lower(): v for k, v in head.headers.items() if k.lower() not in ignored} == {
        k.lower(): v for k, v in get.headers.items() if k.lower() not in ignored
    }


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("bytes=0-0", (0, 1)),
        ("bytes=2-5", (2, 6)),
        ("bytes=9990-", (9990, 10000)),
        ("bytes=-7", (9993, 10000)),
        ("bytes=-99999", (0, 10000)),
        ("bytes=5-99999", (5, 10000)),
        ("BYTES= 2-5 ,", (2, 6)),
    ],
)
def test_one_range_is_206(stored: Stored, wanted: str, expected: tuple[int, int]) -> None:
    response = stored.get(Range=wanted)
    first, stop = expected
    assert response.status_code == 206
    assert response.data == CONTENT[first:stop]
    assert response.headers["Content-Range"] == f"bytes {first}-{stop - 1}/10000"
    assert response.headers["Content-Length"] == str(stop - first)


@pytest.mark.parametrize("wanted", ["bytes=10000-", "bytes=10000-10001", "bytes=99999-", "bytes=-0"])
def test_a_range_outside_is_416_with_the_size(stored: Stored, wanted: str) -> None:
    response = stored.get(Range=wanted)
    assert (response.status_code, error_code(response)) == (416, "error.range-not-satisfiable")
    assert response.headers["Content-Range"] == "bytes */10000"


def test_several_ranges_are_parts_in_the_requested_order(stored: Stored) -> None:
    response = stored.get(Range="bytes=9998-9999, 0-1,20000-,-10000")
    assert response.status_code == 200
    response = stored.get(Range="bytes=9998-9999, 0-1,20000-")
    assert response.status_code == 206
    assert "Content-Range" not in response.headers
    assert response.headers["Content-Length"] == str(len(response.data))
    kind = response.headers["Content-Type"]
    assert kind.startswith("multipart/byteranges; boundary=")
    message = email.message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n" + response.data)
    parts = [
        (part["Content-Range"], part["Content-Type"], part.get_payload()) for part in parts_of(message)
    ]
    assert parts == [
        ("bytes 9998-9999/10000", "text/plain; charset=utf-8", "89"),
        ("bytes 0-1/10000", "text/plain; charset=utf-8", "01"),
    ]


def test_of_several_ranges_one_that_lies_within_is_sent_as_such(stored: Stored) -> None:
    response = stored.get(Range="bytes=20000-,5-6")
    assert (response.status_code, response.data) == (206, b"56")
    assert response.headers["Content-Range"] == "bytes 5-6/10000"


@pytest.mark.parametrize(
    "wanted",
    ["bytes=" + ",".join(f"{n * 9}-{n * 9}" for n in range(17)), "bytes=0-9,5-6", "bytes=0-,0-"],
)
def test_ranges_that_would_cost_more_than_the_whole_give_the_whole(stored: Stored, wanted: str) -> None:
    response = stored.get(Range=wanted)
    assert (response.status_code, response.data) == (200, CONTENT)


def test_head_takes_no_range_for_it_is_defined_for_get_alone(stored: Stored) -> None:
    response = stored.get("HEAD", Range="bytes=0-1")
    assert (response.status_code, response.headers["Content-Length"]) == (200, "10000")


def test_conditions_come_before_ranges_and_in_their_order(stored: Stored) -> None:
    modified = stored.get().headers["Last-Modified"]
    assert stored.get(If_Match='"other"', If_None_Match=ETAG).status_code == 412
    assert stored.get(If_Match=ETAG, If_None_Match=ETAG, Range="bytes=0-1").status_code == 304
    assert stored.get(If_Match=ETAG, If_Unmodified_Since=http_date(0)).status_code == 200
    assert stored.get(If_Unmodified_Since=http_date(0), If_None_Match=ETAG).status_code == 412
    assert stored.get(If_None_Match='"other"', If_Modified_Since=modified).status_code == 200
    assert stored.get(If_Match='"other"', Range="bytes=99999-").status_code == 412
    assert stored.get(If_None_Match=ETAG, Range="bytes=99999-").status_code == 304
    assert stored.get(If_Range='"other"', Range="bytes=99999-").status_code == 200


@pytest.mark.parametrize("header", ["If-Modified-Since", "If-Unmodified-Since", "If-Range"])
def test_a_date_that_is_none_is_passed_over(stored: Stored, header: str) -> None:
    assert stored.get(**{header: "yesterday"}).status_code == 200


def test_a_304_has_the_headers_of_the_content(stored: Stored) -> None:
    full, unchanged = stored.get(), stored.get(If_None_Match=ETAG)
    for header in ("ETag", "Cache-Control", "Content-Security-Policy"):
        assert unchanged.headers[header] == full.headers[header]


def test_a_digest_of_the_content_is_sent_to_who_wants_it(stored: Stored) -> None:
    assert "Content-Digest" not in stored.get().headers
    wanted = stored.get(Want_Content_Digest="sha-512=3, sha-256=10")
    assert wanted.headers["Content-Digest"] == wanted.headers["Repr-Digest"]
    assert "Content-Digest" not in stored.get(Want_Content_Digest="sha-256=0").headers
    part = stored.get(Want_Content_Digest="sha-256=10", Range="bytes=0-1")
    # That of the part is not known before it is sent; that of the whole is.
    assert "Content-Digest" not in part.headers
    assert part.headers["Repr-Digest"] == wanted.headers["Repr-Digest"]


@pytest.mark.parametrize("wanted", ["lines=1-2", "bytes=5-2", "bytes=x", "nonsense", "bytes="])
def test_several_ranges_or_none_that_makes_sense_give_the_whole(stored: Stored, wanted: str) -> None:
    response = stored.get(Range=wanted)
    assert response.status_code == 200
    assert response.data == CONTENT


@pytest.mark.parametrize("tag", [ETAG, f"W/{ETAG}", f'"other", {ETAG}', "*"])
def test_a_current_copy_of_the_client_is_304(stored: Stored, tag: str) -> None:
    response = stored.get(If_None_Match=tag)
    assert response.status_code == 304
    assert response.data == b""
    assert response.headers["ETag"] == ETAG


def test_another_tag_returns_the_content_with_any_date(stored: Stored) -> None:
    response = stored.get(If_None_Match='"other"', If_Modified_Since=http_date(2**32))
    assert response.status_code == 200


def test_dates_are_compared_to_the_second(stored: Stored, clock: ManualClock) -> None:
    modified = stored.get().headers["Last-Modified"]
    assert stored.get(If_Modified_Since=modified).status_code == 304
    earlier = http_date((clock.now() - 2 * SECOND) // 1000)
    assert stored.get(If_Modified_Since=earlier).status_code == 200
    assert stored.get(If_Unmodified_Since=modified).status_code == 200
    assert stored.get(If_Unmodified_Since=earlier).status_code == 412


@pytest.mark.parametrize(
    ("tag", "status"), [(ETAG, 200), ("*", 200), ('"other"', 412), (f"W/{ETAG}", 412)]
)
def test_if_match_compares_strongly(stored: Stored, tag: str, status: int) -> None:
    assert stored.get(If_Match=tag).status_code == status


@pytest.mark.parametrize(("tag", "status"), [(ETAG, 206), ('"other"', 200), (f"W/{ETAG}", 200)])
def test_if_range_gives_the_whole_when_the_file_has_changed(
    stored: Stored, tag: str, status: int
) -> None:
    assert stored.get(Range="bytes=1-2", If_Range=tag).status_code == status


def test_if_range_by_date(stored: Stored, clock: ManualClock) -> None:
    modified = stored.get().headers["Last-Modified"]
    assert stored.get(Range="bytes=1-2", If_Range=modified).status_code == 206
    earlier = http_date((clock.now() - 2 * SECOND) // 1000)
    assert stored.get(Range="bytes=1-2", If_Range=earlier).status_code == 200


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain.bin", 'attachment; filename="plain.bin"'),
        ('a"b\\c.bin', "attachment; filename=\"a_b_c.bin\"; filename*=UTF-8''a%22b%5Cc.bin"),
        ("文档.bin", "attachment; filename=\"__.bin\"; filename*=UTF-8''%E6%96%87%E6%A1%A3.bin"),
        ("50%.bin", "attachment; filename=\"50_.bin\"; filename*=UTF-8''50%25.bin"),
    ],
)
def test_names_of_any_script_are_sent(api: Api, name: str, expected: str) -> None:
    person = api.person()
    tenant = api.tenant(person)
    node = api.upload(tenant, person, name, b"\0\1\2")
    response = api.get(f"{tenant}/files/{node['id']}/download", by=person)
    assert response.headers["Content-Disposition"] == expected


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 32, "inline"),
        (b"plain words", "inline"),
        (b"%PDF-1.7\n", "attachment"),
        (b"\0\1\2", "attachment"),
    ],
)
def test_only_safe_types_are_inline_in_the_own_origin(api: Api, content: bytes, kind: str) -> None:
    person = api.person()
    tenant = api.tenant(person)
    node = api.upload(tenant, person, "file", content)
    response = api.get(f"{tenant}/files/{node['id']}/download", by=person)
    assert response.headers["Content-Disposition"].startswith(kind)


@pytest.mark.parametrize("name", ["page.html", "image.svg", "page.xhtml", "script.js"])
def test_active_content_is_never_shown_in_our_origin(api: Api, name: str) -> None:
    person = api.person()
    tenant = api.tenant(person)
    node = api.upload(tenant, person, name, b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    response = api.get(f"{tenant}/files/{node['id']}/download", by=person)
    assert response.headers["Content-Disposition"].startswith("attachment")


def test_an_empty_file_is_downloaded_empty(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    node = api.upload(tenant, person, "empty", b"")
    path = f"{tenant}/files/{node['id']}/download"
    assert api.get(path, by=person).data == b""
    assert api.get(path, by=person, headers={"Range": "bytes=0-"}).status_code == 416


def test_a_folder_cannot_be_downloaded(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    folder: dict[str, Any] = api.folder(tenant, person, "folder")
    response = api.get(f"{tenant}/files/{folder['id']}/download", by=person)
    assert (response.status_code, error_code(response)) == (409, "error.not-a-file")


def test_controls_of_direction_hide_no_extension(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    name = "photo_\u202egpj.exe"
    node = api.upload(tenant, person, name, b"MZ")
    assert node["name"] == name
    for bundled in (False, True):
        path = f"{tenant}/files/{node['id']}/download"
        if bundled:
            bundle = api.post(f"{tenant}/multi-files-download", {"fileIds": [node["id"]]}, by=person)
            assert b"photo__gpj.exe" in bundle.data, bundle.text
            continue
        disposition = api.get(path, by=person).headers["Content-Disposition"]
        assert disposition == 'attachment; filename="photo__gpj.exe"'
