"""What the backend sends to each service."""

import io
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from strongroom.testing.storage import new_key, read_all
from strongroom_storage_s3.backend import S3Backend
from strongroom_storage_s3.options import S3Options
from strongroom_storage_s3.presets import PRESETS

OWN_SERVER = "https://s3.example.com"
PLACES: dict[str, tuple[dict[str, str], str, str, str]] = {
    "cos": ({"region": "ap-guangzhou"}, "files.cos.ap-guangzhou.myqcloud.com", "/ab", "ap-guangzhou"),
    "obs": ({"region": "cn-north-4"}, "files.obs.cn-north-4.myhuaweicloud.com", "/ab", "cn-north-4"),
    "minio": ({"endpoint_url": OWN_SERVER}, "s3.example.com", "/files/ab", "us-east-1"),
    "ceph": ({"endpoint_url": OWN_SERVER}, "s3.example.com", "/files/ab", "default"),
    "r2": ({"account": "0ab1"}, "0ab1.r2.cloudflarestorage.com", "/files/ab", "auto"),
    "b2": ({"region": "us-west-004"}, "files.s3.us-west-004.backblazeb2.com", "/ab", "us-west-004"),
}


def made(service: str, **options: Any) -> S3Backend:
    return S3Backend(
        S3Options(
            bucket="files", service=service, access_key_id="key", secret_access_key="secret", **options
        )
    )


def test_each_service_is_tested() -> None:
    assert PLACES.keys() == PRESETS.keys()


@pytest.mark.parametrize("service", PLACES)
def test_signed_urls_lead_to_the_service(service: str) -> None:
    options, host, path, region = PLACES[service]
    backend = made(service, **options)
    url = urlsplit(backend.download_url("ab", lifetime=60, headers={}))
    assert (url.scheme, url.hostname, url.path) == ("https", host, path)
    signed = parse_qs(url.query)
    assert signed["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    assert signed["X-Amz-Credential"][0].split("/")[2:] == [region, "s3", "aws4_request"]
    backend.close()


@pytest.mark.parametrize("service", PLACES)
def test_only_a_service_that_refuses_to_replace_is_asked_to(service: str) -> None:
    backend = made(service, **PLACES[service][0])
    is_asked = "If-None-Match" in backend.upload_request("ab", lifetime=60, size=1).headers
    assert is_asked == backend.write_once == (service == "r2")
    backend.close()


@pytest.mark.parametrize("service", PLACES)
def test_objects_are_sent_without_checksums_of_aws(
    service: str, make_backend: Callable[..., S3Backend]
) -> None:
    backend, sent = make_backend(service=service, addressing_style="path"), list[set[str]]()
    backend._client.get().meta.events.register(
        "before-send.s3", lambda request, **_: sent.append({name.lower() for name in request.headers})
    )
    key = new_key()
    backend.put(key, io.BytesIO(b"content"))
    assert read_all(backend, key) == b"content"
    spoken = set().union(*sent)
    assert "authorization" in spoken
    assert [name for name in spoken if "checksum" in name or "trailer" in name] == []


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"service": "cos"}, "region: cos needs the region"),
        ({"service": "minio"}, "endpoint_url: minio needs the URL"),
        ({"service": "ceph", "region": "x"}, "endpoint_url: ceph needs the URL"),
        ({"service": "r2"}, "account: r2 needs the account id"),
    ],
)
def test_what_the_service_needs_is_required(options: dict[str, str], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        S3Options(bucket="files", **options)  # type: ignore[arg-type]  # texts only


def test_what_the_operator_sets_has_precedence() -> None:
    backend = made(
        "cos",
        region="ap-guangzhou",
        endpoint_url=OWN_SERVER,
        addressing_style="path",
        write_once=True,
    )
    url = urlsplit(backend.download_url("ab", lifetime=60, headers={}))
    assert (url.hostname, url.path) == ("s3.example.com", "/files/ab")
    assert backend.write_once
    backend.close()
