"""The simulator answers as the service documents it, for every client."""

import base64
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree as ET

import pytest

from strongroom.testing.storage import PatternSource
from strongroom_simulators.oss import OssSimulator
from strongroom_storage_oss.backend import OssBackend
from strongroom_storage_oss.options import OssOptions

Send = Callable[..., Any]
CHECK = b"123456789"
CRC64_OF_CHECK = str(0x995DC9BBDF1939FA)


def md5(data: bytes) -> str:
    return base64.b64encode(hashlib.md5(data).digest()).decode()


class TestObjects:
    def test_an_upload_is_answered_with_its_digests(self, send: Send) -> None:
        answer = send("PUT", "key", body=CHECK)
        assert answer.status == 200
        assert answer.headers["ETag"] == f'"{hashlib.md5(CHECK).hexdigest().upper()}"'
        assert answer.headers["x-oss-hash-crc64ecma"] == CRC64_OF_CHECK
        assert answer.headers["x-oss-request-id"]

    def test_a_download_repeats_the_headers_of_the_upload(self, send: Send) -> None:
        headers = {"Content-Type": "text/plain", "x-oss-meta-owner": "me", "Cache-Control": "no-store"}
        send("PUT", "key", body=CHECK, headers=headers)
        answer = send("GET", "key")
        assert (answer.status, answer.body) == (200, CHECK)
        assert headers.items() <= answer.headers.items()
        assert answer.headers["x-oss-object-type"] == "Normal"
        assert answer.headers["Last-Modified"].endswith("GMT")

    def test_a_head_has_the_headers_and_no_body(self, send: Send) -> None:
        send("PUT", "key", body=CHECK)
        answer = send("HEAD", "key")
        assert (answer.status, answer.headers["Content-Length"], answer.body) == (200, "9", b"")

    @pytest.mark.parametrize("key", ["a b", "ü/☭", "100%25", "a+b", "a//b/", "?q=1&r#f", "'\"<&>"])
    def test_keys_may_hold_any_character(self, send: Send, key: str) -> None:
        assert send("PUT", key, body=CHECK).status == 200
        assert send("GET", key).body == CHECK
        names = send("GET", query="list-type=2").xml.findall("Contents/Key")
        assert [name.text for name in names] == [key]

    def test_a_chunked_body_is_put_together(self, send: Send) -> None:
        assert send("PUT", "key", body=iter([b"123", b"456", b"789"])).status == 200
        assert send("GET", "key").body == CHECK

    def test_a_digest_is_checked(self, send: Send) -> None:
        assert send("PUT", "key", body=CHECK, headers={"Content-MD5": md5(CHECK)}).status == 200
        for wrong in (md5(b"other"), "no digest"):
            answer = send("PUT", "other", body=CHECK, headers={"Content-MD5": wrong})
            assert (answer.status, answer.code) == (400, "InvalidDigest")
        assert send("HEAD", "other").status == 404

    def test_forbidding_to_overwrite_keeps_the_object(self, send: Send) -> None:
        headers = {"x-oss-forbid-overwrite": "true"}
        assert send("PUT", "key", body=b"first", headers=headers).status == 200
        answer = send("PUT", "key", body=b"second", headers=headers)
        assert (answer.status, answer.code) == (409, "FileAlreadyExists")
        assert send("GET", "key").body == b"first"

    def test_overwriting_is_allowed_otherwise(self, send: Send) -> None:
        send("PUT", "key", body=b"first")
        send("PUT", "key", body=b"second")
        assert send("GET", "key").body == b"second"

    def test_a_missing_object_is_no_such_key(self, send: Send) -> None:
        answer = send("GET", "key")
        assert (answer.status, answer.code, answer.xml.findtext("Key")) == (404, "NoSuchKey", "key")

    def test_a_head_has_its_error_in_a_header(self, send: Send) -> None:
        answer = send("HEAD", "key")
        error = ET.fromstring(base64.b64decode(answer.headers["x-oss-err"]))
        assert (answer.status, answer.body, error.findtext("Code")) == (404, b"", "NoSuchKey")

    def test_deleting_is_answered_the_same_whether_it_was_there_or_not(self, send: Send) -> None:
        send("PUT", "key", body=CHECK)
        assert [send("DELETE", "key").status for _ in range(2)] == [204, 204]
        assert send("GET", "key").status == 404

    def test_an_unknown_bucket_is_no_such_bucket(self, send: Send) -> None:
        answer = send("GET", "key", bucket="another")
        assert (answer.status, answer.code) == (404, "NoSuchBucket")

    @pytest.mark.parametrize(
        ("method", "query"), [("GET", "acl"), ("GET", "tagging"), ("POST", "append")]
    )
    def test_an_operation_it_does_not_know_is_not_taken_for_another(
        self, send: Send, method: str, query: str
    ) -> None:
        send("PUT", "key", body=CHECK)
        answer = send(method, "key", query=query)
        assert (answer.status, answer.code) == (501, "NotImplemented")

    def test_a_copy_keeps_the_headers_unless_they_are_replaced(self, send: Send) -> None:
        send("PUT", "ü", body=CHECK, headers={"x-oss-meta-owner": "me"})
        source = {"x-oss-copy-source": f"/files/{quote('ü')}"}
        answer = send("PUT", "copy", headers=source)
        assert (answer.status, answer.xml.tag) == (200, "CopyObjectResult")
        send("PUT", "replaced", headers={**source, "x-oss-metadata-directive": "REPLACE"})
        assert send("GET", "copy").body == CHECK
        assert send("HEAD", "copy").headers["x-oss-meta-owner"] == "me"
        assert "x-oss-meta-owner" not in send("HEAD", "replaced").headers

    @pytest.mark.parametrize(
        ("source", "code"), [("/files/none", "NoSuchKey"), ("/others/key", "InvalidArgument")]
    )
    def test_only_existing_objects_are_copied(self, send: Send, source: str, code: str) -> None:
        assert send("PUT", "copy", headers={"x-oss-copy-source": source}).code == code


class TestRanges:
    @pytest.fixture(autouse=True)
    def stored(self, send: Send) -> None:
        send("PUT", "key", body=b"0123456789")

    @pytest.mark.parametrize("standard", [True, False])
    @pytest.mark.parametrize(
        ("wanted", "body", "content_range"),
        [
            ("0-0", b"0", "bytes 0-0/10"),
            ("3-5", b"345", "bytes 3-5/10"),
            ("7-", b"789", "bytes 7-9/10"),
            ("-2", b"89", "bytes 8-9/10"),
        ],
    )
    def test_a_range_within_the_object_is_returned(
        self, send: Send, standard: bool, wanted: str, body: bytes, content_range: str
    ) -> None:
        answer = send("GET", "key", headers=range_headers(wanted, standard=standard))
        assert (answer.status, answer.body) == (206, body)
        assert answer.headers["Content-Range"] == content_range

    @pytest.mark.parametrize("wanted", ["5-10", "10-", "20-30", "-11"])
    def test_a_range_beyond_the_end_gives_the_whole_object_by_default(
        self, send: Send, wanted: str
    ) -> None:
        answer = send("GET", "key", headers=range_headers(wanted, standard=False))
        assert (answer.status, answer.body) == (200, b"0123456789")

    @pytest.mark.parametrize(("wanted", "body"), [("5-10", b"56789"), ("-11", b"0123456789")])
    def test_a_range_beyond_the_end_is_cut_by_the_standard(
        self, send: Send, wanted: str, body: bytes
    ) -> None:
        answer = send("GET", "key", headers=range_headers(wanted, standard=True))
        assert (answer.status, answer.body) == (206, body)

    @pytest.mark.parametrize("wanted", ["10-", "20-30", "-0"])
    def test_a_range_behind_the_end_is_invalid_by_the_standard(self, send: Send, wanted: str) -> None:
        answer = send("GET", "key", headers=range_headers(wanted, standard=True))
        assert (answer.status, answer.code) == (416, "InvalidRange")

    @pytest.mark.parametrize("wanted", ["-", "a-b", "0-1,3-4"])
    def test_other_than_single_ranges_are_ignored(self, send: Send, wanted: str) -> None:
        answer = send("GET", "key", headers=range_headers(wanted, standard=True))
        assert (answer.status, answer.body) == (200, b"0123456789")


def range_headers(wanted: str, *, standard: bool) -> dict[str, str]:
    return {"Range": f"bytes={wanted}"} | ({"x-oss-range-behavior": "standard"} if standard else {})


def test_a_bucket_may_stand_in_the_host(
    simulator: OssSimulator, send: Send, exchange: Send, sign_by_hand: Send
) -> None:
    send("PUT", "some/key", body=CHECK)
    target, headers = sign_by_hand("GET", "some/key").sign(simulator.endpoint)
    virtual = {**headers, "Host": "files.oss-cn-hangzhou.aliyuncs.com"}
    assert exchange("GET", target.removeprefix("/files"), virtual).body == CHECK


def test_a_body_that_ends_early_is_not_stored(
    simulator: OssSimulator, send: Send, sign_by_hand: Send
) -> None:
    target, headers = sign_by_hand("PUT", "key").sign(simulator.endpoint)
    connection = HTTPConnection(urlsplit(simulator.endpoint).netloc, timeout=10)
    connection.request("PUT", target, headers={**headers, "Content-Length": "100"})
    connection.sock.sendall(b"only this")
    connection.sock.shutdown(1)
    response = connection.getresponse()
    assert (response.status, b"IncompleteBody" in response.read()) == (400, True)
    connection.close()
    assert send("HEAD", "key").status == 404


def test_a_body_must_say_where_it_ends(
    simulator: OssSimulator, exchange: Send, sign_by_hand: Send
) -> None:
    assert exchange("PUT", "/files/key", {"Content-Length": "many"}).status == 400
    target, headers = sign_by_hand("PUT", "key").sign(simulator.endpoint)
    connection = HTTPConnection(urlsplit(simulator.endpoint).netloc, timeout=10)
    connection.putrequest("PUT", target)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    assert (response.status, b"MissingContentLength" in response.read()) == (411, True)
    connection.close()


def test_a_connection_serves_one_request_after_another(
    simulator: OssSimulator, sign_by_hand: Send
) -> None:
    connection = HTTPConnection(urlsplit(simulator.endpoint).netloc, timeout=10)
    answers = []
    for secret in ("wrong", "simulator-secret"):
        target, headers = sign_by_hand("PUT", "key", secret=secret).sign(simulator.endpoint)
        connection.request("PUT", target, b"x" * 300_000, headers)
        response = connection.getresponse()
        response.read()
        answers.append((response.status, response.will_close))
    connection.close()
    assert answers == [(403, False), (200, False)]


class TestTheLargestRequest:
    @pytest.fixture
    def simulator(self) -> Iterator[OssSimulator]:
        with OssSimulator(["files"], largest_request=100 * 1024) as server:
            yield server

    def test_more_than_it_is_not_taken(self, send: Send) -> None:
        answer = send("PUT", "key", body=b"x" * (100 * 1024 + 1))
        assert (answer.status, answer.code) == (400, "EntityTooLarge")
        assert send("HEAD", "key").status == 404

    def test_more_than_it_is_not_copied_at_once(self, backend: OssBackend, send: Send) -> None:
        backend.put("key", PatternSource(200 * 1024))
        answer = send("PUT", "copy", headers={"x-oss-copy-source": "/files/key"})
        assert (answer.status, answer.code) == (400, "EntityTooLarge")

    @pytest.fixture
    def options(self, options: OssOptions) -> OssOptions:
        return replace(options, part_size=100 * 1024)


def test_the_objects_are_gone_with_the_simulator() -> None:
    with OssSimulator(["files"]) as simulator:
        folder = simulator._folder
        assert folder.is_dir()
    assert not folder.exists()
