"""Clients with a signed URL and no library read and write exactly the object of the URL."""

import io
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen
from xml.etree import ElementTree as ET

import pytest

from strongroom.plugin_api.storage import ObjectNotFound, StorageError
from strongroom.testing.storage import new_key, read_all
from strongroom_simulators.oss import Account, OssSimulator
from strongroom_storage_oss.backend import OssBackend

MakeBackend = Callable[..., OssBackend]


@pytest.fixture
def simulator(clock: Any) -> Iterator[OssSimulator]:
    with OssSimulator(["files"], clock=clock) as server:
        yield server


@pytest.fixture
def key() -> str:
    return new_key()


def fetch(
    url: str, *, method: str = "GET", headers: Mapping[str, str] | None = None, body: bytes | None = None
) -> Any:
    return urlopen(Request(url, body, dict(headers or {}), method=method), timeout=10)


def refusal(url: str, **request: Any) -> tuple[int, str]:
    with pytest.raises(HTTPError) as caught:
        fetch(url, **request)
    with caught.value as answer:
        return answer.code, ET.fromstring(answer.read()).findtext("Code", "")


def test_a_download_url_returns_the_object_with_the_requested_headers(
    backend: OssBackend, key: str
) -> None:
    backend.put(key, io.BytesIO(b"signed"))
    wanted = {
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Disposition": "attachment; filename*=UTF-8''%E2%98%AD.txt",
        "Cache-Control": "private, max-age=60",
    }
    with fetch(backend.download_url(key, lifetime=60, headers=wanted)) as response:
        assert response.read() == b"signed"
        assert {name: response.headers[name] for name in wanted} == wanted


def test_a_download_url_serves_ranges(backend: OssBackend, key: str) -> None:
    backend.put(key, io.BytesIO(b"0123456789"))
    url = backend.download_url(key, lifetime=60, headers={})
    with fetch(url, headers={"Range": "bytes=3-5"}) as response:
        assert (response.status, response.read()) == (206, b"345")


def test_a_download_url_expires(backend: OssBackend, key: str, clock: Any) -> None:
    backend.put(key, io.BytesIO(b"signed"))
    url = backend.download_url(key, lifetime=60, headers={})
    clock.now += timedelta(seconds=59)
    with fetch(url) as response:
        assert response.read() == b"signed"
    clock.now += timedelta(seconds=5)
    assert refusal(url) == (403, "AccessDenied")


def test_a_download_url_of_the_far_future_is_not_valid_yet(
    backend: OssBackend, key: str, clock: Any
) -> None:
    clock.now -= timedelta(minutes=16)
    assert refusal(backend.download_url(key, lifetime=60, headers={})) == (403, "AccessDenied")


@pytest.mark.parametrize(
    ("part", "replacement"),
    [
        ("response-content-type=text", "response-content-type=html"),
        ("x-oss-expires=60", "x-oss-expires=6000"),
    ],
)
def test_a_download_url_cannot_be_changed(
    backend: OssBackend, key: str, part: str, replacement: str
) -> None:
    backend.put(key, io.BytesIO(b"signed"))
    url = backend.download_url(key, lifetime=60, headers={"Content-Type": "text"})
    assert part in url
    assert refusal(url.replace(part, replacement)) == (403, "SignatureDoesNotMatch")


def test_a_download_url_does_not_write(backend: OssBackend, key: str) -> None:
    backend.put(key, io.BytesIO(b"signed"))
    url = backend.download_url(key, lifetime=60, headers={})
    assert refusal(url, method="DELETE") == (403, "SignatureDoesNotMatch")


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"access_key_secret": "wrong"}, 403, "SignatureDoesNotMatch"),
        ({"region": "cn-shanghai"}, 400, "InvalidArgument"),
        ({"bucket": "another"}, 404, "NoSuchBucket"),
    ],
)
def test_a_url_signed_for_something_else_is_refused(
    make_backend: MakeBackend, key: str, changes: dict[str, str], status: int, code: str
) -> None:
    url = make_backend(**changes).download_url(key, lifetime=60, headers={})
    assert refusal(url) == (status, code)


@pytest.mark.parametrize("lifetime", ["0", "604801", "soon"])
def test_a_lifetime_out_of_bounds_is_refused_by_the_store(
    backend: OssBackend, key: str, lifetime: str
) -> None:
    url = backend.download_url(key, lifetime=60, headers={})
    changed = url.replace("x-oss-expires=60", f"x-oss-expires={lifetime}")
    assert refusal(changed) == (400, "InvalidArgument")


@pytest.mark.parametrize("lifetime", [1, 7 * 24 * 3600])
def test_one_second_and_seven_days_are_fine(backend: OssBackend, key: str, lifetime: int) -> None:
    backend.put(key, io.BytesIO(b"signed"))
    with fetch(backend.download_url(key, lifetime=lifetime, headers={})) as response:
        assert response.read() == b"signed"


@pytest.mark.parametrize("lifetime", [0, 7 * 24 * 3600 + 1])
def test_less_than_a_second_and_more_than_seven_days_are_refused_at_once(
    backend: OssBackend, key: str, lifetime: int
) -> None:
    with pytest.raises(StorageError, match="seven days"):
        backend.download_url(key, lifetime=lifetime, headers={})


def test_a_header_that_oss_cannot_send_is_refused_at_once(backend: OssBackend, key: str) -> None:
    with pytest.raises(StorageError, match="X-Robots-Tag"):
        backend.download_url(key, lifetime=60, headers={"X-Robots-Tag": "noindex"})


def test_an_upload_request_stores_only_its_object(backend: OssBackend, key: str) -> None:
    request = backend.upload_request(key, lifetime=60, size=5)
    with fetch(request.url, method=request.method, headers=request.headers, body=b"hello") as response:
        assert response.status == 200
    assert read_all(backend, key) == b"hello"


@pytest.mark.parametrize("body", [b"", b"hell", b"hello!"])
def test_an_upload_request_takes_no_other_size(backend: OssBackend, key: str, body: bytes) -> None:
    request = backend.upload_request(key, lifetime=60, size=5)
    headers = {**request.headers, "Content-Length": str(len(body))}
    answer = refusal(request.url, method=request.method, headers=headers, body=body)
    assert answer == (403, "SignatureDoesNotMatch")
    with pytest.raises(ObjectNotFound):
        backend.stat(key)


def test_an_upload_request_does_not_replace_an_object(backend: OssBackend, key: str) -> None:
    request = backend.upload_request(key, lifetime=60, size=5)
    fetch(request.url, method=request.method, headers=request.headers, body=b"first").close()
    answer = refusal(request.url, method=request.method, headers=request.headers, body=b"other")
    assert answer == (409, "FileAlreadyExists")
    assert read_all(backend, key) == b"first"


def test_an_upload_request_expires(backend: OssBackend, key: str, clock: Any) -> None:
    request = backend.upload_request(key, lifetime=60, size=5)
    clock.now += timedelta(seconds=65)
    fields = {"method": request.method, "headers": request.headers, "body": b"hello"}
    assert refusal(request.url, **fields) == (403, "AccessDenied")


def test_urls_name_the_public_endpoint(make_backend: MakeBackend, key: str) -> None:
    backend = make_backend(public_endpoint="https://oss-cn-hangzhou.aliyuncs.com", prefix="folder")
    url = urlsplit(backend.download_url(key, lifetime=60, headers={}))
    assert (url.hostname, url.path) == ("files.oss-cn-hangzhou.aliyuncs.com", f"/folder/{key}")
    assert parse_qs(url.query)["x-oss-signature-version"] == ["OSS4-HMAC-SHA256"]


def test_urls_have_the_bucket_in_the_path_if_configured(make_backend: MakeBackend, key: str) -> None:
    backend = make_backend(public_endpoint="https://oss.example.com", addressing="path")
    url = urlsplit(backend.download_url(key, lifetime=60, headers={}))
    assert (url.hostname, url.path) == ("oss.example.com", f"/files/{key}")


class TestATemporaryAccount:
    @pytest.fixture
    def simulator(self) -> Iterator[OssSimulator]:
        with OssSimulator(["files"], account=Account("me", "mine", "a/token+=")) as server:
            yield server

    def test_its_urls_carry_its_token(self, make_backend: MakeBackend, key: str) -> None:
        backend = make_backend(security_token="a/token+=")
        backend.put(key, io.BytesIO(b"signed"))
        with fetch(backend.download_url(key, lifetime=60, headers={})) as response:
            assert response.read() == b"signed"

    def test_without_its_token_it_is_refused(self, make_backend: MakeBackend, key: str) -> None:
        url = make_backend(security_token=None).download_url(key, lifetime=60, headers={})
        assert refusal(url) == (403, "InvalidSecurityToken")


def test_signing_sends_no_request(backend: OssBackend, simulator: OssSimulator, key: str) -> None:
    backend.download_url(key, lifetime=60, headers={})
    backend.upload_request(key, lifetime=60, size=1)
    assert simulator.requests.entries() == []
