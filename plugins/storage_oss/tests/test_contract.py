"""The OSS backend holds to the contract of storage backends, below a prefix as well."""

from collections.abc import Callable

import pytest

from strongroom.testing.storage import StorageBackendContract
from strongroom_storage_oss.backend import OssBackend


class TestOssBackend(StorageBackendContract):
    appears_whole = True
    serves_signed_requests = True

    @pytest.fixture
    def backend(self, make_backend: Callable[..., OssBackend]) -> OssBackend:
        return make_backend()


class TestOssBackendBelowAPrefix(StorageBackendContract):
    @pytest.fixture
    def backend(self, make_backend: Callable[..., OssBackend]) -> OssBackend:
        return make_backend(prefix="/some/folder/")
