"""A master key, and encrypted storages with it."""

from collections.abc import Callable
from typing import Any

import pytest

from strongroom.plugin_api import NoOptions
from strongroom.plugin_api.storage import InnerStorage, StorageBackend
from strongroom.testing.keys import MemoryKeys
from strongroom.testing.storage import MemoryStorage
from strongroom_storage_encrypted.wrapper import EncryptedStorage

MakeWrapper = Callable[[StorageBackend[Any]], EncryptedStorage]


@pytest.fixture
def master_keys() -> MemoryKeys:
    return MemoryKeys()


@pytest.fixture
def make_wrapper(master_keys: MemoryKeys) -> MakeWrapper:
    return lambda inner: EncryptedStorage(NoOptions(), InnerStorage("main", inner, lambda: master_keys))


@pytest.fixture
def inner() -> MemoryStorage:
    return MemoryStorage()


@pytest.fixture
def storage(make_wrapper: MakeWrapper, inner: MemoryStorage) -> EncryptedStorage:
    return make_wrapper(inner)
