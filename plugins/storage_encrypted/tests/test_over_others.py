"""The encrypted storage holds to its contract over the other storages of this repository."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.stores import ObjectStore, s3_store

from strongroom.content.storage.namespaces import Namespace
from strongroom.plugin_api import NoOptions
from strongroom.plugin_api.storage import InnerStorage, StorageBackend
from strongroom.testing.keys import MemoryKeys
from strongroom.testing.storage import MEBIBYTE, StorageWrapperContract
from strongroom_storage_encrypted.wrapper import EncryptedStorage
from strongroom_storage_local.backend import LocalBackend
from strongroom_storage_local.options import LocalOptions
from strongroom_storage_s3.backend import S3Backend
from strongroom_storage_s3.options import S3Options


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with s3_store() as store:
        yield store


class Encrypted(StorageWrapperContract):
    appears_whole = True

    @pytest.fixture
    def make_wrapper(self) -> Callable[[StorageBackend[Any]], EncryptedStorage]:
        keys = MemoryKeys()
        return lambda inner: EncryptedStorage(
            NoOptions(), InnerStorage("main", Namespace(inner, "main"), lambda: keys)
        )


class TestOverS3(Encrypted):
    large_size = 64 * MEBIBYTE

    @pytest.fixture
    def inner(self, store: ObjectStore) -> Iterator[S3Backend]:
        options = {name: value for name, value in store.options().items() if name != "backend"}
        backend = S3Backend(S3Options(**options, prefix=secrets.token_hex(8)))
        yield backend
        backend.close()

    @pytest.fixture
    def away_backend(
        self, make_wrapper: Callable[[StorageBackend[Any]], EncryptedStorage]
    ) -> Iterator[EncryptedStorage]:
        options = S3Options(
            bucket="any",
            endpoint_url="http://127.0.0.1:1",
            access_key_id="key",
            secret_access_key="secret",
            region="us-east-1",
            max_attempts=1,
        )
        backend = S3Backend(options)
        yield make_wrapper(backend)
        backend.close()


class TestOverAFolder(Encrypted):
    @pytest.fixture
    def inner(self, tmp_path: Path) -> LocalBackend:
        return LocalBackend(LocalOptions(root=tmp_path))
