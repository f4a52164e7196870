"""The simulator keeps the rules of multipart uploads."""

from collections.abc import Callable
from typing import Any

import pytest

from strongroom_simulators.oss import OssSimulator
from strongroom_simulators.oss.crc64 import crc64, join

Send = Callable[..., Any]
PART = b"x" * 102_400


@pytest.fixture
def upload_id(send: Send) -> str:
    return str(send("POST", "key", query="uploads").xml.findtext("UploadId"))


@pytest.fixture
def put_part(send: Send, upload_id: str) -> Send:
    def put_part(number: int | str, body: bytes) -> Any:
        return send("PUT", "key", query=f"partNumber={number}&uploadId={upload_id}", body=body)

    return put_part


@pytest.fixture
def complete(send: Send, upload_id: str) -> Send:
    def complete(*parts: tuple[int, str]) -> Any:
        listed = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"
            for number, etag in parts
        )
        body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
        return send("POST", "key", query=f"uploadId={upload_id}", body=body)

    return complete


def test_parts_become_one_object(send: Send, put_part: Send, complete: Send) -> None:
    etags = [put_part(number, body).headers["ETag"] for number, body in ((1, PART), (7, b"end"))]
    answer = complete((1, etags[0]), (7, etags[1].strip('"')))
    assert answer.status == 200
    assert answer.xml.findtext("ETag", "").endswith('-2"')
    whole = send("GET", "key")
    assert whole.body == PART + b"end"
    assert whole.headers["x-oss-object-type"] == "Multipart"
    assert whole.headers["x-oss-hash-crc64ecma"] == answer.headers["x-oss-hash-crc64ecma"]


@pytest.mark.parametrize("cut", [0, 1, 8, 9])
def test_checksums_are_joined_without_the_bytes(cut: int) -> None:
    whole = b"123456789"
    head, tail = crc64(whole[:cut], 0), crc64(whole[cut:], 0)
    assert join(head, tail, len(whole) - cut) == crc64(whole, 0) == 0x995DC9BBDF1939FA


def test_nothing_is_visible_before_completion(send: Send, put_part: Send) -> None:
    put_part(1, PART)
    assert send("HEAD", "key").status == 404


def test_a_part_sent_again_replaces_the_first(send: Send, put_part: Send, complete: Send) -> None:
    put_part(1, b"first")
    complete((1, put_part(1, b"second").headers["ETag"]))
    assert send("GET", "key").body == b"second"


def test_parts_and_uploads_are_listed(send: Send, put_part: Send, upload_id: str) -> None:
    put_part(2, b"two")
    put_part(1, PART)
    parts = send("GET", "key", query=f"uploadId={upload_id}").xml
    assert [size.text for size in parts.findall("Part/Size")] == [str(len(PART)), "3"]
    uploads = send("GET", query="uploads").xml
    assert uploads.findtext("Upload/UploadId") == upload_id
    assert send("GET", query="prefix=other&uploads").xml.find("Upload") is None


def test_an_aborted_upload_is_gone(send: Send, put_part: Send, upload_id: str) -> None:
    put_part(1, PART)
    query = f"uploadId={upload_id}"
    assert send("DELETE", "key", query=query).status == 204
    assert put_part(2, PART).code == "NoSuchUpload"
    assert send("DELETE", "key", query=query).code == "NoSuchUpload"


def test_an_upload_is_completed_once(put_part: Send, complete: Send) -> None:
    etag = put_part(1, PART).headers["ETag"]
    assert complete((1, etag)).status == 200
    assert complete((1, etag)).code == "NoSuchUpload"


def test_an_upload_belongs_to_its_key(send: Send, upload_id: str) -> None:
    answer = send("PUT", "other", query=f"partNumber=1&uploadId={upload_id}", body=PART)
    assert (answer.status, answer.code) == (404, "NoSuchUpload")


@pytest.mark.parametrize("number", ["0", "10001", "one", ""])
def test_part_numbers_have_bounds(put_part: Send, number: str) -> None:
    assert put_part(number, PART).code == "InvalidArgument"


def test_a_manifest_must_be_right(put_part: Send, complete: Send) -> None:
    one, two = (put_part(number, PART).headers["ETag"] for number in (1, 2))
    assert complete((2, two), (1, one)).code == "InvalidPartOrder"
    assert complete((1, one), (1, one)).code == "InvalidPartOrder"
    assert complete((1, "0" * 32)).code == "InvalidPart"
    assert complete((1, one), (3, two)).code == "InvalidPart"
    assert complete().code == "MalformedXML"
    assert complete((1, "<")).code == "MalformedXML"
    assert complete((1, one), (2, two)).status == 200


def test_only_the_last_part_may_be_small(put_part: Send, complete: Send) -> None:
    small, large = put_part(1, PART[1:]).headers["ETag"], put_part(2, PART).headers["ETag"]
    answer = complete((1, small), (2, large))
    assert (answer.status, answer.code) == (400, "EntityTooSmall")
    assert complete((2, large)).status == 200


def test_a_part_may_be_copied_from_another_object(send: Send, upload_id: str, complete: Send) -> None:
    send("PUT", "source", body=b"0123456789")
    headers = {"x-oss-copy-source": "/files/source", "x-oss-copy-source-range": "bytes=3-5"}
    answer = send("PUT", "key", query=f"partNumber=1&uploadId={upload_id}", headers=headers)
    complete((1, answer.xml.findtext("ETag")))
    assert send("GET", "key").body == b"345"


def test_nothing_is_left_on_disk_but_the_objects(
    simulator: OssSimulator, send: Send, put_part: Send, complete: Send
) -> None:
    complete((1, put_part(1, PART).headers["ETag"]))
    send("PUT", "other", body=b"x")
    send("DELETE", "other")
    assert len(list(simulator._folder.iterdir())) == 1
