"""The OSS backend holds to the contract of storage backends, below a prefix as well."""

from collections.abc import Callable, Iterator

import pytest

from strongroom.testing.network import cut_answers
from strongroom.testing.storage import StorageBackendContract
from strongroom_simulators.oss import OssSimulator
from strongroom_storage_oss.backend import OssBackend


class TestOssBackend(StorageBackendContract):
    appears_whole = True
    serves_signed_requests = True

    @pytest.fixture
    def backend(self, make_backend: Callable[..., OssBackend]) -> OssBackend:
        return make_backend()

    @pytest.fixture
    def cut_backend(
        self, make_backend: Callable[..., OssBackend], simulator: OssSimulator
    ) -> Iterator[OssBackend]:
        with cut_answers(int(simulator.endpoint.rpartition(":")[2]), 500_000) as port:
            yield make_backend(endpoint=f"http://127.0.0.1:{port}")


class TestOssBackendBelowAPrefix(StorageBackendContract):
    @pytest.fixture
    def backend(self, make_backend: Callable[..., OssBackend]) -> OssBackend:
        return make_backend(prefix="/some/folder/")
