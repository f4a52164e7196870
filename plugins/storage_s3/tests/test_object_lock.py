"""Objects are locked as they are written, and the core leaves them until the lock ends."""

import io
from collections.abc import Callable
from typing import Any

import pytest

from strongroom.plugin_api.storage import NO_END, ObjectLock, ServerSideCopy
from strongroom_storage_s3.backend import S3Backend
from strongroom_storage_s3.options import MEBIBYTE, S3Options

KEY = "ab/locked"


@pytest.fixture
def locking(make_backend: Callable[..., S3Backend], locking_bucket: str) -> S3Backend:
    return make_backend(bucket=locking_bucket, object_lock_mode="compliance", object_lock_days=2)


def test_an_object_is_locked(locking: S3Backend, owner: Any) -> None:
    locking.put(KEY, io.BytesIO(b"x"))
    found = owner.head_object(Bucket=locking.options.bucket, Key=KEY)
    assert found["ObjectLockMode"] == "COMPLIANCE"
    until = int(found["ObjectLockRetainUntilDate"].timestamp() * 1000)
    assert locking.locked_until(KEY) == until
    version = {"Bucket": locking.options.bucket, "Key": KEY, "VersionId": found["VersionId"]}
    with pytest.raises(owner.exceptions.ClientError, match="AccessDenied"):
        owner.delete_object(**version)


def test_a_large_object_is_locked_by_the_request_that_begins_it(locking: S3Backend) -> None:
    """The server of these tests ignores the headers of multipart uploads, so they are examined."""
    sent = []

    def examine(request: Any, **_: Any) -> None:
        sent.append({name.lower(): value for name, value in request.headers.items()})

    events = locking._client.get().meta.events
    events.register("before-send.s3.CreateMultipartUpload", examine)
    locking.put(KEY, io.BytesIO(bytes(9 * MEBIBYTE)))
    (headers,) = sent
    assert headers["x-amz-object-lock-mode"] in ("COMPLIANCE", b"COMPLIANCE")
    assert headers["x-amz-object-lock-retain-until-date"]


def test_a_legal_hold_has_no_end(locking: S3Backend, owner: Any) -> None:
    locking.put(KEY, io.BytesIO(b"x"))
    place = {"Bucket": locking.options.bucket, "Key": KEY}
    owner.put_object_legal_hold(**place, LegalHold={"Status": "ON"})
    assert locking.locked_until(KEY) == NO_END


def test_only_storages_with_the_option_lock(backend: S3Backend, locking: S3Backend) -> None:
    assert backend.capability(ObjectLock) is None
    backend.put(KEY, io.BytesIO(b"x"))
    assert backend.locked_until(KEY) is None
    assert locking.capability(ObjectLock) is locking
    assert locking.capability(ServerSideCopy) is None
    # A signed upload would not be locked.
    assert backend.write_once
    assert not locking.write_once


@pytest.mark.parametrize("options", [{"object_lock_days": 1}, {"object_lock_mode": "governance"}])
def test_mode_and_days_belong_together(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="object_lock_days: needs object_lock_mode"):
        S3Options(bucket="files", **options)
