"""What clients do with signed URLs, without the server."""

import io
from collections.abc import Callable
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import pytest

from strongroom.plugin_api.storage import SignedRequest, StorageError
from strongroom.testing.storage import new_key, read_all
from strongroom_storage_s3.backend import S3Backend


def send(request: SignedRequest, content: bytes) -> int:
    headers = dict(request.headers)
    with urlopen(Request(request.url, content, headers, method=request.method), timeout=10) as answer:
        return int(answer.status)


def query(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def test_a_signed_download_returns_the_object_with_the_requested_headers(backend: S3Backend) -> None:
    key = new_key()
    backend.put(key, io.BytesIO(b"for everybody with the URL"))
    headers = {"Content-Type": "text/plain", "content-disposition": 'attachment; filename="a b.txt"'}
    url = backend.download_url(key, lifetime=60, headers=headers)
    with urlopen(url, timeout=10) as answer:
        assert answer.read() == b"for everybody with the URL"
        assert answer.headers["Content-Type"] == "text/plain"
        assert answer.headers["Content-Disposition"] == 'attachment; filename="a b.txt"'


def test_without_the_signature_nothing_is_returned(backend: S3Backend) -> None:
    key = new_key()
    backend.put(key, io.BytesIO(b"not for everybody"))
    url = backend.download_url(key, lifetime=60, headers={})
    with pytest.raises(HTTPError) as caught, urlopen(url.partition("?")[0], timeout=10):
        pass
    assert caught.value.code == 403
    caught.value.close()


@pytest.mark.parametrize("region", ["eu-central-1", "us-east-1"])
def test_signatures_are_of_the_fourth_version_for_region_and_lifetime(
    make_backend: Callable[..., S3Backend], region: str
) -> None:
    signed = query(make_backend(region=region).download_url(new_key(), lifetime=90, headers={}))
    assert signed["X-Amz-Algorithm"] == "AWS4-HMAC-SHA256"
    assert signed["X-Amz-Expires"] == "90"
    assert signed["X-Amz-Credential"].split("/")[2:] == [region, "s3", "aws4_request"]


def test_a_header_that_s3_does_not_support_is_refused(backend: S3Backend) -> None:
    with pytest.raises(StorageError, match="Content-Security-Policy"):
        backend.download_url(new_key(), lifetime=60, headers={"Content-Security-Policy": "sandbox"})


def test_a_lifetime_above_seven_days_is_refused(backend: S3Backend) -> None:
    with pytest.raises(StorageError, match="604800"):
        backend.download_url(new_key(), lifetime=604_801, headers={})


def test_a_signed_upload_stores_the_object(backend: S3Backend) -> None:
    key = new_key()
    request = backend.upload_request(key, lifetime=60, size=9)
    assert send(request, b"from afar") == 200
    assert read_all(backend, key) == b"from afar"


def test_a_signed_upload_is_bound_to_its_size_and_type(backend: S3Backend) -> None:
    request = backend.upload_request(new_key(), lifetime=60, size=9)
    signed = query(request.url)["X-Amz-SignedHeaders"].split(";")
    assert {"content-length", "content-type", "if-none-match"} < set(signed)
    assert request.headers["Content-Length"] == "9"


def test_a_signed_upload_never_replaces_an_object(backend: S3Backend) -> None:
    key = new_key()
    request = backend.upload_request(key, lifetime=60, size=5)
    send(request, b"first")
    with pytest.raises(HTTPError) as caught:
        send(request, b"other")
    assert caught.value.code == 412
    caught.value.close()
    assert read_all(backend, key) == b"first"


def test_stores_without_conditions_can_be_spared_them(make_backend: Callable[..., S3Backend]) -> None:
    request = make_backend(write_once=False).upload_request(new_key(), lifetime=60, size=5)
    assert "If-None-Match" not in request.headers
    assert "if-none-match" not in query(request.url)["X-Amz-SignedHeaders"]
    assert send(request, b"bytes") == 200


@pytest.mark.parametrize(
    ("style", "host", "path"),
    [
        ("virtual", "files.s3.example.com", "/aa/bb"),
        ("path", "s3.example.com", "/files/aa/bb"),
    ],
)
def test_the_bucket_stands_where_the_addressing_style_says(
    make_backend: Callable[..., S3Backend], style: str, host: str, path: str
) -> None:
    backend = make_backend(bucket="files", endpoint_url="https://s3.example.com", addressing_style=style)
    url = urlsplit(backend.download_url("aa/bb", lifetime=60, headers={}))
    assert (url.hostname, url.path) == (host, path)


def test_clients_are_sent_to_the_public_endpoint(make_backend: Callable[..., S3Backend]) -> None:
    backend = make_backend(public_endpoint_url="https://files.example.com:9000", addressing_style="path")
    download = backend.download_url("aa", lifetime=60, headers={})
    upload = backend.upload_request("aa", lifetime=60, size=1).url
    assert {urlsplit(url).netloc for url in (download, upload)} == {"files.example.com:9000"}
    assert backend.put("aa", io.BytesIO(b"x")) == 1


def test_without_an_endpoint_it_is_aws_in_the_region(make_backend: Callable[..., S3Backend]) -> None:
    backend = make_backend(bucket="files", endpoint_url=None)
    url = urlsplit(backend.download_url("aa", lifetime=60, headers={}))
    assert url.hostname in {"files.s3.eu-central-1.amazonaws.com", "files.s3.amazonaws.com"}
