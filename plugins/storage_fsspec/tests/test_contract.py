"""The backend holds to the contract of storages in each filesystem that can run here."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from strongroom.plugin_api.storage import StorageBackend
from strongroom.testing.network import cut_answers
from strongroom.testing.storage import StorageBackendContract
from strongroom_storage_fsspec.backend import FsspecBackend
from strongroom_storage_fsspec.options import FsspecOptions


@contextmanager
def closing_backend(options: FsspecOptions) -> Iterator[FsspecBackend]:
    backend = FsspecBackend(options)
    yield backend
    backend.close()


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

    @pytest.fixture
    def cut_backend(self, ssh: FsspecOptions) -> Iterator[FsspecBackend]:
        with (
            cut_answers(ssh.options["port"], 500_000) as port,
            closing_backend(
                replace(ssh, options={**ssh.options, "port": port, "known_hosts": None})
            ) as backend,
        ):
            yield backend


class TestWebdav(Filesystem):
    @pytest.fixture
    def backend(self, webdav: FsspecOptions) -> FsspecBackend:
        return FsspecBackend(webdav)

    @pytest.fixture
    def away_backend(self, webdav: FsspecOptions) -> FsspecBackend:
        return FsspecBackend(replace(webdav, options={"base_url": "http://127.0.0.1:1"}))

    @pytest.fixture
    def cut_backend(self, webdav: FsspecOptions) -> Iterator[FsspecBackend]:
        served = int(webdav.options["base_url"].rpartition(":")[2])
        with (
            cut_answers(served, 500_000) as port,
            closing_backend(
                replace(webdav, options={"base_url": f"http://127.0.0.1:{port}"})
            ) as backend,
        ):
            yield backend
