"""The S3 backend holds to the contract of storage backends."""

from collections.abc import Callable, Iterator

import pytest

from strongroom.testing.network import cut_answers
from strongroom.testing.storage import MEBIBYTE, StorageBackendContract
from strongroom_storage_s3.backend import S3Backend


class TestS3Backend(StorageBackendContract):
    large_size = 64 * MEBIBYTE
    appears_whole = True
    serves_signed_requests = True

    @pytest.fixture
    def backend(self, make_backend: Callable[..., S3Backend]) -> S3Backend:
        return make_backend()

    @pytest.fixture
    def away_backend(self, make_backend: Callable[..., S3Backend]) -> S3Backend:
        return make_backend(endpoint_url="http://127.0.0.1:1")

    @pytest.fixture
    def cut_backend(
        self, make_backend: Callable[..., S3Backend], endpoint_url: str
    ) -> Iterator[S3Backend]:
        with cut_answers(int(endpoint_url.rpartition(":")[2]), 500_000) as port:
            yield make_backend(endpoint_url=f"http://127.0.0.1:{port}")


class TestS3BackendWithObjectLock(StorageBackendContract):
    large_size = 64 * MEBIBYTE

    @pytest.fixture
    def backend(self, make_backend: Callable[..., S3Backend], locking_bucket: str) -> S3Backend:
        return make_backend(bucket=locking_bucket, object_lock_mode="compliance", object_lock_days=2)


class TestS3BackendBelowAPrefix(StorageBackendContract):
    large_size = 64 * MEBIBYTE

    @pytest.fixture
    def backend(self, make_backend: Callable[..., S3Backend]) -> S3Backend:
        return make_backend(prefix="/strongroom/files/")
