"""Guarantees of the S3 backend beyond the contract."""

import io
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from strongroom.plugin_api.storage import ObjectNotFound, StorageError, StorageUnavailable
from strongroom.testing.storage import MEBIBYTE, PatternSource, SourceBroke, new_key, read_all
from strongroom_storage_s3 import plugin
from strongroom_storage_s3.backend import S3Backend
from strongroom_storage_s3.options import S3Options

LEAST_PART = 5 * MEBIBYTE


@pytest.fixture
def backend(make_backend: Callable[..., S3Backend]) -> S3Backend:
    return make_backend(part_bytes=LEAST_PART)


@pytest.fixture
def hundred_mebibytes(backend: S3Backend) -> str:
    key = new_key()
    backend.put(key, PatternSource(100 * MEBIBYTE))
    return key


def test_the_plugin_offers_the_backend() -> None:
    assert plugin.register_storage_backends() == [S3Backend]


def test_every_option_is_in_the_readme() -> None:
    readme = Path(__file__).parent.with_name("README.md").read_text()
    documented = re.findall(r"^\| `(\w+)` \|", readme, re.MULTILINE)
    assert documented == [field.name for field in fields(S3Options)]


def test_boto3_is_imported_by_those_who_use_the_store_only() -> None:
    program = (
        "import sys; from strongroom_storage_s3.plugin import S3Backend;"
        "S3Backend(S3Backend.options_type(bucket='files')).close();"
        "print(sorted({'boto3', 'botocore', 'fs'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"


def test_storing_a_mebibyte_is_one_request(backend: S3Backend, requests_sent: Counter[str]) -> None:
    backend.put(new_key(), PatternSource(MEBIBYTE))
    assert requests_sent == {"PutObject": 1}


def test_a_small_range_of_a_large_object_is_one_request(
    backend: S3Backend, hundred_mebibytes: str, requests_sent: Counter[str]
) -> None:
    assert len(read_all(backend, hundred_mebibytes, start=60 * MEBIBYTE, length=1024)) == 1024
    assert requests_sent == {"GetObject": 1}


def test_stat_copy_and_delete_are_one_request_each(
    backend: S3Backend, requests_sent: Counter[str]
) -> None:
    key = new_key()
    backend.put(key, io.BytesIO(b"x"))
    requests_sent.clear()
    backend.stat(key)
    backend.copy(key, new_key())
    backend.delete(key)
    assert requests_sent == {"HeadObject": 1, "CopyObject": 1, "DeleteObject": 1}


def test_a_scan_is_a_request_for_a_thousand_objects(
    backend: S3Backend, requests_sent: Counter[str]
) -> None:
    for _ in range(3):
        backend.put(new_key(), io.BytesIO(b"x"))
    requests_sent.clear()
    assert len(list(backend.scan())) == 3
    assert requests_sent == {"ListObjectsV2": 1}


def test_one_part_is_one_request_and_a_byte_more_is_two_parts(
    backend: S3Backend, requests_sent: Counter[str]
) -> None:
    backend.put(new_key(), PatternSource(LEAST_PART))
    assert requests_sent == {"PutObject": 1}
    requests_sent.clear()
    backend.put(new_key(), PatternSource(LEAST_PART + 1))
    assert requests_sent == {"CreateMultipartUpload": 1, "UploadPart": 2, "CompleteMultipartUpload": 1}


def test_the_parts_grow_with_a_size_that_would_need_too_many(
    backend: S3Backend, requests_sent: Counter[str]
) -> None:
    backend.put(new_key(), PatternSource(LEAST_PART + 1), size=60_000 * MEBIBYTE)
    assert requests_sent == {"PutObject": 1}


def test_a_broken_source_leaves_no_unfinished_upload(
    backend: S3Backend, client: Any, requests_sent: Counter[str]
) -> None:
    with pytest.raises(SourceBroke):
        backend.put(new_key(), PatternSource(3 * LEAST_PART, breaks=True))
    assert requests_sent["CreateMultipartUpload"] == requests_sent["AbortMultipartUpload"] == 1
    assert "Uploads" not in client.list_multipart_uploads(Bucket=backend.options.bucket)


def test_a_storage_error_of_the_source_is_not_taken_for_one_of_the_store(backend: S3Backend) -> None:
    class OtherStore:
        error = StorageUnavailable("another store is down", retry_after=99)

        def read(self, size: int, /) -> bytes:
            raise self.error

    with pytest.raises(StorageUnavailable) as caught:
        backend.put(new_key(), OtherStore())
    assert caught.value is OtherStore.error


@pytest.mark.parametrize(("start", "length"), [(0, 10), (0, 0), (5, None), (5, 10)])
def test_a_range_of_an_empty_object_is_empty(backend: S3Backend, start: int, length: int | None) -> None:
    key = new_key()
    backend.put(key, io.BytesIO(b""))
    assert read_all(backend, key, start=start, length=length) == b""


def test_an_empty_range_of_nothing_is_not_found(backend: S3Backend) -> None:
    with pytest.raises(ObjectNotFound):
        read_all(backend, new_key(), length=0)


def test_the_time_of_change_is_in_milliseconds(backend: S3Backend) -> None:
    key = new_key()
    backend.put(key, io.BytesIO(b"x"))
    modified_at = backend.stat(key).modified_at
    assert modified_at is not None
    assert abs(modified_at / 1000 - time.time()) < 60
    assert [stat.modified_at for stat in backend.scan()] == [pytest.approx(modified_at, abs=1000)]


def test_a_prefix_keeps_two_backends_of_one_bucket_apart(
    make_backend: Callable[..., S3Backend], client: Any
) -> None:
    one, other = make_backend(prefix="one"), make_backend(prefix="/other/")
    one.put("aa/aa", io.BytesIO(b"one"))
    other.put("aa/aa", io.BytesIO(b"other"))
    assert [stat.key for stat in one.scan()] == ["aa/aa"]
    assert read_all(other, "aa/aa") == b"other"
    listed = client.list_objects_v2(Bucket=one.options.bucket)["Contents"]
    assert [item["Key"] for item in listed] == ["one/aa/aa", "other/aa/aa"]


def test_markers_of_folders_are_no_objects(backend: S3Backend, client: Any) -> None:
    client.put_object(Bucket=backend.options.bucket, Key="aa/")
    assert list(backend.scan()) == []


def test_the_limits_reach_the_client(make_backend: Callable[..., S3Backend]) -> None:
    backend = make_backend(connect_timeout=1.5, read_timeout=7, max_attempts=4, max_connections=5)
    config = backend._client.get().meta.config
    assert (config.connect_timeout, config.read_timeout, config.max_pool_connections) == (1.5, 7, 5)
    assert config.retries == {"mode": "standard", "total_max_attempts": 4}


def test_credentials_come_from_the_usual_chain(
    make_backend: Callable[..., S3Backend], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of-the-environment")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "likewise")
    backend = make_backend(access_key_id=None, secret_access_key=None)
    assert "of-the-environment" in backend.download_url("aa", lifetime=60, headers={})


def test_temporary_credentials_sign_with_their_token(make_backend: Callable[..., S3Backend]) -> None:
    backend = make_backend(session_token="for-an-hour")
    url = backend.download_url("aa", lifetime=60, headers={})
    assert "X-Amz-Security-Token=for-an-hour" in url


def test_an_access_key_without_its_secret_is_refused(make_backend: Callable[..., S3Backend]) -> None:
    with pytest.raises(ValueError, match="secret_access_key: must be set together with access_key_id"):
        make_backend(access_key_id="without-its-secret", secret_access_key=None)


def test_credentials_that_are_missing_are_a_storage_error(
    make_backend: Callable[..., S3Backend],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    backend = make_backend(access_key_id=None, secret_access_key=None)
    with pytest.raises(StorageError, match="credentials"):
        backend.stat(new_key())
