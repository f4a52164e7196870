"""The contract of storage backends."""

import hashlib
import io
import secrets
import threading
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from strongroom.plugin_api.storage import (
    LocalPaths,
    ObjectNotFound,
    ServerSideCopy,
    StorageBackend,
)

MEBIBYTE = 1024 * 1024


class SourceBroke(Exception):
    """What the sources of these tests raise; it must come through the backend unchanged."""


class PatternSource:
    """A source of ``size`` bytes that exist nowhere at once; can break when they run out."""

    def __init__(self, size: int, *, breaks: bool = False) -> None:
        self._remaining = size
        self._breaks = breaks
        self.digest = hashlib.sha256()

    def read(self, size: int, /) -> bytes:
        if not self._remaining:
            if self._breaks:
                raise SourceBroke
            return b""
        # Half of what is asked for: a backend must not take a short read for the end.
        chunk = (b"strongroom" * (size // 10 + 1))[: min(max(1, size // 2), self._remaining)]
        self._remaining -= len(chunk)
        self.digest.update(chunk)
        return chunk


def new_key() -> str:
    """Return a key as the core makes them."""
    name = secrets.token_hex(16)
    return f"{name[:2]}/{name}"


def read_all(
    backend: StorageBackend[Any], key: str, *, start: int = 0, length: int | None = None
) -> bytes:
    """Return a whole object, or a range of one."""
    with backend.open(key, start=start, length=length) as chunks:
        return b"".join(chunks)


class StorageBackendContract:
    """What every storage backend holds to. Supply a fixture ``backend`` with an empty one."""

    large_size = 32 * MEBIBYTE
    """The size of the object that the memory test stores; the bound is half of it."""

    @pytest.fixture
    def backend(self) -> StorageBackend[Any]:
        raise NotImplementedError("the test class of a plugin supplies this fixture")

    @pytest.fixture
    def key(self) -> str:
        return new_key()

    @pytest.fixture(autouse=True)
    def closed_at_the_end(self, backend: StorageBackend[Any]) -> Iterator[None]:
        yield
        backend.close()

    def test_what_was_put_is_read_back(self, backend: StorageBackend[Any], key: str) -> None:
        content = secrets.token_bytes(3 * MEBIBYTE + 17)
        assert backend.put(key, io.BytesIO(content)) == len(content)
        assert read_all(backend, key) == content

    def test_a_known_size_changes_nothing(self, backend: StorageBackend[Any], key: str) -> None:
        assert backend.put(key, io.BytesIO(b"known"), size=5) == 5
        assert read_all(backend, key) == b"known"

    def test_an_empty_object_is_an_object(self, backend: StorageBackend[Any], key: str) -> None:
        assert backend.put(key, io.BytesIO(b"")) == 0
        assert read_all(backend, key) == b""
        assert backend.stat(key).size == 0

    def test_short_reads_are_not_the_end(self, backend: StorageBackend[Any], key: str) -> None:
        source = PatternSource(300_001)
        assert backend.put(key, source) == 300_001
        assert hashlib.sha256(read_all(backend, key)).digest() == source.digest.digest()

    @pytest.mark.parametrize(
        ("start", "length"),
        [(0, 1), (0, 10), (3, 4), (9, 1), (9, 100), (4, None), (0, None), (10, None), (5, 0)],
    )
    def test_a_range_is_exactly_what_was_asked_for(
        self, backend: StorageBackend[Any], key: str, start: int, length: int | None
    ) -> None:
        content = b"0123456789"
        backend.put(key, io.BytesIO(content))
        stop = None if length is None else start + length
        assert read_all(backend, key, start=start, length=length) == content[start:stop]

    def test_a_range_far_inside_a_large_object(self, backend: StorageBackend[Any], key: str) -> None:
        content = secrets.token_bytes(6 * MEBIBYTE)
        backend.put(key, io.BytesIO(content))
        start = 5 * MEBIBYTE + 3
        assert read_all(backend, key, start=start, length=1024) == content[start : start + 1024]

    def test_stat_tells_the_size(self, backend: StorageBackend[Any], key: str) -> None:
        backend.put(key, io.BytesIO(b"twelve bytes"))
        stat = backend.stat(key)
        assert (stat.key, stat.size) == (key, 12)

    def test_the_unknown_is_not_found(self, backend: StorageBackend[Any], key: str) -> None:
        with pytest.raises(ObjectNotFound):
            backend.stat(key)
        with pytest.raises(ObjectNotFound):
            read_all(backend, key)

    def test_deleted_is_gone_and_deleting_again_is_no_error(
        self, backend: StorageBackend[Any], key: str
    ) -> None:
        backend.put(key, io.BytesIO(b"short-lived"))
        backend.delete(key)
        backend.delete(key)
        with pytest.raises(ObjectNotFound):
            backend.stat(key)

    def test_deleting_one_leaves_its_neighbours(self, backend: StorageBackend[Any]) -> None:
        first, second = "aa/bb/aabb00", "aa/bb/aabb001"
        for key in (first, second):
            backend.put(key, io.BytesIO(key.encode()))
        backend.delete(first)
        assert read_all(backend, second) == second.encode()

    def test_a_source_that_breaks_leaves_nothing(self, backend: StorageBackend[Any], key: str) -> None:
        for size in (0, 10, 9 * MEBIBYTE):
            with pytest.raises(SourceBroke):
                backend.put(key, PatternSource(size, breaks=True))
            with pytest.raises(ObjectNotFound):
                backend.stat(key)
        assert list(backend.scan()) == []

    def test_scan_finds_every_object_once(self, backend: StorageBackend[Any]) -> None:
        keys = {new_key() for _ in range(25)}
        for key in keys:
            backend.put(key, io.BytesIO(key.encode()))
        found = list(backend.scan())
        assert sorted(stat.key for stat in found) == sorted(keys)
        assert {stat.size for stat in found} == {len(new_key())}

    def test_scan_by_prefix_is_not_scan_by_folder(self, backend: StorageBackend[Any]) -> None:
        for key in ("aa/bb/aabb", "aa/bc/aabc", "ab/bb/abbb"):
            backend.put(key, io.BytesIO(b"x"))
        assert sorted(stat.key for stat in backend.scan("aa/b")) == ["aa/bb/aabb", "aa/bc/aabc"]
        assert [stat.key for stat in backend.scan("aa/bb/")] == ["aa/bb/aabb"]
        assert list(backend.scan("ff/")) == []

    def test_a_reader_may_leave_early(self, backend: StorageBackend[Any], key: str) -> None:
        backend.put(key, PatternSource(4 * MEBIBYTE))
        for _ in range(3):
            with backend.open(key) as chunks:
                assert next(iter(chunks))
        assert len(read_all(backend, key)) == 4 * MEBIBYTE

    def test_threads_do_not_disturb_each_other(self, backend: StorageBackend[Any]) -> None:
        barrier = threading.Barrier(8)

        def round_trip(number: int) -> bool:
            content = bytes([number]) * (700_000 + number)
            key = new_key()
            barrier.wait(timeout=30)
            backend.put(key, io.BytesIO(content))
            return read_all(backend, key) == content

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(round_trip, range(8)))

    def test_memory_does_not_grow_with_the_object(self, backend: StorageBackend[Any], key: str) -> None:
        source = PatternSource(self.large_size)
        digest = hashlib.sha256()
        backend.put(new_key(), PatternSource(1))
        tracemalloc.start()
        try:
            backend.put(key, source)
            with backend.open(key) as chunks:
                for chunk in chunks:
                    digest.update(chunk)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert digest.digest() == source.digest.digest()
        assert peak < self.large_size / 2

    def test_a_local_path_holds_the_bytes(self, backend: StorageBackend[Any], key: str) -> None:
        if not isinstance(backend, LocalPaths):
            pytest.skip("declares no local paths")
        backend.put(key, io.BytesIO(b"on disk"))
        path = backend.local_path(key)
        assert path.is_absolute()
        assert path.read_bytes() == b"on disk"

    def test_a_copy_is_independent(self, backend: StorageBackend[Any], key: str) -> None:
        if not isinstance(backend, ServerSideCopy):
            pytest.skip("declares no server-side copy")
        target = new_key()
        backend.put(key, io.BytesIO(b"twice"))
        backend.copy(key, target)
        backend.delete(key)
        assert read_all(backend, target) == b"twice"
        with pytest.raises(ObjectNotFound):
            backend.copy(key, new_key())
