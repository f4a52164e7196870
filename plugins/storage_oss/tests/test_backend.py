"""Guarantees of the OSS backend beyond the contract."""

import hashlib
import io
import socket
from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest

from strongroom.plugin_api.storage import ObjectNotFound, StorageError, StorageUnavailable
from strongroom.testing.storage import MEBIBYTE, PatternSource, SourceBroke, new_key, read_all
from strongroom_simulators.oss import OssSimulator
from strongroom_storage_oss.backend import OssBackend
from strongroom_storage_oss.client import OssClient
from strongroom_storage_oss.multipart import copy_object
from strongroom_storage_oss.options import OssOptions

MakeBackend = Callable[..., OssBackend]
PART = 256 * 1024


@pytest.fixture
def key() -> str:
    return new_key()


class TestRequestsPerOperation:
    @pytest.fixture(autouse=True)
    def stored(self, backend: OssBackend, simulator: OssSimulator, key: str) -> None:
        backend.put(key, PatternSource(8 * MEBIBYTE))
        simulator.requests.clear()

    def test_an_upload_of_one_mebibyte_is_one(
        self, backend: OssBackend, simulator: OssSimulator
    ) -> None:
        backend.put(new_key(), PatternSource(MEBIBYTE))
        assert simulator.requests.operations() == {"PutObject": 1}

    @pytest.mark.parametrize("bounds", [{}, {"start": 5 * MEBIBYTE, "length": 1024}])
    def test_a_read_is_one(
        self, backend: OssBackend, simulator: OssSimulator, key: str, bounds: dict[str, int]
    ) -> None:
        read_all(backend, key, **bounds)
        assert simulator.requests.operations() == {"GetObject": 1}

    def test_a_stat_is_one(self, backend: OssBackend, simulator: OssSimulator, key: str) -> None:
        backend.stat(key)
        assert simulator.requests.operations() == {"HeadObject": 1}

    def test_a_deletion_is_one(self, backend: OssBackend, simulator: OssSimulator, key: str) -> None:
        backend.delete(key)
        assert simulator.requests.operations() == {"DeleteObject": 1}

    def test_a_scan_is_one_for_a_thousand(self, backend: OssBackend, simulator: OssSimulator) -> None:
        for number in range(4):
            backend.put(f"bb/{number}", io.BytesIO(b""))
        simulator.requests.clear()
        assert len(list(backend.scan())) == 5
        assert simulator.requests.operations() == {"ListObjectsV2": 1}


@pytest.mark.parametrize(
    ("size", "operations"),
    [
        (0, {"PutObject": 1}),
        (PART, {"PutObject": 1}),
        (PART + 1, {"InitiateMultipartUpload": 1, "UploadPart": 2, "CompleteMultipartUpload": 1}),
        (4 * PART, {"InitiateMultipartUpload": 1, "UploadPart": 4, "CompleteMultipartUpload": 1}),
    ],
)
def test_only_what_exceeds_one_part_is_sent_in_parts(
    make_backend: MakeBackend, simulator: OssSimulator, key: str, size: int, operations: dict[str, int]
) -> None:
    backend = make_backend(part_size=PART)
    assert backend.put(key, PatternSource(size)) == size
    assert simulator.requests.operations() == operations
    assert backend.stat(key).size == size


def test_parts_grow_with_a_known_size_to_stay_below_ten_thousand(
    make_backend: MakeBackend, simulator: OssSimulator, key: str
) -> None:
    backend = make_backend(part_size=100 * 1024)
    backend.put(key, PatternSource(300 * 1024), size=10_000 * 200 * 1024)
    assert simulator.requests.operations()["UploadPart"] == 2


@pytest.mark.parametrize("size", [PART + 1, 3 * PART])
def test_a_source_that_breaks_leaves_no_parts(
    make_backend: MakeBackend, simulator: OssSimulator, key: str, size: int
) -> None:
    with pytest.raises(SourceBroke):
        make_backend(part_size=PART).put(key, PatternSource(size, breaks=True))
    assert simulator.requests.operations()["AbortMultipartUpload"] == 1
    assert simulator.buckets["files"].uploads() == []


def test_a_store_that_refuses_the_last_step_is_left_clean(
    make_backend: MakeBackend, simulator: OssSimulator, key: str
) -> None:
    backend = make_backend(part_size=PART)

    class Sabotaging(PatternSource):
        """Ends the multipart upload behind the backend's back, when the source is at its end."""

        def read(self, size: int, /) -> bytes:
            data = super().read(size)
            bucket = simulator.buckets["files"]
            if not data:
                bucket.end_upload(bucket.uploads()[0])
            return data

    with pytest.raises(StorageError, match="NoSuchUpload"):
        backend.put(key, Sabotaging(3 * PART))
    assert list(backend.scan()) == []


def test_the_store_has_the_sent_bytes(
    make_backend: MakeBackend, simulator: OssSimulator, key: str
) -> None:
    source = PatternSource(3 * PART + 17)
    backend = make_backend(part_size=PART)
    backend.put(key, source)
    content = read_all(backend, key)
    assert len(content) == 3 * PART + 17
    assert simulator.buckets["files"].get(key).kind == "Multipart"
    assert source.digest.digest() == hashlib.sha256(content).digest()


def test_a_large_object_is_copied_in_parts(
    backend: OssBackend, options: OssOptions, simulator: OssSimulator, key: str
) -> None:
    backend.put(key, PatternSource(5 * PART + 3))
    target, client = new_key(), OssClient(options)
    simulator.requests.clear()
    copy_object(client, key, target, part_size=2 * PART)
    client.close()
    assert simulator.requests.operations()["UploadPartCopy"] == 3
    assert read_all(backend, target) == read_all(backend, key)


def test_a_prefix_keeps_to_its_folder(make_backend: MakeBackend) -> None:
    whole, part = make_backend(), make_backend(prefix="some/folder")
    whole.put("some/folder/", io.BytesIO(b""))
    whole.put("some/folder-of-another/key", io.BytesIO(b"other"))
    part.put("key", io.BytesIO(b"mine"))
    assert [stat.key for stat in part.scan()] == ["key"]
    assert read_all(whole, "some/folder/key") == b"mine"


def test_a_modification_time_is_in_milliseconds(make_backend: MakeBackend, key: str) -> None:
    backend = make_backend()
    backend.put(key, io.BytesIO(b"x"))
    scanned = next(backend.scan())
    assert scanned == backend.stat(key)
    assert scanned.modified_at is not None
    assert scanned.modified_at > 1_700_000_000_000


class TestErrors:
    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"access_key_secret": "wrong"}, "SignatureDoesNotMatch"),
            ({"region": "cn-shanghai"}, "InvalidArgument"),
            ({"bucket": "another"}, "NoSuchBucket"),
            ({"bucket": "x"}, "Bucket name is invalid"),
        ],
    )
    def test_a_wrong_configuration_is_a_storage_error(
        self, make_backend: MakeBackend, key: str, changes: dict[str, Any], code: str
    ) -> None:
        backend = make_backend(**changes)
        for attempt in each_operation(backend, key):
            with pytest.raises(StorageError, match=code) as caught:
                attempt()
            assert not isinstance(caught.value, (ObjectNotFound, StorageUnavailable))

    def test_a_store_that_is_not_there_is_unavailable(self, make_backend: MakeBackend, key: str) -> None:
        # Bound, so that no other process takes it meanwhile.
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))
            backend = make_backend(endpoint=f"http://127.0.0.1:{bound.getsockname()[1]}")
            for attempt in each_operation(backend, key):
                with pytest.raises(StorageUnavailable):
                    attempt()

    def test_a_silent_store_times_out(self, make_backend: MakeBackend, key: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            backend = make_backend(endpoint=f"http://127.0.0.1:{port}", timeout=0.1, retries=2)
            for attempt in each_operation(backend, key):
                begin = monotonic()
                with pytest.raises(StorageUnavailable):
                    attempt()
                # Without the time-out, it would never end; a busy machine may add seconds to it.
                assert monotonic() - begin < 20

    def test_the_sources_error_wins_over_the_stores(self, make_backend: MakeBackend, key: str) -> None:
        backend = make_backend(access_key_secret="wrong")
        with pytest.raises(SourceBroke):
            backend.put(key, PatternSource(10, breaks=True))


def each_operation(backend: OssBackend, key: str) -> list[Callable[[], object]]:
    return [
        lambda: backend.put(key, io.BytesIO(b"x")),
        lambda: read_all(backend, key),
        lambda: read_all(backend, key, start=1, length=1),
        lambda: backend.stat(key),
        lambda: backend.delete(key),
        lambda: list(backend.scan()),
        lambda: backend.copy(key, new_key()),
    ]
