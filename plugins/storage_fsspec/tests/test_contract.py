"""The backend holds to the contract of storages in each filesystem that can run here."""

from dataclasses import replace
from typing import Any

import pytest

from strongroom.plugin_api.storage import StorageBackend
from strongroom.testing.storage import StorageBackendContract
from strongroom_storage_fsspec.backend import FsspecBackend
from strongroom_storage_fsspec.options import FsspecOptions


class Filesystem(StorageBackendContract):
    appears_whole = True


class TestLocal(Filesystem):
    @pytest.fixture
    def backend(self, local: FsspecOptions) -> FsspecBackend:
        return FsspecBackend(local)


class TestMemory(Filesystem):
    @pytest.fixture
    def backend(self, memory: FsspecOptions) -> FsspecBackend:
        return FsspecBackend(memory)

    @pytest.mark.xfail(reason="the objects themselves are in memory")
    def test_memory_does_not_grow_with_the_object(self, backend: StorageBackend[Any], key: str) -> None:
        super().test_memory_does_not_grow_with_the_object(backend, key)


class TestSftp(Filesystem):
    @pytest.fixture
    def backend(self, ssh: FsspecOptions) -> FsspecBackend:
        return FsspecBackend(ssh)

    @pytest.fixture
    def away_backend(self, ssh: FsspecOptions) -> FsspecBackend:
        return FsspecBackend(replace(ssh, options={**ssh.options, "port": 1}))


class TestWebdav(Filesystem):
    @pytest.fixture
    def backend(self, webdav: FsspecOptions) -> FsspecBackend:
        return FsspecBackend(webdav)

    @pytest.fixture
    def away_backend(self, webdav: FsspecOptions) -> FsspecBackend:
        return FsspecBackend(replace(webdav, options={"base_url": "http://127.0.0.1:1"}))
