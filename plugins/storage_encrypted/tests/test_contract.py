"""The wrapper holds to the contracts of storages and of wrappers, in memory and over other storages."""

from collections.abc import Callable

import pytest

from strongroom.plugin_api.storage import StorageBackend
from strongroom.testing.storage import StorageWrapperContract
from strongroom_storage_encrypted.wrapper import EncryptedStorage

MakeWrapper = Callable[..., EncryptedStorage]


class TestEncryptedStorage(StorageWrapperContract):
    appears_whole = True

    @pytest.fixture
    def make_wrapper(self, make_wrapper: MakeWrapper) -> MakeWrapper:
        return make_wrapper

    @pytest.mark.xfail(reason="the objects themselves are in memory", strict=True)
    def test_memory_does_not_grow_with_the_object(
        self, backend: StorageBackend[object], key: str
    ) -> None:
        super().test_memory_does_not_grow_with_the_object(backend, key)
