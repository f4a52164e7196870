"""Contract tests for storage backends."""

import hashlib
import io
import secrets
import time
import tracemalloc
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import pytest

from strongroom.plugin_api.extension import NoOptions
from strongroom.plugin_api.storage import (
    CHUNK_SIZE,
    ByteSource,
    LocalPaths,
    ObjectLock,
    ObjectNotFound,
    ObjectStat,
    ServerSideCopy,
    SignedDownloads,
    SignedUploads,
    StorageBackend,
    StorageError,
    StorageFull,
    StorageUnavailable,
    StorageWrapper,
    chunks,
)
from strongroom.testing.races import race

MEBIBYTE = 1024 * 1024


class SourceBroke(Exception):
    """The error of the sources in these tests. The backend must pass it on unchanged."""


class PatternSource:
    """A source that generates ``size`` bytes in pieces. With ``breaks``, it raises at the end."""

    def __init__(self, size: int, *, breaks: bool = False) -> None:
        self._remaining = size
        self._breaks = breaks
        self.digest = hashlib.sha256()

    def read(self, size: int, /) -> bytes:
        if not self._remaining:
            if self._breaks:
                raise SourceBroke
            return b""
        # Return half of the requested size: a backend must not treat a short read as the end.
        chunk = (b"strongroom" * (size // 10 + 1))[: min(max(1, size // 2), self._remaining)]
        self._remaining -= len(chunk)
        self.digest.update(chunk)
        return chunk


class WatchingSource(PatternSource):
    """A source that checks before each piece whether the object is already visible."""

    def __init__(self, backend: StorageBackend[Any], key: str, size: int) -> None:
        super().__init__(size)
        self._backend = backend
        self._key = key
        self.sightings: list[ObjectStat] = []

    def read(self, size: int, /) -> bytes:
        try:
            self.sightings.append(self._backend.stat(self._key))
        except ObjectNotFound:
            # scan() must not list an incomplete object either.
            self.sightings += [stat for stat in self._backend.scan() if stat.key == self._key]
        return super().read(size)


def new_key() -> str:
    """Return a random key, like the core's."""
    name = secrets.token_hex(16)
    return f"{name[:2]}/{name}"


def read_all(
    backend: StorageBackend[Any], key: str, *, start: int = 0, length: int | None = None
) -> bytes:
    """Return the bytes of an object, or of a range of it."""
    with backend.open(key, start=start, length=length) as chunks:
        return b"".join(chunks)


class MemoryStorage(StorageBackend[NoOptions]):
    """Stores objects in memory, for tests of wrappers. A test may read and change ``objects``."""

    name = "memory"

    def __init__(self) -> None:
        super().__init__(NoOptions())
        self.objects: dict[str, bytes] = {}

    def put(self, key: str, source: ByteSource, *, size: int | None = None) -> int:
        content = b"".join(iter(lambda: source.read(CHUNK_SIZE), b""))
        assert size in (None, len(content)), "the wrapper announced another size than it sent"
        self.objects[key] = content
        return len(content)

    @contextmanager
    def open(self, key: str, *, start: int = 0, length: int | None = None) -> Iterator[Iterator[bytes]]:
        stop = None if length is None else start + length
        # Chunks of an odd size, because a wrapper must not rely on their size.
        yield chunks(io.BytesIO(self._get(key)[start:stop]), size=70_001)

    def stat(self, key: str) -> ObjectStat:
        return ObjectStat(key, len(self._get(key)), 0)

    def delete(self, key: str) -> None:
        self.objects.pop(key, None)

    def scan(self, prefix: str = "") -> Iterator[ObjectStat]:
        return (self.stat(key) for key in list(self.objects) if key.startswith(prefix))

    def _get(self, key: str) -> bytes:
        try:
            return self.objects[key]
        except KeyError:
            raise ObjectNotFound(key) from None


class StorageBackendContract:
    """The contract of storage backends. Provide the fixture ``backend``, which must be empty."""

    large_size = 32 * MEBIBYTE
    """The size in bytes of the object in the memory test. The limit is half of it."""

    race_rounds = 20
    race_seconds = 1.0
    """A race is repeated ``race_rounds`` times, or for ``race_seconds`` if that ends earlier."""

    appears_whole = False
    """Whether objects are invisible until they are complete. Set it if the store guarantees that."""

    serves_signed_requests = False
    """Whether the store is reachable by the backend's signed URLs during the tests."""

    @pytest.fixture
    def backend(self) -> StorageBackend[Any]:
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def away_backend(self) -> StorageBackend[Any]:
        """Optional: a backend whose store is unreachable."""
        pytest.skip("no away_backend provided")

    @pytest.fixture
    def full_backend(self) -> StorageBackend[Any]:
        """Optional: a backend whose store has less than one mebibyte of free space."""
        pytest.skip("no full_backend provided")

    @pytest.fixture
    def cut_backend(self) -> StorageBackend[Any]:
        """Optional: a backend of the same store that loses the end of an answer of one mebibyte.

        :func:`strongroom.testing.network.cut_answers` is such a network.
        """
        pytest.skip("no cut_backend provided")

    @pytest.fixture
    def key(self) -> str:
        return new_key()

    @pytest.fixture(autouse=True)
    def closed_at_the_end(self, backend: StorageBackend[Any]) -> Iterator[None]:
        yield
        backend.close()

    def test_an_object_is_read_back_as_it_was_put(self, backend: StorageBackend[Any], key: str) -> None:
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
    def test_a_range_has_exactly_the_requested_bytes(
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

    def test_stat_returns_the_size(self, backend: StorageBackend[Any], key: str) -> None:
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
        # One key is a prefix of the other, and both are in the same folder.
        first, second = "aa/bb/aabb00", "aa/bb/aabb001"
        for key in (first, second):
            backend.put(key, io.BytesIO(key.encode()))
        backend.delete(first)
        assert read_all(backend, second) == second.encode()

    def test_a_source_that_breaks_leaves_nothing(self, backend: StorageBackend[Any], key: str) -> None:
        # The last size exceeds the default part size of multipart uploads.
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
        objects = list(backend.scan())
        assert sorted(stat.key for stat in objects) == sorted(keys)
        assert {stat.size for stat in objects} == {len(new_key())}

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
        def prepare() -> list[Callable[[], bool]]:
            # A new folder per round, which all threads create concurrently.
            folder = secrets.token_hex(2)
            keys = [f"{folder}/{new_key()}" for _ in range(8)]
            return [partial(_round_trip, backend, key, number) for number, key in enumerate(keys)]

        def check(results: Sequence[Any]) -> None:
            assert results == [True] * 8

        race(prepare, check, rounds=self.race_rounds, seconds=self.race_seconds)

    def test_memory_does_not_grow_with_the_object(self, backend: StorageBackend[Any], key: str) -> None:
        source = PatternSource(self.large_size)
        digest = hashlib.sha256()
        # Warm up, so that lazily imported libraries do not count.
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
        if (local := backend.capability(LocalPaths)) is None:
            pytest.skip("declares no local paths")
        backend.put(key, io.BytesIO(b"on disk"))
        path = local.local_path(key)
        assert path.is_absolute()
        assert path.read_bytes() == b"on disk"

    def test_a_copy_is_independent(self, backend: StorageBackend[Any], key: str) -> None:
        if (copying := backend.capability(ServerSideCopy)) is None:
            pytest.skip("declares no server-side copy")
        target = new_key()
        backend.put(key, io.BytesIO(b"twice"))
        copying.copy(key, target)
        backend.delete(key)
        assert read_all(backend, target) == b"twice"
        with pytest.raises(ObjectNotFound):
            copying.copy(key, new_key())

    def test_an_object_is_invisible_until_it_is_whole(
        self, backend: StorageBackend[Any], key: str
    ) -> None:
        if not self.appears_whole:
            pytest.skip("does not declare appears_whole")
        source = WatchingSource(backend, key, 6 * MEBIBYTE)
        backend.put(key, source)
        assert source.sightings == []
        assert backend.stat(key).size == 6 * MEBIBYTE

    def test_a_store_that_is_away_is_unavailable(
        self, away_backend: StorageBackend[Any], key: str
    ) -> None:
        calls: list[Callable[[], object]] = [
            lambda: away_backend.put(key, io.BytesIO(b"x")),
            lambda: read_all(away_backend, key),
            lambda: away_backend.stat(key),
            lambda: away_backend.delete(key),
            lambda: list(away_backend.scan()),
        ]
        for call in calls:
            with pytest.raises(StorageUnavailable):
                call()

    def test_an_answer_that_is_cut_short_is_never_taken_for_the_whole(
        self, backend: StorageBackend[Any], cut_backend: StorageBackend[Any], key: str
    ) -> None:
        content = secrets.token_bytes(MEBIBYTE)
        backend.put(key, io.BytesIO(content))
        for start in (0, 17):
            # A backend may also fetch the rest by another request.
            with suppress(StorageError):
                assert read_all(cut_backend, key, start=start) == content[start:]

    def test_a_full_store_says_so_and_keeps_nothing(
        self, full_backend: StorageBackend[Any], key: str
    ) -> None:
        with pytest.raises(StorageFull):
            full_backend.put(key, PatternSource(4 * MEBIBYTE))
        with pytest.raises(ObjectNotFound):
            full_backend.stat(key)

    def test_a_new_object_is_locked(self, backend: StorageBackend[Any], key: str) -> None:
        lock = backend.capability(ObjectLock)
        if lock is None:
            pytest.skip("does not declare ObjectLock")
        assert lock.locked_until(key) is None
        backend.put(key, io.BytesIO(b"locked"))
        assert (lock.locked_until(key) or 0) > time.time() * 1000
        assert read_all(backend, key) == b"locked"

    def test_a_signed_download_gives_the_object_under_the_headers(
        self, backend: StorageBackend[Any], key: str
    ) -> None:
        signing = backend.capability(SignedDownloads)
        if not (self.serves_signed_requests and signing):
            pytest.skip("declares no signed downloads that a test can follow")
        backend.put(key, io.BytesIO(b"signed"))
        headers = {"Content-Type": "text/x-made-up", "Content-Disposition": 'attachment; filename="a"'}
        url = signing.download_url(key, lifetime=60, headers=headers)
        with urllib.request.urlopen(url, timeout=30) as response:  # noqa: S310  the store's own URL
            assert response.read() == b"signed"
            assert {name: response.headers[name] for name in headers} == headers

    def test_a_signed_upload_stores_the_object(self, backend: StorageBackend[Any], key: str) -> None:
        signing = backend.capability(SignedUploads)
        if not (self.serves_signed_requests and signing):
            pytest.skip("declares no signed uploads that a test can follow")
        signed = signing.upload_request(key, lifetime=60, size=6)
        request = urllib.request.Request(  # noqa: S310  the store's own URL
            signed.url, data=b"signed", method=signed.method, headers=dict(signed.headers)
        )
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310  likewise
            assert response.status in (200, 201, 204)
        assert read_all(backend, key) == b"signed"


class StorageWrapperContract(StorageBackendContract):
    """The contract of storage wrappers. Provide the fixture ``make_wrapper``.

    A wrapper passes the contract of storage backends over a storage in memory, and further tests.
    Override the fixture ``inner`` to test it over another storage, which must be empty.
    """

    @pytest.fixture
    def make_wrapper(self) -> Callable[[StorageBackend[Any]], StorageWrapper[Any]]:
        """A function that returns an instance over a storage; all share their keys, if they have any."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def inner(self) -> StorageBackend[Any]:
        return MemoryStorage()

    @pytest.fixture
    def backend(
        self,
        make_wrapper: Callable[[StorageBackend[Any]], StorageWrapper[Any]],
        inner: StorageBackend[Any],
    ) -> StorageBackend[Any]:
        return make_wrapper(inner)

    def test_another_instance_reads_the_objects(
        self,
        backend: StorageBackend[Any],
        make_wrapper: Callable[[StorageBackend[Any]], StorageWrapper[Any]],
        inner: StorageBackend[Any],
        key: str,
    ) -> None:
        backend.put(key, io.BytesIO(b"of another process"))
        other = make_wrapper(inner)
        assert read_all(other, key) == b"of another process"
        other.delete(key)
        assert list(backend.scan()) == []

    def test_the_size_is_that_of_the_content(self, backend: StorageBackend[Any]) -> None:
        sizes = {new_key(): size for size in (0, 1, 65_535, 65_536, 65_537, 131_072, 300_000)}
        for key, size in sizes.items():
            assert backend.put(key, PatternSource(size), size=size) == size
            assert backend.stat(key).size == size
            assert len(read_all(backend, key)) == size
        assert {stat.key: stat.size for stat in backend.scan()} == sizes

    def test_an_error_of_the_inner_storage_is_passed_on(
        self, make_wrapper: Callable[[StorageBackend[Any]], StorageWrapper[Any]], key: str
    ) -> None:
        class Full(MemoryStorage):
            def put(self, *_: object, **__: object) -> int:
                raise StorageFull("no space")

        full = make_wrapper(Full())
        with pytest.raises(StorageFull):
            full.put(key, io.BytesIO(b"x"))

    def test_a_truncated_object_is_never_taken_for_a_whole_one(
        self,
        backend: StorageBackend[Any],
        inner: StorageBackend[Any],
        key: str,
    ) -> None:
        """For wrappers that can detect it: their content differs from the inner object's."""
        if not isinstance(inner, MemoryStorage):
            pytest.skip("the inner storage is not in memory")
        content = secrets.token_bytes(200_000)
        backend.put(key, io.BytesIO(content))
        (stored,) = (name for name in inner.objects if name.endswith(key))
        whole = inner.objects[stored]
        if whole == content:
            pytest.skip("stores the content unchanged")
        for size in (0, 1, len(whole) // 2, len(whole) - 1):
            inner.objects[stored] = whole[:size]
            with pytest.raises(StorageError):
                read_all(backend, key)


def _round_trip(backend: StorageBackend[Any], key: str, number: int) -> bool:
    content = bytes([number]) * (200_000 + number)
    backend.put(key, io.BytesIO(content))
    return read_all(backend, key) == content
