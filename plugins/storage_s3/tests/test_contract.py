"""The S3 backend holds to the contract of storage backends."""

from collections.abc import Callable

import pytest

from strongroom.testing.storage import MEBIBYTE, StorageBackendContract
from strongroom_storage_s3.backend import S3Backend


class TestS3Backend(StorageBackendContract):
    large_size = 64 * MEBIBYTE

    @pytest.fixture
    def backend(self, make_backend: Callable[..., S3Backend]) -> S3Backend:
        return make_backend()


class TestS3BackendBelowAPrefix(StorageBackendContract):
    large_size = 64 * MEBIBYTE

    @pytest.fixture
    def backend(self, make_backend: Callable[..., S3Backend]) -> S3Backend:
        return make_backend(prefix="/strongroom/files/")
